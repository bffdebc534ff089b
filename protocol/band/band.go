// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package band

import (
	"fmt"
	"strconv"
	"strings"

	"allot/model"
	"allot/protocol/internal/coterie"
)

// Algorithm is the entry in the list of the laboratory.
var Algorithm = model.Algorithm{
	Name:     "band",
	Summary:  "mutual inclusion, k-mutual exclusion and the (l,k)-critical section over quorums",
	Source:   "Kamei and Kakugawa, Asynchronous message-passing distributed algorithm for the global critical section problem, 2019",
	Model:    "message passing",
	Topology: "complete:3",
	Links:    "fifo",
	Start:    "clean",
	Variants: []string{"corrected", "lean", "printed", "failstop", "tolerant"},
	Mutants:  mutants,
	Parameters: []model.Parameter{
		{Name: "object", Text: "what is asked of it", Default: "gcs", Words: []string{"mutex", "mutin", "kmutex", "gcs"}},
		{Name: "n", Text: "processes; it wins over the topology", Default: "n", Min: 1, Max: coterie.MaxProcesses},
		{Name: "l", Text: "the floor, of mutin and gcs", Default: "1", Min: 0, Max: coterie.MaxProcesses},
		{Name: "k", Text: "the ceiling, of kmutex and gcs", Default: "2", Min: 1, Max: coterie.MaxProcesses},
		{Name: "coterie", Text: "the quorums: " + coterie.Forms, Default: "majority", IsText: true},
		{Name: "inside", Text: "who is inside at the start: least, most, none, or processes as 0+2", Default: "least", IsText: true},
		{Name: "times", Text: "requests are made until the clocks show this; 0: no clocks, the order is by number, and requests have no end",
			Default: "1", Min: 0, Max: 1 << 30},
		{Name: "crashes", Text: "how often a process may crash and restart without its memory; for the variants failstop and tolerant", Default: "0", Min: 0, Max: 100},
		{Name: "crashers", Text: "how many processes may crash, from 0 on", Default: "n", Min: 0, Max: coterie.MaxProcesses},
		{Name: "suspicions", Text: "tolerant: how often an arbiter may suspect somebody, rightly or not, in a check", Default: "0", Min: 0, Max: 100},
		{Name: "clocks", Text: "tolerant: 1 if suspicion is by clocks, for simulations", Default: "0", Min: 0, Max: 1},
		{Name: "expiry", Text: "tolerant: ticks after which an arbiter strikes off whom it has not heard of", Default: "30", Min: 3, Max: 200},
		{Name: "step-in", Text: "tolerant: 1 if whoever is outside enters when too few are inside", Default: "0", Min: 0, Max: 1},
		{Name: "withdraw", Text: "tolerant: how often a process that waits may give up", Default: "0", Min: 0, Max: 100},
		{Name: "changes", Text: "tolerant: how often members and quorums may change", Default: "0", Min: 0, Max: 100},
		{Name: "burials", Text: "tolerant: 1 if who is down may be given up for good", Default: "0", Min: 0, Max: 1},
		{Name: "members", Text: "tolerant: members of the first generation, from 0 on; 0: all", Default: "0", Min: 0, Max: coterie.MaxProcesses},
		{Name: "next-members", Text: "tolerant: members of the next generation; 0: all", Default: "0", Min: 0, Max: coterie.MaxProcesses},
		{Name: "next", Text: "tolerant: the quorums of the next generation", Default: "majority", IsText: true},
	},
	New: newInstance,
}

// machine is the algorithm with its parameters.
type machine struct {
	n       int
	l, k    int
	times   int32
	start   coterie.Set
	quorums [][]int
	askers  []coterie.Set
	// quorumSets are the quorums as sets.
	quorumSets []coterie.Set
	graph      *model.Graph
	channels   [][]int32 // by process and neighbour
	has        [2]bool   // which gadgets there are
	need       [2]int    // how many must be registered
	isPlain    bool      // mutual exclusion alone

	isFailStop        bool
	isTolerant        bool // the parameters of the variant tolerant, whose machine is tolerant
	crashes           int8
	crashers          int
	isPrinted, isLean bool
	tellsDisplaced    bool // the correction of the mutual exclusion
	tellsOnce         bool // the error of the register
	mutant            string
}

