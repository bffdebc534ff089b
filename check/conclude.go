// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"

	"allot/model"
)

// conclude turns what was discovered into the result.
func (s *search) conclude() *Result {
	r := &Result{
		Cut: s.cut, States: s.states.Load(), Transitions: s.transitions.Load(), Depth: s.depth,
		Keep: s.o.Keep, Bytes: s.sp.bytes(),
	}
	if s.o.Keep == Fingerprint {
		r.Collision = collision(r.States)
	}
	for i := range s.properties {
		r.Findings = append(r.Findings, s.finding(i))
	}
	for _, t := range s.stab {
		r.Bytes += 4 * uint64(len(t.distance))
		f := &r.Findings[t.property]
		f.WorstSteps, f.WorstRounds, f.Worst, f.Legitimate = t.worst, t.rounds, t.worstRun, t.legitimate.Load()
		if s.o.Distances && t.worst != nil {
			r.distance = s.distances(t)
		}
	}
	r.conclude()
	return r
}

func (s *search) finding(i int) Finding {
	p, d := &s.properties[i], &s.found[i]
	f := Finding{Property: p.Name, Claim: p.Claim, Text: p.Text, Verdict: Proved}
	switch {
	case d.is:
		f.Verdict, f.Why, f.Run = Counterexample, d.why, d.run
		if f.Run == nil {
			f.Run = s.pathTo(s.workers[0], d.id)
			if d.step != nil {
				f.Run.Steps = append(f.Run.Steps, d.step)
			}
		}
		f.Run.Property, f.Run.Why, f.Run.Process = p.Name, d.why, d.process
		if p.Claim == model.Sometimes {
			f.Verdict = Proved
		}
	case s.cut != "":
		f.Verdict, f.Why = Unknown, s.cut
	case p.Claim == model.Sometimes:
		f.Verdict, f.Why = Counterexample, fmt.Sprintf("none of the %d configurations has it", s.states.Load())
	}
	return f
}

// distances answers for any configuration how far it is from the legitimate set.
func (s *search) distances(t *stabilization) func(model.Configuration) (int, bool) {
	e := s.workers[0]
	return func(c model.Configuration) (int, bool) {
		var id uint64
		switch sp := s.sp.(type) {
		case *direct:
			id = sp.idOf(c)
		case *exact:
			e.key = sp.pack(c, e.key[:0])
			slot, isThere := sp.find(&sp.shard[hash(e.key)%shards], hash(e.key), e.key)
			if !isThere {
				return 0, false
			}
			id = uint64(sp.shard[hash(e.key)%shards].slots[slot]-1)*shards + hash(e.key)%shards
		}
		return int(t.distance[id]) - 1, true
	}
}
