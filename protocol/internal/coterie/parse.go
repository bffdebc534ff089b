// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package coterie

import (
	"fmt"
	"strconv"
	"strings"
)

// Forms lists what Parse reads, for help texts.
const Forms = "majority, grid, plane, tree, wall, wall:W,W,…, votes:V,V,…, own:I+J/I+J/…"

// Parse builds a coterie from its form. The number of processes stands in the form or is given as n; n is 0 if only the
// form says it.
func Parse(form string, n int) (*Coterie, error) {
	if n < 0 || n > MaxProcesses {
		return nil, fmt.Errorf("coterie %.40s: the number of processes must be 1 to %d, not %d", form, MaxProcesses, n)
	}
	kind, argument, _ := strings.Cut(form, ":")
	c, err := build(kind, argument, n)
	if err != nil {
		if !strings.HasPrefix(err.Error(), "coterie ") {
			err = fmt.Errorf("coterie %s: %w", form, err)
		}
		return nil, err
	}
	if n > 0 && c.Len() != n {
		return nil, fmt.Errorf("coterie %s: it is made for %d processes, not %d", form, c.Len(), n)
	}
	if c.Name = form; argument == "" {
		c.Name = fmt.Sprintf("%s:%d", kind, c.Len())
	}
	return c, nil
}

func build(kind, argument string, n int) (*Coterie, error) {
	switch kind {
	case "majority", "grid", "plane", "tree":
		if argument != "" {
			numbers, err := parseNumbers(argument, 1, MaxProcesses)
			if err != nil || len(numbers) != 1 {
				return nil, fmt.Errorf("after the colon stands the number of processes, 1 to %d", MaxProcesses)
			}
			n = numbers[0]
		}
		if n < 1 || n > MaxProcesses {
			return nil, fmt.Errorf("say for how many processes, 1 to %d, as in %s:7", MaxProcesses, kind)
		}
		return map[string]func(int) (*Coterie, error){"majority": majority, "grid": grid, "plane": plane, "tree": tree}[kind](n)
	case "wall":
		widths, err := wallWidths(argument, n)
		if err != nil {
			return nil, err
		}
		return wall(widths)
	case "votes":
		weights, err := parseNumbers(argument, 0, 1<<20)
		if err != nil {
			return nil, err
		}
		return votes(weights)
	case "own":
		return own(argument, n)
	}
	return nil, fmt.Errorf("there is no such form; there are %s", Forms)
}

// wallWidths reads the rows; a single number is the number of processes, in rows of 1, 2, 3, …
func wallWidths(argument string, n int) ([]int, error) {
	if argument == "" {
		if n < 1 {
			return nil, fmt.Errorf("say for how many processes, as in wall:10, or which rows, as in wall:2,3,3")
		}
		return triangle(n), nil
	}
	widths, err := parseNumbers(argument, 1, MaxProcesses)
	if err == nil && len(widths) == 1 {
		return triangle(widths[0]), nil
	}
	return widths, err
}

func parseNumbers(list string, least, most int) ([]int, error) {
	parts := strings.Split(list, ",")
	if len(parts) > MaxProcesses {
		return nil, fmt.Errorf("at most %d processes are allowed", MaxProcesses)
	}
	numbers, sum := make([]int, len(parts)), 0
	for i, part := range parts {
		v, err := strconv.Atoi(part)
		if err != nil || v < least || v > most {
			return nil, fmt.Errorf("%.40q is not a number from %d to %d", part, least, most)
		}
		numbers[i] = v
		sum += v
	}
	if least == 1 && sum > MaxProcesses {
		return nil, fmt.Errorf("at most %d processes are allowed", MaxProcesses)
	}
	return numbers, nil
}

// own reads quorums as given. If there are as many as processes, the i-th is that of process i; otherwise process i uses
// the first one that it is in, or else the first of all.
func own(list string, n int) (*Coterie, error) {
	var given [][]int
	largest := 0
	for part := range strings.SplitSeq(list, "/") {
		var q []int
		if part != "" {
			for text := range strings.SplitSeq(part, "+") {
				p, err := strconv.Atoi(text)
				if err != nil || p < 0 || p >= MaxProcesses {
					return nil, fmt.Errorf("%.40q is not a process; write the members of a quorum as 0+1+2 and put / between quorums", text)
				}
				q = append(q, p)
				largest = max(largest, p)
			}
		}
		given = append(given, q)
	}
	if n == 0 {
		n = max(largest+1, len(given))
	}
	if len(given) == n {
		return New("own", given)
	}
	quorums := make([][]int, n)
	for i := range n {
		quorums[i] = given[0]
		for _, q := range given {
			if contains(q, i) {
				quorums[i] = q
				break
			}
		}
	}
	return New("own", quorums)
}

func contains(q []int, p int) bool {
	for _, m := range q {
		if m == p {
			return true
		}
	}
	return false
}
