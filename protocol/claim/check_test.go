// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package claim_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"allot/check"
	"allot/internal/golden"
	"allot/model"
	"allot/protocol/claim"
	"allot/sim"
	"allot/topology"
)

// instance makes one from words such as "clients=3 variant=printed".
func instance(t *testing.T, words string) *model.Instance {
	t.Helper()
	g, err := topology.Parse(claim.Algorithm.Topology)
	if err != nil {
		t.Fatal(err)
	}
	links, err := model.ParseLinks(claim.Algorithm.Links)
	if err != nil {
		t.Fatal(err)
	}
	o := model.Options{Graph: g, Links: links, Values: map[string]string{}}
	for _, word := range strings.Fields(words) {
		name, value, _ := strings.Cut(word, "=")
		if name == "variant" {
			o.Variant = value
		} else {
			o.Values[name] = value
		}
	}
	inst, err := claim.Algorithm.Make(o)
	if err != nil {
		t.Fatal(err)
	}
	return inst
}

// ask puts a question to the checker, and lets the simulator confirm every counterexample.
func ask(t *testing.T, words string, o check.Options) *check.Result {
	t.Helper()
	inst := instance(t, words)
	o.Fairness, o.Workers = check.Weak, 1
	r, err := check.Run(context.Background(), inst, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Findings {
		if f.Verdict != check.Counterexample || f.Run == nil {
			continue
		}
		f.Run.Origin, f.Run.Fairness = "check", string(check.Weak)
		if report, err := sim.Replay(inst, f.Run, nil); err != nil || !report.IsVerified {
			t.Errorf("%s, %s: the simulator does not see the violation: %v, %v", words, f.Property, report, err)
		}
	}
	return r
}

// proof is an instance that was explored to the end, with the numbers that it must have again.
type proof struct {
	words               string
	states, transitions uint64
}

// small take a second or so each.
var small = []proof{
	{"clients=2 resources=1", 191, 462},
	{"clients=3 resources=1", 3026, 11472},
	{"clients=2 resources=2", 17879, 78936},
	{"clients=2 resources=1 stamps=next claims=3", 2146, 4220},
	{"clients=2 resources=2 stamps=next claims=1", 5371, 17037},
	{"clients=2 resources=1 departures=both", 8545, 37482},
	{"clients=3 resources=1 departures=vanish", 97648, 519600},
	{"clients=2 resources=1 losses=1", 73488, 369149},
	{"clients=1 resources=1 losses=1 departures=cancel", 512, 1577},
	{"clients=2 resources=1 fences=3", 1041, 2490},
	{"clients=2 resources=2 loans=1 delivery=prompt", 4300, 20688},
	{"clients=2 resources=1 loans=1 departures=both", 59714, 285108},
	{"clients=2 resources=2 delivery=prompt", 352, 2558},
	{"clients=2 resources=3 most=3 delivery=prompt", 14740, 197414},
	{"clients=3 resources=2 delivery=prompt", 12088, 161382},
	{"clients=2 resources=2 departures=vanish delivery=prompt", 74693, 438484},
	{"protocol=paper clients=2 resources=2", 36543, 120101},
	{"protocol=paper clients=2 resources=2 delivery=prompt", 11866, 35264},
	{"protocol=token clients=2 resources=2", 2234, 6796},
	{"protocol=token clients=2 resources=3", 23452, 76774},
	{"protocol=ordered clients=2 resources=2", 479, 1120},
	{"protocol=ordered clients=3 resources=2", 8832, 29358},
	{"protocol=ordered clients=2 resources=3 most=3", 5841, 16556},
	{"protocol=ordered clients=2 resources=2 departures=both", 44569, 227088},
}

func TestProved(t *testing.T) { prove(t, small) }

func prove(t *testing.T, proofs []proof) {
	for _, p := range proofs {
		r := ask(t, p.words, check.Options{MaxMemory: 8 << 30})
		if r.Verdict != check.Proved || r.States != p.states || r.Transitions != p.transitions {
			t.Errorf("{%q, %d, %d}, %s %s", p.words, r.States, r.Transitions, r.Verdict, r.Cut)
			for _, f := range r.Findings {
				if f.Verdict != check.Proved {
					t.Errorf("   %s: %s %s", f.Property, f.Verdict, f.Why)
				}
			}
		}
	}
}

// large take minutes to hours.
var large = []proof{
	{"clients=1 resources=2 losses=1 departures=cancel", 548111, 3332155},
	{"clients=2 resources=2 least=2 departures=vanish", 337512, 2034244},
	{"clients=2 resources=2 departures=cancel", 502421, 3118808},
	{"clients=2 resources=2 departures=vanish", 399182, 2350296},
	{"clients=2 resources=2 departures=both delivery=prompt", 995622, 7342726},
	{"clients=2 resources=2 losses=1 losers=1 delivery=prompt", 1604499, 12959551},
	{"clients=3 resources=2 stamps=next claims=1", 550977, 2368833},
	{"clients=2 resources=3 most=3 stamps=next claims=1", 155392, 693256},
	{"clients=2 resources=3", 156229, 704658},
	{"clients=3 resources=3 delivery=prompt", 223561, 3186162},
	{"clients=2 resources=2 loans=1", 163665, 743352},
	{"clients=3 resources=2 loans=1 delivery=prompt", 346890, 2982288},
	{"clients=2 resources=2 loans=1 departures=vanish delivery=prompt", 424227, 2506684},
	{"clients=2 resources=1 loans=1 losses=1 departures=both delivery=prompt", 1371670, 10556589},
	{"protocol=token clients=3 resources=2", 64102, 246952},
	{"protocol=paper clients=2 resources=3 least=2", 374935, 1312215},
	{"protocol=paper clients=2 resources=3", 449215, 1569611},
	{"protocol=paper clients=3 resources=2 delivery=prompt", 3417608, 12799493},
	{"protocol=ordered clients=3 resources=3 most=3", 340032, 1379802},
	{"protocol=ordered clients=3 resources=2 departures=cancel", 146772, 732660},
	{"protocol=ordered clients=2 resources=3 most=3 departures=both", 1594329, 10693036},
}

// TestFullProofs is part of make full.
func TestFullProofs(t *testing.T) {
	if os.Getenv("ALLOT_FULL") == "" {
		t.Skip("this takes long: set ALLOT_FULL=1")
	}
	prove(t, large)
}

// broken is a variant that must fail, where, and how.
type broken struct {
	words    string
	property string
	story    string // the golden file, if the counterexample is worth reading
}

var mutants = []broken{
	{"variant=stamps-hasty resources=1", "rests", "stamps_next_claim_overtakes_the_end_of_the_last"},
	{"variant=stamps-lowest", "exclusive", ""},
	{"variant=stamps-low", "exclusive", "stamps_an_offer_below_the_first_of_the_queue"},
	{"variant=stamps-rash", "exclusive", "stamps_a_weak_claim_ahead_is_not_awaited"},
	{"variant=stamps-cocky", "exclusive", "stamps_first_place_kept_with_a_larger_stamp"},
	{"variant=stamps-careless resources=1 departures=cancel", "rests", "stamps_an_old_ready_is_taken_for_a_new_one"},
	{"variant=stamps-abrupt resources=1 departures=cancel", "rests", "stamps_a_cancel_overtakes_its_request"},
	{"variant=stamps-forgetful resources=1 departures=vanish", "rests", "stamps_a_request_arrives_after_its_session_ended"},
	{"variant=stamps-blank resources=1 losses=1", "exclusive", "stamps_a_resource_without_memory_gives_at_once"},
	{"variant=paper-blind", "rests", ""},
	{"variant=paper-untoken", "served", "paper_without_its_token_a_client_starves"},
	{"variant=paper-stuck", "served", ""},
	{"variant=paper-gullible", "real loops", ""},
	{"variant=paper-certain", "real loops", "paper_a_slow_search_takes_what_was_for_a_loop"},
	{"variant=paper-fickle", "real loops", "paper_two_searches_choose_different_victims"},
	{"variant=paper-unmarked", "exclusive", "paper_a_kill_crosses_a_grant"},
	{"variant=ordered-any", "rests", ""},
	{"variant=token-impatient", "served", ""},
	{"variant=token-drifting resources=3", "served", "token_that_drifts_passes_a_resource_for_ever"},
}

func TestMutants(t *testing.T) {
	var tried []string
	for _, m := range mutants {
		tried = append(tried, strings.TrimPrefix(strings.Fields(m.words)[0], "variant="))
		mustFail(t, m)
	}
	for _, m := range slices.Concat(printedOnes, slow) {
		tried = append(tried, strings.TrimPrefix(strings.Fields(m.words)[0], "variant="))
	}
	for _, name := range claim.Algorithm.Mutants {
		if !slices.Contains(tried, name) {
			t.Errorf("mutant %s is put to the checker by nobody", name)
		}
	}
}

// printedOnes are the errors of the paper, in the order in which one hides the next.
var printedOnes = []broken{
	{"variant=printed", "rests", "printed_the_next_resource_is_read_from_a_popped_queue"},
	{"variant=printed resources=2 least=1", "one token", "printed_a_token_is_sent_by_who_has_none"},
	{"variant=printed-1", "one token", ""},
	{"variant=printed-2", "rests", "printed_a_passing_message_overwrites_the_priority"},
	{"variant=printed-3", "rests", "printed_messages_do_not_say_whom_they_are_about"},
	{"variant=printed-4", "rests", "printed_a_search_follows_what_is_no_dependency"},
	{"variant=printed-5", "rests", "printed_nobody_looks_again_after_a_loop_was_broken"},
}

// slow are those whose shortest counterexample is far away.
var slow = []broken{
	{"variant=printed-3 clients=3", "exclusive", "printed_two_clients_use_one_resource"},
	{"variant=paper-lazy resources=3 least=2", "served", "printed_a_token_rests_for_ever_where_nobody_asks"},
	{"variant=stamps-generous clients=3 loans=1 delivery=prompt", "served", ""},
	{"variant=stamps-even departures=cancel loans=1", "rests", ""},
}

// TestFullPrinted is part of make full.
func TestFullPrinted(t *testing.T) {
	if os.Getenv("ALLOT_FULL") == "" {
		t.Skip("this takes long: set ALLOT_FULL=1")
	}
	for _, m := range slow {
		mustFail(t, m)
	}
}

func TestPrinted(t *testing.T) {
	for _, m := range printedOnes {
		mustFail(t, m)
	}
}

func mustFail(t *testing.T, m broken) {
	t.Helper()
	r := ask(t, m.words, check.Options{Properties: []string{m.property}, MaxStates: 3_000_000})
	if r.Verdict != check.Counterexample {
		t.Errorf("%s: %s is %s after %d states", m.words, m.property, r.Verdict, r.States)
		return
	}
	if m.story != "" {
		compare(t, m.story, tell(t, m.words, r.Findings[0]))
	}
}

// tell writes a counterexample as a person reads it.
func tell(t *testing.T, words string, f check.Finding) string {
	t.Helper()
	inst := instance(t, words)
	c, err := model.StartAt(inst.System, f.Run.Start)
	if err != nil {
		t.Fatal(err)
	}
	var b model.Buffer
	var text strings.Builder
	fmt.Fprintf(&text, "%s\n%s: %s\n\n", words, f.Property, f.Text)
	for i, step := range f.Run.Steps {
		if i == f.Run.Loop {
			text.WriteString("for ever:\n")
		}
		fmt.Fprintf(&text, "%3d %s\n", i+1, inst.System.Describe(c, step[0]))
		inst.System.Apply(c, step, &b)
	}
	fmt.Fprintf(&text, "\n%s\n", f.Why)
	for site := range inst.System.Sites() {
		var variables []string
		for _, v := range inst.System.Variables(c, site) {
			variables = append(variables, v.Name+" "+v.Value)
		}
		if p := inst.System.Site(site).Process; p >= 0 {
			fmt.Fprintf(&text, "  %s: %s\n", inst.System.Graph().Name(p), strings.Join(variables, ", "))
		}
	}
	return text.String()
}

// compare holds a text against what a person has read and found right.
func compare(t *testing.T, name, got string) {
	t.Helper()
	golden.Compare(t, filepath.Join("testdata", name+".txt"), got)
}
