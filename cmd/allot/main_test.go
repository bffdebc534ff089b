// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"allot/protocol"
)

// allot runs the command line and returns the exit code and what it printed.
func invoke(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(context.Background(), args, &out, &errs)
	return code, out.String(), errs.String()
}

// write puts a file into the test's own folder.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// cycle saves a counterexample and returns its file.
func cycle(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "cycle.run")
	if code, _, errs := invoke(t, "lab", "check", "ring", "--topology", "ring:4", "--k", "2", "--out", path); code != exitViolated {
		t.Fatalf("exit %d: %s", code, errs)
	}
	return path
}

func TestExitCodes(t *testing.T) {
	for _, test := range []struct {
		args string
		want int
		says string
	}{
		{"lab check ring --topology ring:5 --k 5 --daemon central", exitHeld, "proved"},
		{"lab check ring --topology ring:5 --k 5 --daemon distributed", exitHeld, "proved"},
		{"lab check ring --topology ring:5 --k 3 --daemon central", exitViolated, "for ever"},
		{"lab check ring --topology ring:6 --max-states 1000", exitUnknown, "the search was cut"},
		{"lab check ring --topology ring:6 --timeout 1ns", exitUnknown, "out of time"},
		{"lab check ring --rounds --topology ring:4", exitHeld, "rounds"},
		{"lab check ring --start clean --faults corrupt=1 --property stabilizes", exitHeld, "proved"},
		{"lab check ring --store fingerprint --start clean --property exclusion", exitHeld, "taken for one"},
		{"lab check peterson --fairness weak", exitHeld, "proved"},
		{"lab check peterson --fairness weak --variant turn-first", exitViolated, "2 processes are in the critical section"},
		{"lab check abp --fairness strong", exitHeld, "proved"},
		{"lab check abp --links unordered,lossy,capacity=2 --property order", exitViolated, "another item"},
		{"lab sim ring --topology ring:50 --steps 100000", exitHeld, "held"},
		{"lab sim ring --topology ring:50 --steps 10", exitUnknown, "unknown"},
		{"lab sim ring --variant copy-plus-one --start clean", exitViolated, "violated"},
		{"lab sim ring --topology ring:6 --daemon optimal --until stable", exitHeld, "optimal daemon"},
		{"lab sim abp --steps 1000 --bytes", exitHeld, "messages"},
		{"lab sweep ring --over n=5,10 --repeat 2", exitHeld, "grows like"},
		{"lab sweep ring --over n=5,10 --repeat 2 --steps 3", exitUnknown, ""},
		{"lab list", exitHeld, "Dijkstra"},
		{"lab topology grid:3x4", exitHeld, "12 processes, 17 edges, degree 2 to 4, root 0, diameter 5"},
		{"lab topology ring:4 --dot", exitHeld, "2 -- 3"},
		{"lab tour", exitHeld, "came back to 1"},
		{"up --listen 127.0.0.1:0 --for 1500ms", exitHeld, "3 nodes and the pool \"demo\""},
		{"--help", exitHeld, "lab"},
		{"lab check --help", exitHeld, "allot lab check ring"},
		{"lab check ring --help", exitHeld, "--topology"},
	} {
		code, out, errs := invoke(t, strings.Fields(test.args)...)
		if code != test.want || !strings.Contains(out, test.says) {
			t.Errorf("allot %s: exit %d, want %d and %q; it printed:\n%s%s", test.args, code, test.want, test.says, out, errs)
		}
	}
}

