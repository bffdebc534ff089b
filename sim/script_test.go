// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"context"
	"os"
	"regexp"
	"strings"
	"testing"

	"allot/model"
)

func named(t testing.TB) *model.Graph {
	t.Helper()
	g, err := model.NewGraph(4, [][2]int{{0, 1}, {1, 2}, {2, 3}})
	if err != nil {
		t.Fatal(err)
	}
	if g, err = g.WithNames([]string{"a", "b-c", "c->d", "7"}); err != nil {
		t.Fatal(err)
	}
	return g
}

func TestParseScript(t *testing.T) {
	good := `
# Nothing here.
at 0 corrupt 1            # a comment
at 5 corrupt 1 3
at 5 corrupt 1 random
at 5 corrupt all
every 10 corrupt random 4
every 10 from 0 crash 2
every 10 to 100 resume 2
every 10 from 20 to 20 restart 2
when stable leave 3
when stable join 3
at 1 drop 0->1
at 1 drop 1->0 2
at 1 duplicate 0->3 0
at 1 delay 0->1 100
at 1 forge 0->1
at 1 forge 0->1 18446744073709551615
at 1 cut 0-1
at 1 heal 1-0
at 1 rate 0 1.5
at 1 rate 0 0
`
	s, err := ParseScript([]byte(good), graph(t, "ring:4"))
	if err != nil || s.Len() != strings.Count(good, "\n")-2 || s.Text != good {
		t.Fatalf("%v, %+v", err, s)
	}
	bad := []struct{ line, want string }{
		{"crash 1", "begins with at STEP"},
		{"at", "number of steps"},
		{"at -1 crash 1", "number of steps"},
		{"at 1e3 crash 1", "number of steps"},
		{"at 99999999999999999999 crash 1", "number of steps"},
		{"at 1", "unknown fault the end of the line"},
		{"at 1 explode 3", "allowed are corrupt, drop"},
		{"at 1 crash", "crash P"},
		{"at 1 crash 4", "0..3"},
		{"at 1 crash -1", "no process"},
		{"at 1 crash 1 2", "too much"},
		{"at 1 corrupt random 0", "at least 1"},
		{"at 1 corrupt random 5", "0 to 4"},
		{"at 1 corrupt random", "a number of processes"},
		{"at 1 corrupt 1 -3", "a rank"},
		{"at 1 drop 0->2", "not neighbours"},
		{"at 1 drop 0-1", "joined by ->"},
		{"at 1 drop 0->1 x", "a position"},
		{"at 1 cut 0->1", "joined by -"},
		{"at 1 cut 0-2", "not neighbours"},
		{"at 1 delay 0->1", "a number of steps"},
		{"at 1 rate 0 -1", "a factor"},
		{"at 1 rate 0 NaN", "a factor"},
		{"at 1 rate 0 1e-9", "below a millionth"},
		{"every 0 crash 1", "at least 1"},
		{"every 5 from 10 to 9 crash 1", "ends at step 9"},
		{"every 5 from crash 1", "from"},
		{"when ready crash 1", "when stable"},
		{strings.Repeat("x", 100_000), "begins with"},
	}
	for _, c := range bad {
		_, err := ParseScript([]byte("\n# first\n"+c.line), graph(t, "ring:4"))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "line 3") || len(err.Error()) > 300 {
			t.Errorf("%.60q: %v, want %q", c.line, err, c.want)
		}
	}
	if _, err := ParseScript([]byte(strings.Repeat("at 1 crash 1\n", MaxStatements+1)), graph(t, "ring:4")); err == nil {
		t.Error("too many statements are taken")
	}
	if _, err := ParseScript(make([]byte, MaxScript+1), graph(t, "ring:4")); err == nil {
		t.Error("too large a script is taken")
	}
}

func TestScriptsUseNames(t *testing.T) {
	for _, line := range []string{"at 1 crash b-c", "at 1 drop b-c->c->d", "at 1 cut a-b-c", "at 1 drop c->d->7", "at 1 crash 7", "at 1 crash 3", "at 1 cut 0-1"} {
		if _, err := ParseScript([]byte(line), named(t)); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
	if s, _ := ParseScript([]byte("at 1 crash 7"), named(t)); s.statements[0].process != 3 {
		t.Error("a name is taken for a number")
	}
}

// TestTheDocumentIsRight parses the example of docs/fault-scripts.md and finds every verb in its tables.
func TestTheDocumentIsRight(t *testing.T) {
	text, err := os.ReadFile("../docs/fault-scripts.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range regexp.MustCompile("(?s)```\n(.*?)```").FindAllSubmatch(text, -1) {
		if _, err := ParseScript(block[1], graph(t, "ring:9")); err != nil {
			t.Error(err)
		}
	}
	for _, v := range verbs {
		if !strings.Contains(string(text), "`"+v.name+" ") {
			t.Errorf("%s is not explained", v.name)
		}
	}
}

func FuzzParseScript(f *testing.F) {
	for _, seed := range []string{"at 1 crash 1", "every 3 from 1 to 9 drop 0->1 2", "when stable corrupt all", "at 1 rate 0 0.5", "at 2 delay 1->2 9",
		"at 3 corrupt random 2", "at 1 cut a-b-c", "at 0 forge c->d->7 random"} {
		f.Add([]byte(seed))
	}
	inst := newCourier(f, "ring:4", model.Links{Capacity: 4, Lossy: true})
	f.Fuzz(func(t *testing.T, text []byte) {
		if _, err := ParseScript(text, named(t)); err != nil && (err.Error() == "" || len(err.Error()) > 400) {
			t.Errorf("error %q", err)
		}
		s, err := ParseScript(text, inst.System.Graph())
		if err != nil {
			return
		}
		// Whatever was parsed can be run.
		if _, err := Run(context.Background(), inst, Options{Steps: 50, Script: s}); err != nil {
			t.Error(err)
		}
	})
}
