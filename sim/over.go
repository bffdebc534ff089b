// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Over is a parameter and the values that a sweep gives it.
type Over struct {
	Name   string
	Values []int64
}

// Limits of a sweep.
const (
	MaxPoints    = 10_000
	maxOverValue = 1 << 40
	defaultSpots = 8
)

var errOver = errors.New("write NAME=FROM..TO, NAME=FROM..TO,steps=COUNT, or NAME=VALUE,VALUE,…, as in n=10..1000")

// ParseOver reads "n=10..1000", "n=10..1000,steps=5" or "n=10,20,50". A range is divided into so many values (8 unless
// told), both ends among them: with equal ratios if the end is at least 8 times the beginning, with equal distances if
// not. Values that come out equal are taken once.
func ParseOver(spec string) (Over, error) {
	name, list, ok := strings.Cut(spec, "=")
	if !ok || !isName(name) {
		return Over{}, fmt.Errorf("over %.60q: %w", spec, errOver)
	}
	o := Over{Name: name}
	parts := strings.Split(list, ",")
	if len(parts) > MaxPoints {
		return o, fmt.Errorf("over %.60q: at most %d values are allowed", spec, MaxPoints)
	}
	from, to, isRange := strings.Cut(parts[0], "..")
	if !isRange {
		for _, part := range parts {
			v, err := overNumber(part)
			if err != nil {
				return o, fmt.Errorf("over %.60q: %w; %w", spec, err, errOver)
			}
			o.Values = append(o.Values, v)
		}
		return o, nil
	}
	low, err := overNumber(from)
	high, err2 := overNumber(to)
	if err := errors.Join(err, err2); err != nil {
		return o, fmt.Errorf("over %.60q: %w; %w", spec, err, errOver)
	}
	count := int64(defaultSpots)
	if len(parts) > 1 {
		number, ok := strings.CutPrefix(parts[1], "steps=")
		if count, err = overNumber(number); !ok || len(parts) > 2 || err != nil || count < 1 || count > MaxPoints {
			return o, fmt.Errorf("over %.60q: after a range only steps=COUNT may follow, 1 to %d", spec, MaxPoints)
		}
	}
	if high < low {
		return o, fmt.Errorf("over %.60q: the range ends before it begins", spec)
	}
	o.Values = spread(low, high, count)
	return o, nil
}

func isName(s string) bool {
	isOther := func(r rune) bool {
		isAllowed := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_'
		return !isAllowed
	}
	return s != "" && !strings.ContainsFunc(s, isOther)
}

func overNumber(text string) (int64, error) {
	v, err := strconv.ParseUint(text, 10, 64)
	if err != nil || v > maxOverValue {
		return 0, fmt.Errorf("%.40q is not a number from 0 to %d", text, int64(maxOverValue))
	}
	return int64(v), nil
}

// spread divides a range.
func spread(low, high, count int64) []int64 {
	if count == 1 || low == high {
		return []int64{low}
	}
	isGeometric := low > 0 && high/low >= 8
	var values []int64
	for i := range count {
		part := float64(i) / float64(count-1)
		x := float64(low) + part*float64(high-low)
		if isGeometric {
			x = float64(low) * math.Pow(float64(high)/float64(low), part)
		}
		v := min(max(int64(math.Round(x)), low), high)
		if n := len(values); n == 0 || values[n-1] != v {
			values = append(values, v)
		}
	}
	return values
}