func newInstance(o model.Options) (*model.Instance, error) {
	m := &machine{n: o.Int("n"), times: int32(o.Int("times"))}
	m.setVariant(o.Variant)
	m.crashers = o.Int("crashers")
	if m.crashes = int8(o.Int("crashes")); m.crashes > 0 && !m.isFailStop && !m.isTolerant {
		return nil, fmt.Errorf("crashes %d: only the variants failstop and tolerant survive them", m.crashes)
	}
	if err := m.setBounds(o.Values["object"], o.Int("l"), o.Int("k")); err != nil {
		return nil, err
	}
	if err := m.setStart(o.Values["inside"]); err != nil {
		return nil, err
	}
	if m.isTolerant {
		return newTolerant(m, o)
	}
	c, err := coterie.Parse(o.Values["coterie"], m.n)
	if err != nil {
		return nil, err
	}
	m.quorums = make([][]int, m.n)
	m.askers, m.quorumSets = make([]coterie.Set, m.n), make([]coterie.Set, m.n)
	for p := range m.n {
		m.askers[p], m.quorumSets[p] = coterie.NewSet(m.n), coterie.NewSet(m.n)
	}
	for p := range m.n {
		m.quorums[p] = c.Quorum(p)
		for _, j := range m.quorums[p] {
			m.askers[j].Add(p)
			m.quorumSets[p].Add(j)
		}
	}
	if err := m.setGraph(); err != nil {
		return nil, err
	}
	return m.instance(o), nil
}

// setBounds fills in the floor, the ceiling and the gadgets that keep them. A floor of 0 and a ceiling of n need none.
func (m *machine) setBounds(object string, l, k int) error {
	switch object {
	case "mutex":
		if m.isFailStop || m.isTolerant {
			return fmt.Errorf("object mutex: the variants failstop and tolerant are made for mutin, kmutex and gcs")
		}
		m.l, m.k, m.isPlain = 0, 1, true
		m.has[ceiling] = true
		return nil
	case "mutin":
		m.l, m.k = l, m.n
	case "kmutex":
		m.l, m.k = 0, k
	case "gcs":
		m.l, m.k = l, k
	}
	switch {
	case m.k > m.n:
		return fmt.Errorf("the ceiling k = %d is above the number of processes %d", m.k, m.n)
	case m.l >= m.k:
		return fmt.Errorf("the floor l = %d is not below the ceiling k = %d: whoever is inside could never be replaced", m.l, m.k)
	}
	m.has[floor] = m.l > 0 || m.isPrinted && object != "kmutex"
	m.has[ceiling] = m.k < m.n || m.isPrinted && object != "mutin"
	m.need = [2]int{m.l + 1, m.n - m.k + 1}
	if m.mutant == "one-less" {
		m.need = [2]int{m.l, m.n - m.k}
	}
	return nil
}

// setStart reads who is inside at the start, and refuses what is not safe.
func (m *machine) setStart(inside string) error {
	m.start = coterie.NewSet(m.n)
	count := 0
	switch inside {
	case "least":
		count = m.l
	case "most":
		count = m.k
	case "none", "":
	default:
		for part := range strings.SplitSeq(inside, "+") {
			p, err := strconv.Atoi(part)
			if err != nil || p < 0 || p >= m.n {
				return fmt.Errorf("inside %s: %.40q is not a process from 0 to %d; write least, most, none, or processes as 0+2", inside, part, m.n-1)
			}
			m.start.Add(p)
		}
	}
	for p := range count {
		m.start.Add(p)
	}
	got := m.start.Len()
	switch {
	case m.isPlain && got > 0:
		return fmt.Errorf("inside %s: mutual exclusion begins with nobody inside", inside)
	case got < m.l:
		return fmt.Errorf("inside %s: %d inside at the start is below the floor l = %d", inside, got, m.l)
	case got > m.k:
		return fmt.Errorf("inside %s: %d inside at the start is above the ceiling k = %d", inside, got, m.k)
	}
	return nil
}

// setGraph joins whoever has to do with one another. The paper's network is complete; a link that would never carry a
// message is left out.
func (m *machine) setGraph() error {
	var edges [][2]int
	for p := range m.n {
		for q := p + 1; q < m.n; q++ {
			if m.askers[q].Has(p) || m.askers[p].Has(q) || m.isFailStop {
				edges = append(edges, [2]int{p, q})
			}
		}
	}
	g, err := model.NewGraph(m.n, edges)
	if err != nil {
		return err
	}
	m.graph = g
	m.channels = make([][]int32, m.n)
	for p := range m.n {
		m.channels[p] = make([]int32, m.n)
		for channel, q := range g.Neighbours(p) {
			m.channels[p][q] = int32(channel)
		}
	}
	return nil
}
