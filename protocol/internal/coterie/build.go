// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package coterie

// majority is i and the n/2 processes after it. Two arcs of more than half of a circle meet, for even n as well: there
// the arcs have n/2+1 members. Sets of n/2 alone would not do, since one and its complement are both of that size.
func majority(n int) (*Coterie, error) {
	quorums := make([][]int, n)
	for i := range n {
		for d := range n/2 + 1 {
			quorums[i] = append(quorums[i], (i+d)%n)
		}
	}
	c, err := New("majority", quorums)
	if err == nil {
		c.lives = func(alive Set) bool { return 2*alive.Len() > n }
	}
	return c, err
}

// grid is the row and the column of i. A full row has a process in every column, and of a short row the columns that it
// lacks belong to others, whose own rows are full.
func grid(n int) (*Coterie, error) {
	width := 1
	for width*width < n {
		width++
	}
	quorums := make([][]int, n)
	for i := range n {
		row, column := i/width, i%width
		for p := row * width; p < min(n, (row+1)*width); p++ {
			quorums[i] = append(quorums[i], p)
		}
		for p := column; p < n; p += width {
			if p != i {
				quorums[i] = append(quorums[i], p)
			}
		}
	}
	c, err := New("grid", quorums)
	if err == nil && width*width == n {
		c.lives = func(alive Set) bool { return gridLives(alive, width) }
	}
	return c, err
}

// gridLives tells whether some whole row and some whole column are alive.
func gridLives(alive Set, width int) bool {
	row, column := false, false
	for a := range width {
		wholeRow, wholeColumn := true, true
		for b := range width {
			wholeRow = wholeRow && alive.Has(a*width+b)
			wholeColumn = wholeColumn && alive.Has(b*width+a)
		}
		row, column = row || wholeRow, column || wholeColumn
	}
	return row && column
}

// tree is a way from the root through i to a leaf. Below i the way turns left and right by the bits of i, so that it
// does not always end at the same leaves. All ways meet at the root.
func tree(n int) (*Coterie, error) {
	quorums := make([][]int, n)
	for i := range n {
		for p := i; ; p = (p - 1) / 2 {
			quorums[i] = append(quorums[i], p)
			if p == 0 {
				break
			}
		}
		turns := i
		for p := i; 2*p+1 < n; turns /= 2 {
			p = min(2*p+1+turns&1, n-1)
			quorums[i] = append(quorums[i], p)
		}
	}
	c, err := New("tree", quorums)
	if err == nil {
		c.lives = func(alive Set) bool { return treeLives(alive, 0, n) }
	}
	return c, err
}

// treeLives tells whether the subtree of p has a live quorum: p and one of a child, or, if p has failed, one of each
// child (D. Agrawal and A. El Abbadi, "An efficient and fault-tolerant solution for distributed mutual exclusion", 1991).
func treeLives(alive Set, p, n int) bool {
	left, right := 2*p+1, 2*p+2
	switch {
	case left >= n:
		return alive.Has(p)
	case right >= n:
		// An only child stands for both: the way goes through it, or it replaces its parent.
		return treeLives(alive, left, n)
	case alive.Has(p):
		return treeLives(alive, left, n) || treeLives(alive, right, n)
	}
	return treeLives(alive, left, n) && treeLives(alive, right, n)
}

// wall is the whole row of i and one process of every lower row. Of two rows the upper one's quorum has a process in the
// lower one, which the lower one's quorum contains whole.
func wall(widths []int) (*Coterie, error) {
	n := 0
	for _, w := range widths {
		n += w
	}
	quorums := make([][]int, 0, n)
	first := 0
	for r, w := range widths {
		for i := first; i < first+w; i++ {
			var q []int
			for p := first; p < first+w; p++ {
				q = append(q, p)
			}
			below := first + w
			for _, v := range widths[r+1:] {
				q = append(q, below+i%v)
				below += v
			}
			quorums = append(quorums, q)
		}
		first += w
	}
	c, err := New("wall", quorums)
	if err == nil {
		c.lives = func(alive Set) bool { return wallLives(alive, widths) }
	}
	return c, err
}

// wallLives tells whether some row is whole and every row below it has a live process.
func wallLives(alive Set, widths []int) bool {
	first, found := 0, false
	for _, w := range widths {
		count := 0
		for p := first; p < first+w; p++ {
			if alive.Has(p) {
				count++
			}
		}
		found = count == w || found && count > 0
		first += w
	}
	return found
}

// triangle is rows of 1, 2, 3, … processes; what is left over widens the last row.
func triangle(n int) []int {
	var widths []int
	for w := 1; n >= w; w++ {
		widths = append(widths, w)
		n -= w
	}
	widths[len(widths)-1] += n
	return widths
}

// votes gives i the processes from i on until they have more than half, and then lets go of those that are superfluous.
func votes(weights []int) (*Coterie, error) {
	n, total := len(weights), 0
	for _, w := range weights {
		total += w
	}
	quorums := make([][]int, n)
	for i := range n {
		sum := 0
		var q []int
		for d := 0; 2*sum <= total && d < n; d++ {
			if p := (i + d) % n; weights[p] > 0 {
				q = append(q, p)
				sum += weights[p]
			}
		}
		for _, p := range q {
			if 2*(sum-weights[p]) > total {
				sum -= weights[p]
			} else {
				quorums[i] = append(quorums[i], p)
			}
		}
	}
	c, err := New("votes", quorums)
	if err == nil {
		c.lives = func(alive Set) bool {
			sum := 0
			alive.Each(func(p int) { sum += weights[p] })
			return 2*sum > total
		}
	}
	return c, err
}
