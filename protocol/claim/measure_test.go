// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"allot/chart"
	"allot/internal/golden"
)

// measure runs one of the protocols, or an ideal scheduler, under a load.
func measure(t testing.TB, protocol string, l load) measured {
	t.Helper()
	s := shape{clients: l.clients, resources: l.resources, most: l.size, least: 1}
	g, err := s.graph(protocol == paperName || protocol == tokenName)
	if err != nil {
		t.Fatal(err)
	}
	plain := func(_ *rand.Rand, need set) uint64 { return uint64(need) }
	switch protocol {
	case stampsName, lendingName:
		machine := &stamps{shape: s, fences: 1 << 30}
		if protocol == lendingName {
			machine.loans = 4
		}
		w := &world[state, message]{load: l, machine: machine, graph: g, arg: plain}
		w.userOf = func(s *state) *user { return &s.user }
		return w.run()
	case orderedName:
		w := &world[orderedState, orderedMessage]{load: l, machine: &ordered{s}, graph: g, arg: plain}
		w.userOf = func(s *orderedState) *user { return &s.user }
		return w.run()
	case tokenName:
		w := &world[tokenState, tokenMessage]{load: l, machine: &tokens{s}, graph: g, arg: plain}
		w.userOf = func(s *tokenState) *user { return &s.user }
		return w.run()
	case paperName:
		w := &world[paperState, paperMessage]{load: l, machine: &paper{s}, graph: g, arg: weakly}
		w.userOf = func(s *paperState) *user { return &s.user }
		return w.run()
	case firstCome, greedy:
		return ideal(l, protocol == greedy)
	}
	t.Fatalf("unknown protocol %s", protocol)
	return measured{}
}

// weakly makes either resource of two the weak one.
func weakly(chance *rand.Rand, need set) uint64 {
	weak := need.first()
	if chance.IntN(2) == 0 {
		weak = need.last()
	}
	return uint64(need) | uint64(weak)<<weakShift
}

const (
	firstCome = "ideal, first come"
	greedy    = "ideal, greedy"
	// lendingName is protocol stamps with four loans, which is what the service runs.
	lendingName = "stamps, 4 loans"
)

var compared = []string{greedy, firstCome, lendingName, stampsName, orderedName, tokenName, paperName}

// TestConcurrency measures how much of 32 resources 64 clients keep in use, for claims of 1 to 8 resources, and how long
// they wait. The chosen protocol must come close to an ideal scheduler that keeps the order of the claims, and leave
// nobody behind.
func TestConcurrency(t *testing.T) {
	var table strings.Builder
	for _, isHot := range []bool{false, true} {
		name := map[bool]string{false: "even", true: "hot"}[isHot]
		inUse, late := map[string][]float64{}, map[string][]float64{}
		for size := 1; size <= 8; size++ {
			for _, p := range compared {
				if p == paperName && size > 2 {
					continue
				}
				m := measure(t, p, load{clients: 64, resources: 32, size: size, isHot: isHot, section: 10, seed: 1, grants: 6000})
				fmt.Fprintf(&table, "%-4s k=%d %-17s %5.2f in use %6.3f grants/delay, waits: half %4.0f, 99%% %4.0f, longest %5.0f; %5.1f messages a grant, fewest grants %d\n",
					name, size, p, m.inUse, m.throughput, m.p50, m.p99, m.longest, m.messages, m.fewest)
				inUse[p], late[p] = append(inUse[p], m.inUse), append(late[p], m.p99)
				if m.fewest < 1 {
					t.Errorf("%s, k=%d, %s: a client got nothing", p, size, name)
				}
			}
			if got, best := inUse[stampsName][size-1], inUse[firstCome][size-1]; got < 0.8*best {
				t.Errorf("k=%d, %s: %.1f resources in use, an ideal scheduler in the same order has %.1f", size, name, got, best)
			}
			if got, without := inUse[lendingName][size-1], inUse[stampsName][size-1]; got < 0.95*without {
				t.Errorf("k=%d, %s: %.1f resources in use with loans, %.1f without", size, name, got, without)
			}
		}
		picture(t, "claim-concurrency-"+name, "Claims of k resources: resources in use ("+name+" load)",
			"64 clients, 32 resources, sections of 10 message delays", "resources in a claim", "resources in use", false, inUse)
		picture(t, "claim-waiting-"+name, "Claims of k resources: waiting, 99th percentile ("+name+" load)",
			"64 clients, 32 resources, sections of 10 message delays", "resources in a claim", "waiting (message delays)", true, late)
	}
	golden.Compare(t, filepath.Join("testdata", "measured.txt"), table.String())
}

// picture draws one series for each protocol over the sizes of claims.
func picture(t *testing.T, name, title, subtitle, x, y string, isLog bool, values map[string][]float64) {
	t.Helper()
	c := chart.Chart{Title: title, Subtitle: subtitle, XLabel: x, YLabel: y, LogY: isLog}
	for _, p := range compared {
		s := chart.Series{Name: p, Y: values[p], Dashed: p == greedy || p == firstCome}
		for i := range s.Y {
			s.X = append(s.X, float64(i+1))
		}
		c.Series = append(c.Series, s)
	}
	draw(t, name, c)
}

func draw(t *testing.T, name string, c chart.Chart) {
	t.Helper()
	svg, err := c.SVG()
	if err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, filepath.Join("..", "..", "docs", "pictures", name+".svg"), string(svg))
}

// TestNobodyStarves counts grants: every client must get its share, and the longest wait stays within a bound.
func TestNobodyStarves(t *testing.T) { starve(t, 200_000) }

// TestFullNobodyStarves is part of make full.
func TestFullNobodyStarves(t *testing.T) {
	if os.Getenv("ALLOT_FULL") == "" {
		t.Skip("this takes long: set ALLOT_FULL=1")
	}
	starve(t, 10_000_000)
}

func starve(t *testing.T, grants int) {
	t.Helper()
	l := load{clients: 64, resources: 32, size: 3, isHot: true, section: 10, seed: 3, grants: grants}
	m := measure(t, lendingName, l)
	share := grants / l.clients
	t.Logf("%d grants: the client with the fewest has %d, its share is %d; waits: half %.0f, 99%% %.0f, longest %.0f", m.grants, m.fewest, share, m.p50, m.p99, m.longest)
	// Who waits is overtaken by nobody who came after it was everywhere, but by loans: so it waits for at most the other 63
	// claims and those that each of them lets pass, each of which takes its section and a few messages.
	if bound := 5 * float64(l.clients) * (l.section + 10); m.longest > bound {
		t.Errorf("somebody waited for %.0f, the bound is %.0f", m.longest, bound)
	}
	if m.grants < grants || m.fewest < share*9/10 {
		t.Errorf("%d grants, the client with the fewest has %d of %d", m.grants, m.fewest, share)
	}
}
