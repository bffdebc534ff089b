// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"allot/model"
)

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// story is a run told to a person: what happened at each step, and what changed.
type story struct {
	Start []string    `json:"start"`
	Steps []storyStep `json:"steps"`
	// Loop is the number of the step from which on the rest can be repeated for ever, or -1.
	Loop int    `json:"loop"`
	Why  string `json:"why,omitempty"`
}

type storyStep struct {
	Moves   []string `json:"moves"`
	Changes []string `json:"changes,omitempty"`
}

// mostSteps bounds a printed story; the file holds all of it.
const mostSteps = 10_000

// tell plays a run and puts it into words. The run must be one of the instance.
func tell(inst *model.Instance, run *model.Run) (*story, error) {
	sys := inst.System
	c, err := model.StartAt(sys, run.Start)
	if err != nil {
		return nil, err
	}
	st := &story{Loop: run.Loop, Why: run.Why}
	shown := make([][]model.Variable, sys.Sites())
	for site := range sys.Sites() {
		shown[site] = sys.Variables(c, site)
		if text := describeSite(sys, site, shown[site]); text != "" {
			st.Start = append(st.Start, text)
		}
	}
	var buffer model.Buffer
	for i, step := range run.Steps[:min(len(run.Steps), mostSteps)] {
		var told storyStep
		for _, m := range step {
			if err := sys.Check(c, m); err != nil {
				return nil, fmt.Errorf("step %d: %w", i+1, err)
			}
			told.Moves = append(told.Moves, sys.Describe(c, m))
		}
		sys.Apply(c, step, &buffer)
		touched := slices.Clone(buffer.Touched)
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

func siteName(sys model.System, site int) string {
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

func describeSite(sys model.System, site int, vs []model.Variable) string {
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
func changes(sys model.System, site int, before, now []model.Variable) []string {
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

// print writes the story for a person.
func (st *story) print(w io.Writer) {
	fmt.Fprintln(w, "  start")
	for i, line := range st.Start {
		if i == 24 {
			fmt.Fprintf(w, "        … and %d more\n", len(st.Start)-i)
			break
		}
		fmt.Fprintf(w, "        %s\n", line)
	}
	for i, s := range st.Steps {
		if i == st.Loop {
			fmt.Fprintln(w, "  from here on, for ever:")
		}
		fmt.Fprintf(w, "  %4d  %s", i+1, strings.Join(s.Moves, "; "))
		if len(s.Changes) > 0 {
			fmt.Fprintf(w, "   (%s)", strings.Join(s.Changes, ", "))
		}
		fmt.Fprintln(w)
	}
	if st.Loop == len(st.Steps) {
		fmt.Fprintln(w, "  and here the run may end")
	}
	if st.Why != "" {
		fmt.Fprintf(w, "  %s\n", st.Why)
	}
}