// TestBadInput: one clear line, exit 64, nothing on standard output.
func TestBadInput(t *testing.T) {
	good := cycle(t)
	text, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	truncated := write(t, "truncated.run", strings.Join(lines[:4], ""))
	impossible := write(t, "impossible.run", lines[0]+"act 0 0\nact 99 0\nend 2\n")
	notRun := write(t, "not.run", "hello\n")
	empty := write(t, "empty.run", "")
	foreign := write(t, "foreign.run", strings.Replace(string(text), `"algorithm":"ring"`, `"algorithm":"\u001b[31mx"`, 1))
	badDOT := write(t, "bad.dot", "graph { a -- ")
	apart := write(t, "apart.dot", "graph { a -- b; c -- d }")
	badScript := write(t, "bad.txt", "at 5 explode 3\n")
	for _, test := range []struct{ args, says string }{
		{"lab check nothing", "unknown algorithm"},
		{"lab check nothing --flag", "unknown algorithm"},
		{"lab nothing", ""},
		{"nothing", "unknown command"},
		{"lab check ring --topology ring:-3", "must be 1 to"},
		{"lab check ring --topology ring:x", "ring:x"},
		{"lab check ring --topology donut:3", "donut"},
		{"lab check ring --topology path:4", "not a ring"},
		{"lab check ring --topology " + badDOT, "bad.dot"},
		{"lab check ring --topology " + apart, "falls apart"},
		{"lab check ring --topology missing.dot", "missing.dot"},
		{"lab check ring --daemon mad", "unknown daemon"},
		{"lab check ring --fairness very", "unknown fairness"},
		{"lab check ring --property good", "unknown property"},
		{"lab check ring --store pile", "unknown way"},
		{"lab check ring --variant good", "no variant"},
		{"lab check ring --start odd", "--start odd"},
		{"lab check ring --k 0", "--k 0"},
		{"lab check ring --k many", "--k many"},
		{"lab check ring --faults fire=1", "fire=1"},
		{"lab check ring --faults crash", "KIND=COUNT"},
		{"lab check ring --max-states 0", "--max-states"},
		{"lab check ring --max-memory lots", "--max-memory"},
		{"lab check ring --timeout soon", "soon"},
		{"lab check ring extra", "extra"},
		{"lab check peterson --daemon distributed", "one after the other"},
		{"lab check peterson --topology path:3", "2 processes"},
		{"lab check abp --links rope", "rope"},
		{"lab check abp --links duplicating", "capacity"},
		{"lab sim ring --daemon mad", "unknown daemon"},
		{"lab sim ring --daemon unfair:99", "99"},
		{"lab sim ring --steps -1", "--steps"},
		{"lab sim ring --until tomorrow", "--until"},
		{"lab sim ring --script " + badScript, "line 1"},
		{"lab sim ring --script missing.txt", "missing.txt"},
		{"lab sim peterson --daemon optimal", "optimal"},
		{"lab sweep ring", "--over"},
		{"lab sweep ring --over n", "n"},
		{"lab sweep ring --over q=1..2", "no parameter"},
		{"lab sweep ring --over n=3..5 --column best", "--column"},
		{"lab sweep ring --over n=3..5 --repeat 0", "--repeat"},
		{"lab topology donut:3", "donut"},
		{"lab replay", ""},
		{"lab replay missing.run", "missing.run"},
		{"lab replay " + truncated, "truncated"},
		{"lab replay " + impossible, "step"},
		{"lab replay " + notRun, "not a recorded run"},
		{"lab replay " + empty, "truncated"},
		{"lab replay " + foreign, "unknown algorithm"},
	} {
		code, out, errs := invoke(t, strings.Fields(test.args)...)
		if code != exitUsage || strings.Count(errs, "\n") != 1 || !strings.HasPrefix(errs, "allot: ") || !strings.Contains(errs, test.says) {
			t.Errorf("allot %s: exit %d, want one line with %q; it printed:\n%s", test.args, code, test.says, errs)
		}
		if out != "" || strings.ContainsRune(errs, 0x1b) {
			t.Errorf("allot %s: it printed %q to standard output, %q to standard error", test.args, out, errs)
		}
	}
}

func TestCheckJSON(t *testing.T) {
	for _, test := range []struct {
		args    string
		verdict string
		worst   any
		story   bool
	}{
		{"lab check ring --topology ring:6 --json", "proved", 38.0, false},
		{"lab check ring --topology ring:4 --k 2 --json", "counterexample", nil, true},
		{"lab check ring --topology ring:6 --max-states 10 --json", "unknown", nil, false},
	} {
		_, out, _ := invoke(t, strings.Fields(test.args)...)
		var got map[string]any
		if err := json.Unmarshal([]byte(out), &got); err != nil {
			t.Fatalf("%s: %v", test.args, err)
		}
		for _, key := range []string{"verdict", "states", "transitions", "worst_steps", "property", "counterexample", "seconds"} {
			if _, ok := got[key]; !ok {
				t.Errorf("%s: there is no %q", test.args, key)
			}
		}
		if got["verdict"] != test.verdict || got["worst_steps"] != test.worst || (got["counterexample"] != nil) != test.story {
			t.Errorf("%s: verdict %v, worst_steps %v, counterexample %v", test.args, got["verdict"], got["worst_steps"], got["counterexample"])
		}
	}
}

