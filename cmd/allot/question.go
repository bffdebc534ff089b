// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"allot/model"
	"allot/topology"
)

// question is what every verb of the laboratory needs to know: which algorithm, on which network, with which
// parameters.
type question struct {
	algorithm *model.Algorithm
	topology  string
	variant   string
	start     string
	links     string
	faults    string
	values    map[string]*string
}

// addQuestion gives a command the flags of a question.
func addQuestion(cmd *cobra.Command, a *model.Algorithm) *question {
	q := &question{algorithm: a, values: map[string]*string{}}
	f := cmd.Flags()
	f.StringVar(&q.topology, "topology", a.Topology, "the network: a name ("+topologyForms()+") or a FILE.dot")
	f.StringVar(&q.variant, "variant", a.Variants[0], "one of "+strings.Join(allVariants(a), ", "))
	f.StringVar(&q.start, "start", a.Start, "clean or arbitrary")
	if a.Model == "message passing" {
		f.StringVar(&q.links, "links", a.Links, "what links do: fifo or unordered, lossy, duplicating, capacity=N, garbage=N (arbitrary messages per link at an arbitrary start), litter=N (in all)")
	}
	for _, p := range a.Parameters {
		text := p.Text
		if len(p.Words) > 0 {
			text += ": " + strings.Join(p.Words, ", ")
		}
		if p.Default == "n" {
			text += " (n is the number of processes)"
		}
		q.values[p.Name] = f.String(p.Name, p.Default, text)
	}
	return q
}

func topologyForms() string {
	var forms []string
	for _, info := range topology.Names() {
		forms = append(forms, info.Form)
	}
	return strings.Join(forms, ", ")
}

// given are the parameters by name.
func (q *question) given() map[string]string {
	values := map[string]string{}
	for name, v := range q.values {
		values[name] = *v
	}
	return values
}

// graph makes the network, from a name or from a file.
func (q *question) graph() (*model.Graph, error) {
	if !strings.HasSuffix(q.topology, ".dot") && !strings.HasSuffix(q.topology, ".gv") {
		return topology.Parse(q.topology)
	}
	text, err := os.ReadFile(q.topology)
	if err != nil {
		return nil, err
	}
	g, err := topology.ParseDOT(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", q.topology, err)
	}
	return g, nil
}

// resolve makes the network and checks everything but the algorithm's own conditions.
func (q *question) resolve() (model.Options, error) {
	g, err := q.graph()
	if err != nil {
		return model.Options{}, err
	}
	if q.start != "clean" && q.start != "arbitrary" {
		return model.Options{}, fmt.Errorf("--start %s: it must be clean or arbitrary", q.start)
	}
	if !g.IsConnected() {
		return model.Options{}, fmt.Errorf("--topology %s: the network falls apart; every process must be reachable from every other", q.topology)
	}
	links, err := model.ParseLinks(q.links)
	if err != nil {
		return model.Options{}, fmt.Errorf("--links: %w", err)
	}
	budget, err := model.ParseBudget(q.faults)
	if err != nil {
		return model.Options{}, fmt.Errorf("--faults: %w", err)
	}
	return q.algorithm.Resolve(model.Options{Graph: g, Variant: q.variant, Values: q.given(), Links: links, Budget: budget})
}

// make makes the instance.
func (q *question) make() (*model.Instance, error) {
	o, err := q.resolve()
	if err != nil {
		return nil, err
	}
	return q.algorithm.Make(o)
}

// header is what a recorded run says about where it comes from.
func (q *question) header(g *model.Graph) model.Header {
	return model.Header{
		Algorithm: q.algorithm.Name, Variant: q.variant, Topology: q.topology, Graph: string(topology.WriteDOT(g)),
		Values: q.given(), Links: q.links, Faults: q.faults, Loop: -1, Process: -1,
	}
}

// describe is one line that says what is asked.
func (q *question) describe(inst *model.Instance) string {
	words := []string{q.algorithm.Name, q.topology, fmt.Sprintf("n=%d", inst.System.Graph().Len())}
	for _, p := range q.algorithm.Parameters {
		value := *q.values[p.Name]
		if value == "n" && len(p.Words) == 0 {
			value = fmt.Sprint(inst.System.Graph().Len())
		}
		words = append(words, p.Name+"="+value)
	}
	if q.variant != q.algorithm.Variants[0] || len(q.algorithm.Variants) > 1 {
		words = append(words, "variant "+q.variant)
	}
	words = append(words, q.start+" start")
	if q.links != "" {
		words = append(words, "links "+q.links)
	}
	if q.faults != "" {
		words = append(words, "faults "+q.faults)
	}
	return strings.Join(words, " · ")
}

// writeRun saves a run.
func writeRun(path string, run *model.Run) (err error) {
	file, err := os.Create(path)
	if err != nil {
		return fileError(err)
	}
	defer func() {
		if closeErr := file.Close(); err == nil && closeErr != nil {
			err = fileError(closeErr)
		}
	}()
	if err := run.Write(file); err != nil {
		return fileError(err)
	}
	return nil
}
