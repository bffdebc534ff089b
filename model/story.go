// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"slices"
	"strings"
)

// Story is a run told to a person: what happened at each step, and what changed.
type Story struct {
	Start []string    `json:"start"`
	Steps []StoryStep `json:"steps"`
	// Loop is the number of the step from which on the rest can be repeated for ever, or -1.
	Loop int    `json:"loop"`
	Why  string `json:"why,omitempty"`
}

// StoryStep is one step of a Story.
type StoryStep struct {
	Moves   []string `json:"moves"`
	Changes []string `json:"changes,omitempty"`
}

// MaxStorySteps bounds a story; the run holds all of it.
const MaxStorySteps = 10_000

// Tell plays a run of an instance and puts it into words.
func Tell(inst *Instance, run *Run) (*Story, error) {
	sys := inst.System
	c, err := StartAt(sys, run.Start)
	if err != nil {
		return nil, err
	}
	st := &Story{Loop: run.Loop, Why: run.Why}
	shown := make([][]Variable, sys.Sites())
	for site := range sys.Sites() {
		shown[site] = sys.Variables(c, site)
		if text := describeSite(sys, site, shown[site]); text != "" {
			st.Start = append(st.Start, text)
		}
	}
	var buffer Buffer
	for i, step := range run.Steps[:min(len(run.Steps), MaxStorySteps)] {
		var told StoryStep
		for _, m := range step {
			if err := sys.Check(c, m); err != nil {
				return nil, fmt.Errorf("step %d: %w", i+1, err)
			}
			told.Moves = append(told.Moves, sys.Describe(c, m))
		}
		sys.Apply(c, step, &buffer)
		touched := append(slices.Clone(buffer.Touched), 0) // registers are shown with process 0, whoever writes them
		slices.Sort(touched)
		for _, site := range slices.Compact(touched) {
			now := sys.Variables(c, int(site))
			told.Changes = append(told.Changes, changes(sys, int(site), shown[site], now)...)
			shown[site] = now
		}
		st.Steps = append(st.Steps, told)
	}
	return st, nil
}

func siteName(sys System, site int) string {
	s := sys.Site(site)
	if s.Link >= 0 {
		from, to := sys.Graph().Ends(s.Link)
		return sys.Graph().Name(from) + "→" + sys.Graph().Name(to)
	}
	if s.Process >= 0 {
		return sys.Graph().Name(s.Process)
	}
	return "adversary"
}

func describeSite(sys System, site int, vs []Variable) string {
	if len(vs) == 0 {
		return ""
	}
	words := make([]string, len(vs))
	for i, v := range vs {
		words[i] = v.Name + "=" + v.Value
	}
	return siteName(sys, site) + ": " + strings.Join(words, " ")
}

// changes lists the variables of a site that differ. The messages of a link are shown as a whole.
func changes(sys System, site int, before, now []Variable) []string {
	name := siteName(sys, site)
	if sys.Site(site).Link >= 0 {
		if slices.Equal(before, now) {
			return nil
		}
		texts := make([]string, len(now))
		for i, v := range now {
			texts[i] = v.Value
		}
		return []string{fmt.Sprintf("%s: [%s]", name, strings.Join(texts, " "))}
	}
	old := map[string]string{}
	for _, v := range before {
		old[v.Name] = v.Value
	}
	var list []string
	for _, v := range now {
		if was, ok := old[v.Name]; !ok || was != v.Value {
			list = append(list, fmt.Sprintf("%s.%s: %s→%s", name, v.Name, was, v.Value))
		}
		delete(old, v.Name)
	}
	for _, v := range before {
		if was, ok := old[v.Name]; ok {
			list = append(list, fmt.Sprintf("%s.%s: %s→", name, v.Name, was))
		}
	}
	return list
}

// String is the story for a person to read.
func (st *Story) String() string {
	var b strings.Builder
	b.WriteString("  start\n")
	for i, line := range st.Start {
		if i == 24 {
			fmt.Fprintf(&b, "        … and %d more\n", len(st.Start)-i)
			break
		}
		fmt.Fprintf(&b, "        %s\n", line)
	}
	for i, s := range st.Steps {
		if i == st.Loop {
			b.WriteString("  from here on, for ever:\n")
		}
		fmt.Fprintf(&b, "  %4d  %s", i+1, strings.Join(s.Moves, "; "))
		if len(s.Changes) > 0 {
			fmt.Fprintf(&b, "   (%s)", strings.Join(s.Changes, ", "))
		}
		b.WriteByte('\n')
	}
	if st.Loop == len(st.Steps) {
		b.WriteString("  and here the run may end\n")
	}
	if st.Why != "" {
		fmt.Fprintf(&b, "  %s\n", st.Why)
	}
	return b.String()
}