// TestReplay goes the whole way: the checker's file and the simulator's, seen again and verified.
func TestReplay(t *testing.T) {
	path := cycle(t)
	code, out, errs := invoke(t, "lab", "replay", path)
	if code != exitViolated || !strings.Contains(out, "from here on, for ever") || !strings.Contains(out, "is violated") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	folder := t.TempDir()
	recorded, short, worst := filepath.Join(folder, "long.run"), filepath.Join(folder, "short.run"), filepath.Join(folder, "worst.run")
	if code, _, errs := invoke(t, strings.Fields("lab sim ring --topology ring:30 --start clean --variant copy-plus-one --record "+recorded+" --shrink "+short)...); code != exitViolated {
		t.Fatalf("exit %d: %s", code, errs)
	}
	if code, out, errs := invoke(t, "lab", "replay", short); code != exitViolated || !strings.Contains(out, "2 steps") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	if code, _, errs := invoke(t, "lab", "replay", "--quiet", recorded); code != exitViolated {
		t.Errorf("exit %d: %s", code, errs)
	}
	if code, _, errs := invoke(t, "lab", "check", "ring", "--topology", "ring:5", "--worst", worst); code != exitHeld {
		t.Fatalf("exit %d: %s", code, errs)
	}
	if code, out, errs := invoke(t, "lab", "replay", worst); code != exitHeld || !strings.Contains(out, "24 steps") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
}

func TestSweepFiles(t *testing.T) {
	folder := t.TempDir()
	plot, csv, table := filepath.Join(folder, "a.svg"), filepath.Join(folder, "a.csv"), filepath.Join(folder, "a.json")
	args := "lab sweep ring --over n=5..20,steps=3 --over k=30,40 --repeat 3 --plot " + plot + " --csv " + csv + " --out " + table
	if code, _, errs := invoke(t, strings.Fields(args)...); code != exitHeld {
		t.Fatalf("exit %d: %s", code, errs)
	}
	for path, want := range map[string]string{plot: "exact worst case", csv: "stabilized_steps", table: `"growth"`} {
		text, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: %v, %.200s", path, err, text)
		}
	}
	if code, _, _ := invoke(t, "lab", "sweep", "ring", "--over", "n=5,6", "--plot", filepath.Join(folder, "no", "a.svg")); code != exitFile {
		t.Errorf("a plot that cannot be written: exit %d", code)
	}
}

func TestDOTFile(t *testing.T) {
	path := write(t, "ring.dot", "graph { d -- a; a -- b; b -- c; c -- d; a [root=true] }")
	code, out, errs := invoke(t, "lab", "check", "ring", "--topology", path, "--k", "2")
	if code != exitViolated || !strings.Contains(out, "process a: add one") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("ALLOT_K", "2")
	t.Setenv("ALLOT_TOPOLOGY", "ring:4")
	if code, out, errs := invoke(t, "lab", "check", "ring"); code != exitViolated || !strings.Contains(out, "ring:4 · n=4 · k=2") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	if code, _, _ := invoke(t, "lab", "check", "ring", "--k", "4"); code != exitHeld {
		t.Errorf("a flag must be stronger than the environment: exit %d", code)
	}
	t.Setenv("ALLOT_MAX_STATES", "many")
	if code, _, errs := invoke(t, "lab", "check", "ring"); code != exitUsage || !strings.Contains(errs, "ALLOT_MAX_STATES") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

// TestInterrupted: Ctrl-C cancels the context; what is known is reported.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out, errs bytes.Buffer
	if code := run(ctx, []string{"lab", "check", "ring", "--topology", "ring:7"}, &out, &errs); code != exitUnknown || !strings.Contains(out.String(), "interrupted") {
		t.Errorf("exit %d: %s%s", code, &out, &errs)
	}
}

// TestEveryAlgorithm can be listed, checked, simulated and replayed with its defaults, so adding one takes a folder and a
// line in the list.
func TestEveryAlgorithm(t *testing.T) {
	_, list, _ := invoke(t, "lab", "list", "--json")
	for _, a := range protocol.All {
		if !strings.Contains(list, `"name": "`+a.Name+`"`) {
			t.Errorf("%s is not listed", a.Name)
		}
		path := filepath.Join(t.TempDir(), "a.run")
		if code, _, errs := invoke(t, "lab", "sim", a.Name, "--steps", "50", "--record", path); code == exitUsage {
			t.Errorf("sim %s: %s", a.Name, errs)
		}
		if code, _, errs := invoke(t, "lab", "replay", path); code != exitHeld {
			t.Errorf("replay %s: exit %d, %s", a.Name, code, errs)
		}
		if code, _, errs := invoke(t, "lab", "check", a.Name, "--max-states", "2000"); code == exitUsage {
			t.Errorf("check %s: %s", a.Name, errs)
		}
	}
}
