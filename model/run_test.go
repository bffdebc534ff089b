// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package model_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"

	"allot/model"
)

func sampleRun() *model.Run {
	return &model.Run{
		Header: model.Header{
			Format: model.RunFormat, Origin: "check", Algorithm: "ring", Variant: "corrected", Topology: "ring:3",
			Graph: "graph {\n a -- \"b\" }", Values: map[string]string{"k": "3", "b": "é"}, Links: "fifo", Faults: "crash=1",
			Daemon: "central", Fairness: "weak", Seed: 1 << 63, Script: "at 1 crash 0\n", Start: []uint64{0, 1<<64 - 1},
			Property: "exclusion", Process: -1, Why: "two <privileges> & more", Loop: 1,
		},
		Steps: [][]model.Move{
			{{Kind: model.Act, At: 0}, {Kind: model.Act, At: 2, Arg: 7}},
			{{Kind: model.Corrupt, At: 1, Arg: 1<<64 - 1}},
			{{Kind: model.Leave, At: 1<<31 - 1}},
		},
	}
}

func written(t testing.TB, r *model.Run) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestRunsAreReadAsWritten(t *testing.T) {
	for _, run := range []*model.Run{sampleRun(), {Header: model.Header{Format: model.RunFormat, Loop: -1}}} {
		text := written(t, run)
		back, err := model.ReadRun(strings.NewReader(text))
		if err != nil || !reflect.DeepEqual(back, run) {
			t.Errorf("%+v\nwas read as\n%+v, %v", run, back, err)
		}
	}
	lines := strings.Split(written(t, sampleRun()), "\n")
	if want := []string{"act 0 0; act 2 7", "corrupt 1 18446744073709551615", "leave 2147483647 0", "end 3", ""}; !slices.Equal(lines[1:], want) {
		t.Errorf("%q, want %q", lines[1:], want)
	}
}

// TestTruncatedRuns: whatever is cut off, and be it the last number, it is noticed.
func TestTruncatedRuns(t *testing.T) {
	run := sampleRun()
	for range 20 {
		run.Steps = append(run.Steps, []model.Move{{Kind: model.Tick, At: 3}})
	}
	text := written(t, run)
	atLineEnd := 0
	for n := range len(text) - 1 {
		_, err := model.ReadRun(strings.NewReader(text[:n]))
		if err == nil {
			t.Fatalf("the first %d of %d bytes are read: %q", n, len(text), text[:n])
		}
		if n == 0 || n > len("{\"format\":") && text[n-1] == '\n' {
			atLineEnd++
			if !errors.Is(err, model.ErrTruncated) {
				t.Errorf("%d bytes, whole lines: %v", n, err)
			}
		}
	}
	if atLineEnd != len(run.Steps)+2 {
		t.Errorf("looked at %d whole lines", atLineEnd)
	}
}

func TestReadRunRefuses(t *testing.T) {
	header := `{"format":"allot run 1","loop":-1}` + "\n"
	for _, test := range []struct{ text, want string }{
		{"\n", "line 1: this is not a recorded run"},
		{"hello", "line 1: this is not a recorded run"},
		{"null\nend 0\n", "line 1: this is not a recorded run"},
		{"{}\nend 0\n", "line 1: this is not a recorded run"},
		{`{"format":"allot run 2"}` + "\nend 0\n", "line 1: this is not a recorded run"},
		{`{"format":"allot run 1","loop":1e300}` + "\nend 0\n", "line 1: this is not a recorded run"},
		{`{"format":"allot run 1","start":[-1]}` + "\nend 0\n", "line 1: this is not a recorded run"},
		{strings.Repeat("[", 1<<16) + "\n", "line 1: this is not a recorded run"},
		{"\x7fELF\x00\x01\x02\n", "line 1: this is not a recorded run"},
		{`{"format":"allot run 1","loop":2}` + "\nact 0 0\nend 1\n", "line 1: loop 2 is not among the 1 steps"},
		{`{"format":"allot run 1","loop":-2}` + "\nact 0 0\nend 1\n", "line 1: loop -2 is not among the 1 steps"},
		{`{"format":"allot run 1","loop":9223372036854775807}` + "\nend 0\n", "loop 9223372036854775807 is not among"},
		{header + "act 0 0\nend 2\n", "line 3: the file says 2 steps and has 1"},
		{header + "act 0 0\nend 01\n", "line 3: the file says 01 steps and has 1"},
		{header + "act 0 0\n\nend 1\n", `line 3: "" is not a move`},
		{header + "act 0 0\nact 0\nend 2\n", `line 3: "act 0" is not a move: it must be KIND PLACE ARGUMENT`},
		{header + strings.Repeat("x", 1<<20) + "\n", "line 2: "},
	} {
		_, err := model.ReadRun(strings.NewReader(test.text))
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") || len(err.Error()) > 300 {
			t.Errorf("%.60q: %v, want %s", test.text, err, test.want)
		}
	}
}

