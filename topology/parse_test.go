// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"testing"

	"allot/model"
)

func mustParse(t testing.TB, spec string) *model.Graph {
	t.Helper()
	g, err := Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// picture writes a graph as its lists of neighbours, in the order of the channels.
func picture(g *model.Graph) string {
	var b strings.Builder
	for p := range g.Len() {
		if p == g.Root {
			b.WriteString("*")
		}
		fmt.Fprintf(&b, "%s:", g.Name(p))
		for _, q := range g.Neighbours(p) {
			fmt.Fprintf(&b, " %s", g.Name(int(q)))
		}
		b.WriteString("; ")
	}
	return strings.TrimSuffix(b.String(), "; ")
}

func TestParseMakesTheNamedShape(t *testing.T) {
	for _, test := range []struct{ spec, want string }{
		{"single", "*0:"},
		{"path:1", "*0:"},
		{"path:4", "*0: 1; 1: 0 2; 2: 1 3; 3: 2"},
		{"path:4,root=2", "0: 1; 1: 2 0; *2: 1 3; 3: 2"},
		{"star:1", "*0:"},
		{"star:4", "*0: 1 2 3; 1: 0; 2: 0; 3: 0"},
		{"star:4,root=2", "0: 2 1 3; 1: 0; *2: 0; 3: 0"},
		{"ring:1", "*0:"},
		{"ring:2", "*0: 1; 1: 0"},
		{"ring:3", "*0: 1 2; 1: 0 2; 2: 1 0"},
		{"ring:4,root=2", "0: 3 1; 1: 0 2; *2: 3 1; 3: 2 0"},
		{"grid:1x1", "*0:"},
		{"grid:1x3", "*0: 1; 1: 0 2; 2: 1"},
		{"grid:3x1", "*0: 1; 1: 0 2; 2: 1"},
		{"grid:2x3,root=4", "0: 1 3; 1: 0 2 4; 2: 1 5; 3: 0 4; *4: 1 3 5; 5: 2 4"},
		{"complete:1", "*0:"},
		{"complete:4", "*0: 1 2 3; 1: 0 2 3; 2: 0 1 3; 3: 0 1 2"},
		{"binary:6", "*0: 1 2; 1: 0 3 4; 2: 0 5; 3: 1; 4: 1; 5: 2"},
		{"tree:1", "*0:"},
		{"tree:2,seed=9", "*0: 1; 1: 0"},
		{"random:1,seed=3", "*0:"},
		{"random:2", "*0: 1; 1: 0"},
		{"scalefree:1", "*0:"},
		{"scalefree:3", "*0: 1 2; 1: 0 2; 2: 0 1"},
		{"scalefree:2,m=1,root=1", "0: 1; *1: 0"},
	} {
		if got := picture(mustParse(t, test.spec)); got != test.want {
			t.Errorf("%s\n got %s\nwant %s", test.spec, got, test.want)
		}
	}
}

func TestParseRefusesInOneLine(t *testing.T) {
	for _, test := range []struct{ spec, want string }{
		{"", `"": there is no topology of this name; there are single, path, star, ring, grid, complete, binary, tree, random, scalefree`},
		{"rign:3", "rign:3: there is no topology of this name; there are single, path, star, ring, grid, complete, binary, tree, random, scalefree"},
		{"ring", "ring: the size is missing; write ring:N"},
		{"ring:", "ring:: the number of processes must be 1 to 16777216"},
		{"ring:-3", "ring:-3: the number of processes must be 1 to 16777216"},
		{"ring:0", "ring:0: the number of processes must be 1 to 16777216"},
		{"ring:+3", "ring:+3: the number of processes must be 1 to 16777216"},
		{"ring: 3", "ring: 3: the number of processes must be 1 to 16777216"},
		{"ring:1_0", "ring:1_0: the number of processes must be 1 to 16777216"},
		{"ring:16777217", "ring:16777217: the number of processes must be 1 to 16777216"},
		{"ring:99999999999999999999999", "ring:99999999999999999999999: the number of processes must be 1 to 16777216"},
		{"ring:3\nx", `"ring:3\nx": the number of processes must be 1 to 16777216`},
		{"single:2", "single:2: single has no size; write single or path:N"},
		{"grid:3", "grid:3: the size must be ROWSxCOLUMNS, such as 3x4, with 1 to 16777216 processes in all"},
		{"grid:3x0", "grid:3x0: the size must be ROWSxCOLUMNS, such as 3x4, with 1 to 16777216 processes in all"},
		{"grid:3x4x5", "grid:3x4x5: the size must be ROWSxCOLUMNS, such as 3x4, with 1 to 16777216 processes in all"},
		{"grid:5000x5000", "grid:5000x5000: the size must be ROWSxCOLUMNS, such as 3x4, with 1 to 16777216 processes in all"},
		{"ring:3,root=3", "ring:3,root=3: root must be a process, 0 to 2"},
		{"ring:3,root", "ring:3,root: root must be a process, 0 to 2"},
		{"ring:3,root=0,root=1", "ring:3,root=0,root=1: root is given twice"},
		{"ring:3,seed=1", "ring:3,seed=1: ring has no option seed; it has root"},
		{"ring:3,", `ring:3,: ring has no option ""; it has root`},
		{"random:3,m=2", "random:3,m=2: random has no option m; it has seed, degree, p, root"},
		{"tree:3,seed=-1", "tree:3,seed=-1: seed must be 0 to 18446744073709551615"},
		{"scalefree:9,m=0", "scalefree:9,m=0: m must be 1 to 16777216"},
		{"random:9,p=1.1", "random:9,p=1.1: p must be 0 to 1, with at most nine decimals"},
		{"random:9,p=.5", "random:9,p=.5: p must be 0 to 1, with at most nine decimals"},
		{"random:9,p=1.", "random:9,p=1.: p must be 0 to 1, with at most nine decimals"},
		{"random:9,p=NaN", "random:9,p=NaN: p must be 0 to 1, with at most nine decimals"},
		{"random:9,degree=1.0000000001", "random:9,degree=1.0000000001: degree must be 0 to 16777216, with at most nine decimals"},
		{"random:9,degree=2,p=1", "random:9,degree=2,p=1: give degree or p, not both"},
		{"complete:10001", "complete:10001: this network would have 50005000 edges; at most 50000000 are allowed"},
		{"random:16777216,degree=16777216", "random:16777216,degree=16777216: this network would have 140737479966720 edges; at most 50000000 are allowed"},
		{"random:16777216,p=1", "random:16777216,p=1: this network would have 140737479966720 edges; at most 50000000 are allowed"},
		{"scalefree:16777216,m=16777216", "scalefree:16777216,m=16777216: this network would have 140737479966720 edges; at most 50000000 are allowed"},
		{"scalefree:16777216,m=3", "scalefree:16777216,m=3: this network would have 50331642 edges; at most 50000000 are allowed"},
	} {
		_, err := Parse(test.spec)
		if err == nil || err.Error() != test.want {
			t.Errorf("%q\n got %v\nwant %s", test.spec, err, test.want)
		}
	}
	_, err := Parse(strings.Repeat("ring\x00", 1000))
	if err == nil || len(err.Error()) > 400 || strings.ContainsAny(err.Error(), "\n\x00") {
		t.Errorf("a long name with control characters: %v", err)
	}
}

func TestNamesAreComplete(t *testing.T) {
	for _, info := range Names() {
		if info.Help == "" || !strings.HasPrefix(info.Form, info.Name) || strings.Contains(info.Help, "\n") {
			t.Errorf("incomplete: %+v", info)
		}
		sample, _, _ := strings.Cut(info.Form, "[")
		sample = strings.NewReplacer("RxC", "2x3", "N", "6").Replace(sample)
		if g := mustParse(t, sample+",root=0"); !g.IsConnected() {
			t.Errorf("%s is not connected", sample)
		}
	}
}

// The names of networks stand in reports, so these sums must never change.
func TestNamesMeanTheSameNetworkForEver(t *testing.T) {
	c := chance{1234567}
	if got := []uint64{c.next(), c.next(), c.next()}; !slices.Equal(got, []uint64{
		6457827717110365317, 3203168211198807973, 9817491932198370423}) { // the published test vector of SplitMix64
		t.Errorf("the generator gave %d", got)
	}
	for spec, want := range map[string]string{
		"tree:7,seed=1":              "96abcef7873f4eba",
		"random:20,seed=1":           "a7f305f36615c813",
		"random:6,seed=3,p=0.9":      "8814850c9c43cde6",
		"random:30,degree=20,root=7": "68007fe75acc3b37",
		"scalefree:100,seed=1":       "48899080fdb856e4",
		"scalefree:50,m=5":           "32a6023fbce17043",
		"random:100000,seed=2":       "b989a81342311cad",
	} {
		g := mustParse(t, spec)
		sum := fnv.New64a()
		sum.Write(WriteDOT(g))
		if got := fmt.Sprintf("%016x", sum.Sum64()); got != want {
			t.Errorf("%s: got %q, want %q", spec, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, info := range Names() {
		f.Add(strings.NewReplacer("RxC", "2x3", "N", "6", "[", "", "]", "", "|,", ",", "=S", "=1", "=D", "=2", "=M", "=2").Replace(info.Form))
	}
	f.Add("random:30,p=0.5,root=3")
	f.Add("grid:3x4,root=11")
	f.Fuzz(func(t *testing.T, spec string) {
		if big(spec) {
			return // such a network is right, and slow
		}
		g, err := Parse(spec)
		if err != nil {
			if text := err.Error(); strings.Contains(text, "\n") || len(text) > 600 {
				t.Fatalf("not one short line: %q", text)
			}
			return
		}
		if !g.IsConnected() {
			t.Fatalf("%q is not connected", spec)
		}
		requireReadsBack(t, g)
	})
}

// big tells whether a name has a number of more than three digits before its options.
func big(spec string) bool {
	head, _, _ := strings.Cut(spec, ",")
	digits := 0
	for _, c := range head {
		if c >= '0' && c <= '9' {
			digits++
		}
	}
	return digits > 3
}
