// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"math/bits"
	"strings"
)

// Set visits a set of the numbers 0..n-1, one bit for each, lowest first. Sets that hold the same numbers have the same
// encoding, whether they have their words yet or not.
func Set[S ~[]uint64](f *Fields, name string, v *S, n int) {
	if f.mode == describe {
		f.list = append(f.list, Variable{Name: name, Value: setText(*v)})
		return
	}
	isFilled := f.mode == decode || f.mode == choose || f.mode == scatter
	if isFilled {
		*v = make(S, (n+63)/64)
	}
	for first := 0; first < n; first += 8 {
		word, shift := first/64, first%64
		most := uint64(1)<<min(n-first, 8) - 1
		var now uint64
		if word < len(*v) {
			now = (*v)[word] >> shift & 0xff
		}
		if got := f.number(name, now, most); isFilled {
			(*v)[word] |= got << shift
		}
	}
}

func setText(words []uint64) string {
	var members []string
	for i, w := range words {
		for ; w != 0; w &= w - 1 {
			members = append(members, fmt.Sprint(64*i+bits.TrailingZeros64(w)))
		}
	}
	return "{" + strings.Join(members, ", ") + "}"
}
