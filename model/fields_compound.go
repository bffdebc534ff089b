// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package model

import "fmt"

// List visits a slice of at most longest elements; each visits one of them.
func List[T any](f *Fields, name string, v *[]T, longest int, each func(f *Fields, name string, e *T)) {
	switch f.mode {
	case describe:
		for i := range *v {
			each(f, fmt.Sprintf("%s[%d]", name, i), &(*v)[i])
		}
	case count:
		total, _ := countList(name, longest, each)
		f.rank = multiply(f.rank, total)
	case choose:
		total, element := countList(name, longest, each)
		rank, rest := f.rank%total, f.rank/total
		n := 0
		for power := uint64(1); rank >= power && n < longest; n++ {
			rank -= power
			power = multiply(power, element)
		}
		*v, f.rank = make([]T, n), rank
		for i := range *v {
			each(f, name, &(*v)[i])
		}
		f.rank = rest
	case scatter:
		*v = make([]T, f.draw()%uint64(longest+1))
		for i := range *v {
			each(f, name, &(*v)[i])
		}
	case encode:
		f.number(name, uint64(len(*v)), uint64(longest))
		for i := range *v {
			each(f, name, &(*v)[i])
		}
	case decode:
		*v = (*v)[:0]
		for range f.number(name, 0, uint64(longest)) {
			var e T
			each(f, name, &e)
			if f.err != nil {
				return
			}
			*v = append(*v, e)
		}
	case gather, rename:
		for i := range *v {
			each(f, name, &(*v)[i])
		}
	}
}

// countList counts the lists: with d values per element there are 1 + d + … + d^longest. It also returns d.
func countList[T any](name string, longest int, each func(f *Fields, name string, e *T)) (total, element uint64) {
	one := Fields{mode: count, rank: 1}
	var e T
	each(&one, name, &e)
	total = 1
	for power := uint64(1); longest > 0 && total < Uncountable; longest-- {
		power = multiply(power, one.rank)
		total = min(total+power, Uncountable)
	}
	return total, one.rank
}

// Union visits a kind with the given names and then, by rest, the variables that this kind of value has.
func Union[T Integer](f *Fields, name string, kind *T, names []string, rest func(f *Fields, kind T)) {
	switch f.mode {
	case count:
		var total uint64
		for k := range names {
			total = min(total+countRest(T(k), rest), Uncountable)
		}
		f.rank = multiply(f.rank, total)
	case choose:
		var total uint64
		for k := range names {
			total += countRest(T(k), rest)
		}
		rank, above := f.rank%total, f.rank/total
		for k := range names {
			if n := countRest(T(k), rest); rank >= n {
				rank -= n
				continue
			}
			*kind, f.rank = T(k), rank
			rest(f, *kind)
			break
		}
		f.rank = above
	case encode, decode, describe, scatter, gather, rename:
		Enum(f, name, kind, names...)
		if f.err == nil {
			rest(f, *kind)
		}
	}
}

func countRest[T Integer](kind T, rest func(*Fields, T)) uint64 {
	one := Fields{mode: count, rank: 1}
	rest(&one, kind)
	return one.rank
}
