// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"allot/model"
)

// requireReadsBack checks that a written graph is read as an equal one.
func requireReadsBack(t *testing.T, g *model.Graph) {
	t.Helper()
	text := WriteDOT(g)
	back, err := ParseDOT(text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if picture(g) != picture(back) {
		t.Fatalf("written %s\n   read %s\n%s", picture(g), picture(back), text)
	}
}

func TestEveryNetworkReadsBack(t *testing.T) {
	for _, spec := range everySpec() {
		requireReadsBack(t, mustParse(t, spec))
	}
	// Channels in an order that no sorted list of edges gives.
	g, err := model.NewGraph(5, [][2]int{{3, 4}, {0, 4}, {2, 3}, {4, 1}, {1, 0}, {0, 2}, {0, 3}, {2, 4}})
	if err != nil {
		t.Fatal(err)
	}
	requireReadsBack(t, g)
}

func TestNamesReadBack(t *testing.T) {
	names := []string{"a", "node", "Strict", "007", "-1", "1.5", "two words", `a"b`, `a\`, `\`, `\\"`, `\n`, "é", "ℓ", "_x9", "9x", "<b>", "a:b", "//", "#"}
	g, err := mustParse(t, fmt.Sprintf("ring:%d,root=5", len(names))).WithNames(names)
	if err != nil {
		t.Fatal(err)
	}
	requireReadsBack(t, g)
	if back, _ := ParseDOT(WriteDOT(g)); !back.HasNames() {
		t.Error("the names are gone")
	}
	if back, _ := ParseDOT(WriteDOT(mustParse(t, "ring:12"))); back.HasNames() {
		t.Error("numbers became names")
	}
}

func TestUnusableNamesBecomeLabels(t *testing.T) {
	for _, names := range [][]string{{"a", "a"}, {"", "b"}, {"a\nb", "c"}, {"\xff", "c"}, {strings.Repeat("x", 256), "c"}} {
		g, err := mustParse(t, "path:2,root=1").WithNames(names)
		if err != nil {
			t.Fatal(err)
		}
		text := WriteDOT(g)
		back, err := ParseDOT(text)
		if err != nil || picture(back) != "0: 1; *1: 0" {
			t.Errorf("%q: %v\n%s", names, err, text)
		}
	}
	g, _ := mustParse(t, "path:2").WithNames([]string{"a\x1bb", `c"`})
	want := "graph allot {\n\t0 [root=true, label=\"a\ufffdb\"];\n\t1 [label=\"c\\\"\"];\n\t0 -- 1;\n}\n"
	if got := string(WriteDOT(g)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestParseDOT(t *testing.T) {
	for _, test := range []struct{ story, text, want string }{
		{"smallest", "graph{a}", "*a:"},
		{"byte order mark", "\ufeffgraph{a}", "*a:"},
		{"chain", "graph { a -- b -- c }", "*a: b; b: a c; c: b"},
		{"no spaces", "graph{a--b;1--2}", "*a: b; b: a; 1: 2; 2: 1"},
		{"numbers stay numbers", "graph { 0 -- 1 -- 2 }", "*0: 1; 1: 0 2; 2: 1"},
		{"numbers out of order are names", "graph { 1 -- 0 }", "*1: 0; 0: 1"},
		{"digraph merges directions", "digraph g { a -> b; b -> a; a -> b; a -> c }", "*a: b c; b: a; c: a"},
		{"strict, any case, named", `STRICT Graph "my graph" { a -- b; b -- a; }`, "*a: b; b: a"},
		{"parallel edges are one", "graph { a -- b a -- b }", "*a: b; b: a"},
		{"root", "graph { a; b [color=red, root=true]; a -- b }", "a: b; *b: a"},
		{"root in quotes, later list", `graph { a -- b; b [x=y;] ["root"="TRUE"] }`, "a: b; *b: a"},
		{"root=false", "graph { a [root=false]; b [root=true]; b [root=true] }", "a:; *b:"},
		{"root of an edge or default means nothing", "graph { node [root=true]; root=b; a -- b [root=true] }", "*a: b; b: a"},
		{"several parts", "graph { a; b; c -- d }", "*a:; b:; c: d; d: c"},
		{"comments", "#include\ngraph /* { */ { // }\n a -- /**/ b\n# c\n}", "*a: b; b: a"},
		{"ports", `graph { a:f0:ne -- b:"x y" }`, "*a: b; b: a"},
		{"attributes", "graph { label=<<b>x</b>>; graph [a=1 b=2]; edge [c=\"d\"]; node []; a [x=1,y=2;z=3] [] -- b }", ""},
		{"joined text", `graph { "a" + "b" /* c */ + "c" -- d }`, "*abc: d; d: abc"},
		{"continued text", "graph { \"a\\\nb\" -- \"c\\\r\nd\" }", "*ab: cd; cd: ab"},
		{"quoted keyword", `graph { "node" -- "edge" }`, "*node: edge; edge: node"},
		{"numerals", "graph { -1 -- .5 -- 1.5 -- -.5 -- 1. }", "*-1: .5; .5: -1 1.5; 1.5: .5 -.5; -.5: 1.5 1.; 1.: -.5"},
		{"braces as ends", "graph { a -- {b c} -- d }", "*a: b c; b: a d; c: a d; d: b c"},
		{"edges inside braces come first", "graph { a -- {b -- c} }", "*a: b c; b: c a; c: b a"},
		{"nested braces", "graph { {a {b; b} subgraph x {c}} -- d }", "*a: d; b: d; c: d; d: a b c"},
		{"subgraphs as statements", "graph { subgraph cluster_0 { rank=same; a; b } { c } ; subgraph { d } a -- c }", "*a: c; b:; c: a; d:"},
		{"empty braces", "graph { a; {} -- a -- {} }", "*a:"},
		{"backslashes", `graph { "a\\" -- "\"" -- "x\ly" }`, `*a\: "; ": a\ x\ly; x\ly: "`},
	} {
		g, err := ParseDOT([]byte(test.text))
		if test.want == "" {
			if err == nil {
				t.Errorf("%s: read as %s", test.story, picture(g))
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", test.story, err)
			continue
		}
		if got := picture(g); got != test.want {
			t.Errorf("%s\n got %s\nwant %s", test.story, got, test.want)
		}
		requireReadsBack(t, g)
	}
}

func TestParseDOTSaysWhatIsWrongAndWhere(t *testing.T) {
	many := func(n int, separator string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%s%d", separator, i)
		}
		return b.String()
	}
	for _, test := range []struct{ text, want string }{
		{"", "1:1: expected graph or digraph, not the end of the text"},
		{"grahp {}", "1:1: expected graph or digraph, not grahp"},
		{"graph {}", "the graph has no node; a network has at least one process"},
		{"graph a b {}", "1:9: expected {, not b"},
		{"graph {", "1:8: the text ends inside braces"},
		{"graph { a\n\n}\n}", "4:1: expected the end of the text after the graph, not }"},
		{"graph { a } graph { b }", "1:13: expected the end of the text after the graph, not graph"},
		{"graph {\n a -- a\n}", "2:7: a is joined to itself"},
		{"graph {\n {a b} -- {c b}\n}", "2:11: b is joined to itself"},
		{"graph { a -> b }", "1:11: edges are written -- in a graph and -> in a digraph"},
		{"digraph { a -- b }", "1:13: edges are written -- in a graph and -> in a digraph"},
		{"graph { é -- }", "1:14: expected a name, not }"},
		{"graph { a -- b = c }", "1:14: expected the other end of the edge, not an attribute"},
		{"graph { a [x] }", "1:13: expected =, not ]"},
		{"graph { a [x=] }", "1:14: expected a name, not ]"},
		{"graph { a [x=y }", "1:16: expected a name, not }"},
		{"graph { node }", "1:14: expected [, not }; a process of that name needs quotes"},
		{"graph { subgraph a }", "1:20: expected {, not }"},
		{"graph { a : }", "1:13: expected a name, not }"},
		{"graph { \"a }", "1:9: this quoted text has no end"},
		{"graph { \"a\" + b }", "1:15: expected a text in quotes after +, not b"},
		{"graph { a [label=<<b>] }", "1:18: this text in angle brackets has no end"},
		{"graph { <b> }", "1:9: a process cannot be named by a text in angle brackets"},
		{"graph { /* }", "1:9: this comment has no end"},
		{"graph { 1a }", "1:9: this is neither a number nor a word; put the name in quotes"},
		{"graph { 1.2.3 }", "1:9: this is neither a number nor a word; put the name in quotes"},
		{"graph { . }", "1:9: this is neither a number nor a word; put the name in quotes"},
		{"graph { a - b }", "1:11: the character '-' has no meaning here"},
		{"graph { a \x00 }", `1:11: the character '\x00' has no meaning here`},
		{"graph { \"\" }", "1:9: the name of a process has 1 to 255 bytes of UTF-8 without control characters"},
		{"graph { \"a\nb\" }", "1:9: the name of a process has 1 to 255 bytes of UTF-8 without control characters"},
		{"graph { \xff\xfe }", "1:9: the name of a process has 1 to 255 bytes of UTF-8 without control characters"},
		{"graph { a [root=perhaps] }", "1:17: root is true or false, not perhaps"},
		{"graph { a [root=true]\nb [root=true] }", "2:9: a is already the root"},
		{"graph " + strings.Repeat("{", 60) + strings.Repeat("}", 60), "1:57: braces are nested more than 50 deep"},
		{"graph {{" + many(5000, " ") + "} -- {" + many(5000, " x") + "}}", "1:23904: the text has more than 16777216 edges"},
		{strings.Repeat(" ", MaxDOT+1), "the text has 67108865 bytes; at most 67108864 are read"},
	} {
		_, err := ParseDOT([]byte(test.text))
		short := test.text[:min(len(test.text), 80)]
		if err == nil || err.Error() != test.want {
			t.Errorf("%q\n got %v\nwant %s", short, err, test.want)
		}
		var where *DOTError
		if hasPlace := test.want[1] == ':'; hasPlace != errors.As(err, &where) {
			t.Errorf("%q: the error is a %T", short, err)
		}
	}
}

func FuzzParseDOT(f *testing.F) {
	f.Add([]byte("strict graph \"g\" { a -- b -- {c d:p:n} [x=\"y\\\"\\\\\", z=<<i>>]; /* c */ node [root=false]; e [root=true] }"))
	f.Add([]byte("digraph { # no\n# yes\n a -> b; b -> a; subgraph s { \"x\" + \"y\" -> -1.5 } // end\n}"))
	f.Add(WriteDOT(mustParse(f, "grid:2x2,root=3")))
	f.Fuzz(func(t *testing.T, text []byte) {
		g, err := ParseDOT(text)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Fatalf("not one line: %q", err)
			}
			return
		}
		requireReadsBack(t, g)
		if again, _ := ParseDOT(WriteDOT(g)); again.HasNames() != g.HasNames() {
			t.Fatal("names came or went")
		}
	})
}

func BenchmarkDOT(b *testing.B) {
	g := mustParse(b, "random:100000")
	text := WriteDOT(g)
	b.Run("write", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			WriteDOT(g)
		}
	})
	b.Run("read", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := ParseDOT(text); err != nil {
				b.Fatal(err)
			}
		}
	})
}