func TestRunLimits(t *testing.T) {
	run := &model.Run{Header: model.Header{Loop: -1}, Steps: slices.Repeat([][]model.Move{{{Kind: model.Act}}}, 5)}
	text := written(t, run)
	if back, err := model.ReadRunWithin(strings.NewReader(text), 5, 1<<17); err != nil || len(back.Steps) != 5 {
		t.Errorf("as many steps as allowed: %v", err)
	}
	if _, err := model.ReadRunWithin(strings.NewReader(text), 4, 1<<17); err == nil || err.Error() != "line 6: a run has at most 4 steps" {
		t.Errorf("a step too many: %v", err)
	}
	for name, text := range map[string]string{"header": `{"why":"` + strings.Repeat("x", 1<<18), "step": text[:strings.Index(text, "act")] + strings.Repeat("act 0 0; ", 1<<15)} {
		if _, err := model.ReadRunWithin(strings.NewReader(text), 5, 1<<17); err == nil || !strings.Contains(err.Error(), "token too long") {
			t.Errorf("a long %s: %v", name, err)
		}
	}
	broken := errors.New("the disk is on fire")
	for _, text := range []string{"", text[:len(text)-6]} {
		_, err := model.ReadRun(io.MultiReader(strings.NewReader(text), failing{broken}))
		if !errors.Is(err, broken) {
			t.Errorf("a broken reader: %v", err)
		}
	}
	if err := run.Write(failing{broken}); !errors.Is(err, broken) {
		t.Errorf("a broken writer: %v", err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error)  { return 0, f.err }
func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestParseStep(t *testing.T) {
	for _, test := range []struct {
		line string
		want []model.Move // nil: an error
	}{
		{"act 3 0", []model.Move{{Kind: model.Act, At: 3}}},
		{"act 3 0; act 5 1", []model.Move{{Kind: model.Act, At: 3}, {Kind: model.Act, At: 5, Arg: 1}}},
		{"deliver -1 18446744073709551615", []model.Move{{Kind: model.Deliver, At: -1, Arg: 1<<64 - 1}}},
		{"", nil}, {"act", nil}, {"act 1", nil}, {"act 1 ", nil}, {" act 1 1", nil}, {"act  1 1", nil}, {"act 1 1 ", nil},
		{"act 1 1 1", nil}, {"act 1 1x", nil}, {"act 1 -1", nil}, {"act 2147483648 0", nil}, {"act 0 18446744073709551616", nil},
		{"act 3 0;act 5 1", nil}, {"act 3 0; ", nil}, {"act 0x1 0", nil}, {"act 1_0 0", nil}, {"acts 1 1", nil}, {"Act 1 1", nil},
		{"kind 14 0", nil},
	} {
		step, err := model.ParseStep(test.line)
		if (err == nil) != (test.want != nil) || test.want != nil && !slices.Equal(step, test.want) {
			t.Errorf("%q: %v, %v", test.line, step, err)
		}
	}
}

// FuzzReadRun: nothing panics, and what is read is written and read again as the same.
func FuzzReadRun(f *testing.F) {
	f.Add([]byte(written(f, sampleRun())))
	f.Add([]byte("{\"format\":\"allot run 1\",\"parameters\":{},\"start\":[]}\r\nact 1 1; cut 0 0\r\nend 1"))
	f.Add([]byte(fmt.Sprintf("{\"format\":%q,\"FORMAT\":1}\nend 0\n", model.RunFormat)))
	f.Fuzz(func(t *testing.T, data []byte) {
		run, err := model.ReadRun(bytes.NewReader(data))
		if err != nil {
			return
		}
		text := written(t, run)
		back, err := model.ReadRun(strings.NewReader(text))
		if err != nil {
			t.Fatalf("%q is written as %q, which is refused: %v", data, text, err)
		}
		if again := written(t, back); again != text || !reflect.DeepEqual(back.Steps, run.Steps) {
			t.Fatalf("%q is written as %q and then as %q", data, text, again)
		}
	})
}

func TestStartAt(t *testing.T) {
	s := newHops(t, graphOf(t, "path:2"), model.Budget{Crash: 2}).System
	// Two distances of three values, four sets of crashed processes, one of cut links, three budgets.
	if c, err := model.StartAt(s, []uint64{0, 2, 3, 0, 1}); err != nil || !c.Equal(model.Configuration{0, 2, 3, 0, 1}) {
		t.Errorf("%v, %v", c, err)
	}
	if c, err := model.StartAt(s, nil); err != nil || !c.Equal(s.Clean()) {
		t.Errorf("clean: %v, %v", c, err)
	}
	for _, test := range []struct {
		ranks []uint64
		want  string
	}{
		{[]uint64{0}, "the start has 1 numbers, a configuration has 5 words"},
		{[]uint64{0, 3, 0, 0, 0}, "the start: word 1 has 3 values, there is no number 3"},
		{[]uint64{0, 0, 0, 1, 0}, "word 3 has 1 values, there is no number 1"},
		{[]uint64{0, 0, 0, 0, 1 << 63}, "word 4 has 3 values"},
	} {
		if _, err := model.StartAt(s, test.ranks); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v: %v, want %s", test.ranks, err, test.want)
		}
	}
	// Where 64 processes may crash, the word for them cannot be listed and stays as it is.
	big := newHops(t, graphOf(t, "ring:64"), model.Budget{Crash: 1}).System
	ranks := make([]uint64, big.Words())
	ranks[64] = 5
	if c, err := model.StartAt(big, ranks); err != nil || c[64] != 0 {
		t.Errorf("%v", err)
	}
}
