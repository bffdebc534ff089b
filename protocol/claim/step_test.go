// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"errors"
	"strings"
	"testing"

	"allot/model"
)

// TestRefusals: a claim that makes no sense is refused in words.
func TestRefusals(t *testing.T) {
	number := func(name string) (int, bool) {
		i := strings.Index("abcdefgh", name)
		return i, i >= 0 && len(name) == 1
	}
	for _, test := range []struct{ names, want string }{
		{"a b", ""},
		{"", "claim refused: it names no resource"},
		{"a b a", `claim refused: resource "a" is named twice`},
		{"a x", `claim refused: resource "x" is not known`},
		{"a b c d", "claim refused: it names 4 resources, at most 3 are allowed"},
	} {
		list, err := Resolve(strings.Fields(test.names), number, 3)
		var refused *RefusedError
		switch {
		case test.want == "" && (err != nil || len(list) != 2):
			t.Errorf("%s: %v, %v", test.names, list, err)
		case test.want != "" && (!errors.As(err, &refused) || err.Error() != test.want):
			t.Errorf("%s: %v", test.names, err)
		}
	}
}

// TestOptions: what makes no sense is refused with one line.
func TestOptions(t *testing.T) {
	g, err := model.NewGraph(1, nil)
	if err != nil {
		t.Fatal(err)
	}
	two, err := model.NewGraph(2, [][2]int{{0, 1}})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		graph  *model.Graph
		values map[string]string
		want   string
	}{
		{g, map[string]string{"most": "1", "least": "2"}, "--least 2"},
		{g, map[string]string{"resources": "62", "most": "8"}, "more than 4096"},
		{g, map[string]string{"protocol": "token", "departures": "cancel"}, "without departures"},
		{g, map[string]string{"protocol": "paper", "departures": "vanish"}, "without departures"},
		{g, map[string]string{"protocol": "ordered", "losses": "1"}, "only protocol stamps"},
		{two, nil, "leave --topology away"},
	} {
		_, err := Algorithm.Make(model.Options{Graph: test.graph, Values: test.values})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v: %v", test.values, err)
		}
	}
}

// TestSubsets: a client chooses among all sets of the sizes that are allowed.
func TestSubsets(t *testing.T) {
	for _, test := range []struct{ n, least, most, want int }{{2, 1, 2, 3}, {3, 2, 3, 4}, {8, 1, 8, 255}, {32, 2, 2, 496}, {62, 1, 8, 0}} {
		if got := subsets(test.n, test.least, test.most); len(got) != test.want {
			t.Errorf("%d of %d to %d: %d", test.n, test.least, test.most, len(got))
		}
	}
}
