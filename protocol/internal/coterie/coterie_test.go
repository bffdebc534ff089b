// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package coterie_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"allot/protocol/internal/coterie"
)

func parse(t *testing.T, form string, n int) *coterie.Coterie {
	t.Helper()
	c, err := coterie.Parse(form, n)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestEveryFormMeets: the constructions intersect for every number of processes that they are made for. New refuses what
// does not, so building is the test; that New does refuse is TestFlaws.
func TestEveryFormMeets(t *testing.T) {
	for n := 1; n <= 130; n++ {
		for _, kind := range []string{"majority", "grid", "tree", "wall"} {
			c := parse(t, kind, n)
			if c.Len() != n {
				t.Errorf("%s: %d processes, not %d", kind, c.Len(), n)
			}
			if kind == "tree" || kind == "majority" {
				if err := c.Check(); err != nil {
					t.Errorf("%s: %v", c.Name, err)
				}
			}
			if kind != "wall" {
				for i := range n {
					if !contains(c.Quorum(i), i) {
						t.Errorf("%s: process %d is not in its quorum %v", c.Name, i, c.Quorum(i))
					}
				}
			}
		}
	}
}

func contains(q []int, p int) bool {
	for _, m := range q {
		if m == p {
			return true
		}
	}
	return false
}

func TestPlanes(t *testing.T) {
	for _, q := range []int{2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 25, 27, 31} {
		n := q*q + q + 1
		c := parse(t, "plane", n)
		if err := c.Check(); err != nil {
			t.Errorf("order %d: %v", q, err)
		}
		for i := range n {
			if len(c.Quorum(i)) != q+1 {
				t.Fatalf("order %d: a quorum of %d", q, len(c.Quorum(i)))
			}
		}
		if w := c.Worth(); w.Load != w.LeastLoad {
			t.Errorf("order %d: the load is not even: %+v", q, w)
		}
	}
	for _, n := range []int{1, 2, 8, 43, 111, 157} { // orders 6, 10 and 12 among them
		if _, err := coterie.Parse("plane", n); err == nil {
			t.Errorf("plane:%d was built", n)
		}
	}
}

func TestFlaws(t *testing.T) {
	for _, test := range []struct {
		form, condition string
		i, j            int
	}{
		{"own:0+1/2/0+2", "intersection", 0, 1},
		{"own:0//0", "nonemptiness", 1, 1},
		{"own:0+1/0/0+2", "minimality", 1, 0},
		{"grid:5", "minimality", 2, 0},
	} {
		c, err := coterie.Parse(test.form, 0)
		if err == nil {
			err = c.Check()
		}
		var flaw *coterie.Flaw
		if !errors.As(err, &flaw) || flaw.Condition != test.condition || flaw.I != test.i || flaw.J != test.j {
			t.Errorf("%s: %v", test.form, err)
		}
	}
}

// TestEvenMajority: sets of n/2, as the paper's Example 1 allows them for even n, do not meet by themselves.
func TestEvenMajority(t *testing.T) {
	_, err := coterie.Parse("own:0+1/1+2/2+3/3+0", 4)
	if err == nil || !strings.Contains(err.Error(), "[0 1] of process 0 and [2 3] of process 2") {
		t.Error(err)
	}
}

func TestRefusals(t *testing.T) {
	for _, test := range []struct {
		form string
		n    int
	}{{"", 3}, {"grid", 0}, {"grid:0", 0}, {"grid:x", 0}, {"grid:4", 5}, {"wall:0,1", 0}, {"wall:99999", 0}, {"votes:", 0},
		{"votes:0,0", 0}, {"votes:-1,2", 0}, {"own:", 2}, {"own:0+9", 2}, {"own:a", 1}, {"ring:5", 0}, {"majority:5000", 0}} {
		if _, err := coterie.Parse(test.form, test.n); err == nil {
			t.Errorf("%q with n=%d was accepted", test.form, test.n)
		}
	}
}

func TestForms(t *testing.T) {
	for _, test := range []struct{ form, quorums string }{
		{"majority:4", "[0 1 2] [1 2 3] [0 2 3] [0 1 3]"},
		{"grid:4", "[0 1 2] [0 1 3] [0 2 3] [1 2 3]"},
		{"tree:3", "[0 1] [0 1] [0 2]"},
		{"wall:1,2", "[0 1] [1 2] [1 2]"},
		{"votes:3,1,1", "[0] [0] [0]"},
		{"votes:1,1,1,0", "[0 1] [1 2] [0 2] [0 1]"},
		{"own:0+1/1+2/0+2", "[0 1] [1 2] [0 2]"},
		{"own:1+0+2/0+3", "[0 1 2] [0 1 2] [0 1 2] [0 3]"},
		{"plane:7", "[0 1 3] [1 2 4] [2 3 5] [3 4 6] [0 4 5] [1 5 6] [0 2 6]"},
	} {
		c := parse(t, test.form, 0)
		var texts []string
		for i := range c.Len() {
			texts = append(texts, fmt.Sprint(c.Quorum(i)))
		}
		if got := strings.Join(texts, " "); got != test.quorums {
			t.Errorf("%s: %s", test.form, got)
		}
	}
}

// TestAvailability compares with sums done by hand, and the sample with the exact sum.
func TestAvailability(t *testing.T) {
	p, q := 0.1, 0.9
	for _, test := range []struct {
		form          string
		assigned, any float64
	}{
		{"majority:3", q*q*q + 3*q*q*p, q*q*q + 3*q*q*p},
		{"votes:3,1,1", q, q},
		{"own:0+1+2", q * q * q, q * q * q},
		{"tree:3", q * (1 - p*p), q*(1-p*p) + p*q*q},
	} {
		a := parse(t, test.form, 0).Availability(p, 0, 0)
		if !a.IsExact || math.Abs(a.Assigned-test.assigned) > 1e-12 || math.Abs(a.Any-test.any) > 1e-12 {
			t.Errorf("%s: %+v, not %v and %v", test.form, a, test.assigned, test.any)
		}
	}
	sampled := parse(t, "majority:21", 0).Availability(0.3, 50_000, 7)
	if again := parse(t, "majority:21", 0).Availability(0.3, 50_000, 7); again != sampled {
		t.Errorf("the same seed gave %v and %v", sampled, again)
	}
	exact := 0.0
	for live := 11; live <= 21; live++ {
		ways := 1.0
		for k := range live {
			ways = ways * float64(21-k) / float64(k+1)
		}
		exact += ways * math.Pow(0.7, float64(live)) * math.Pow(0.3, float64(21-live))
	}
	if sampled.IsExact || math.Abs(sampled.Any-exact) > 4*sampled.Error {
		t.Errorf("sampled %+v, exact %v", sampled, exact)
	}
}

func TestWorth(t *testing.T) {
	w := parse(t, "grid:25", 0).Worth()
	if w.Smallest != 9 || w.Largest != 9 || w.Load != 9.0/25 || w.LeastLoad != w.Load || w.Minimality != "" {
		t.Errorf("%+v", w)
	}
	if w := parse(t, "tree:7", 0).Worth(); w.Load != 1 || w.Largest != 3 {
		t.Errorf("%+v", w)
	}
}

func FuzzParse(f *testing.F) {
	for _, form := range []string{"grid:25", "wall:1,2,3", "votes:3,1", "own:0+1/1+2", "plane:7"} {
		f.Add(form, 0)
	}
	f.Fuzz(func(t *testing.T, form string, n int) {
		if n > 200 || len(form) > 40 {
			return
		}
		c, err := coterie.Parse(form, n)
		if err != nil || c.Len() > 200 {
			return
		}
		var flaw *coterie.Flaw
		if err := c.Check(); err != nil && (!errors.As(err, &flaw) || flaw.Condition != "minimality") {
			t.Errorf("%q: %v", form, err)
		}
	})
}
