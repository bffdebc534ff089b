// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package reign

import "allot/model"

// state of a process in the laboratory: of a node, or of the world.
type state struct {
	node   Node
	life   int32
	isDead bool
	// isStopped: ticks are counted in slept, and told when it goes on.
	isStopped bool
	slept     int32
	floor     int64 // the generation of the store when this life began
	hasFallen bool  // its generation has become smaller

	world worldState
}

// worldState is what only the world has.
type worldState struct {
	record   Record
	revision int64
	sites    []site
	late     []late  // writes that may reach the store though their nodes were told that they failed
	ahead    []int32 // by node: ticks that its clock is ahead of the slowest
	budget   budget
	isBroken bool // a generation was not the one after the last, or got another root
}

// site is what is under way from and to a node.
type site struct {
	isDead, isStopped, isLeaving bool
	life                         int32
	isTold                       bool // the news of the present record is under way, or has arrived
	write                        late
	isWriting                    bool
	answer                       answer
	answered                     int64 // the revision
	news                         late
	hasNews                      bool
	beat                         message
	hasBeat                      bool
}

// late is a record on its way.
type late struct {
	record   Record
	revision int64
}

type answer uint8

const (
	none answer = iota
	done
	failed
)

// message of the laboratory. All happen within the step that sends them.
type message struct {
	kind      kind
	record    Record
	revision  int64
	who, life int32
	isLeaving bool
	isGood    bool
}

type kind uint8

const (
	tick    kind = iota // the world to a node: its clock ticks
	write               // a node to the world
	written             // the answer
	news                // the world to a node: what the store holds
	beat                // a node to the world, and on to the root
	die                 // the world to a node: it crashes
	rise                // it comes back
	stop                // it stops
	goOn                // it goes on
	leave               // it leaves
	renew               // it asks for a new generation
)

var kindNames = []string{"tick", "write", "written", "news", "beat", "die", "rise", "stop", "go on", "leave", "renew"}

// HasPrompt and IsPrompt: see Algorithm.
func (m *lab) HasPrompt() bool        { return true }
func (m *lab) IsPrompt(*message) bool { return true }

// HasStamps: revisions matter by their order only, and so do generations where they have no bound. What a node with an old revision
// asks for, one more than an old generation, is refused whatever its number.
func (m *lab) HasStamps() bool { return true }

// Clean is the start: nobody knows anything, and the store is empty.
func (m *lab) Clean(p int) state {
	if p == m.world() {
		return state{world: worldState{sites: make([]site, m.nodes), ahead: make([]int32, m.nodes), budget: m.budget}}
	}
	return state{node: Node{rule: m.rule, options: m.options, self: m.member(p, 0)}}
}

const (
	mostStamp       = 1 << 40
	generationClass = 1
)

func (m *lab) visitGeneration(f *model.Fields, name string, v *int64) {
	if m.generations == 0 {
		model.StampIn(f, name, v, mostStamp, generationClass)
	} else {
		model.Int(f, name, v, 0, m.generations+1)
	}
}

func (m *lab) visitMember(f *model.Fields, name string, v *Member) {
	who, life := int32(number(v.Name)), int32(v.Life)
	model.Int(f, name, &who, 0, int32(m.nodes-1))
	model.Int(f, name+".life", &life, 0, m.budget.restarts)
	v.Name, v.Life = m.member(int(who), life).Name, uint64(life)
}

func (m *lab) visitRecord(f *model.Fields, name string, r *Record) {
	m.visitGeneration(f, name+".generation", &r.Generation)
	model.List(f, name, &r.Members, m.nodes, m.visitMember)
	if m.budget.leaves > 0 {
		model.Bool(f, name+".rest", &r.Rest)
	}
	model.Bool(f, name+".fresh", &r.Fresh)
}

func (m *lab) visitLate(f *model.Fields, name string, l *late) {
	m.visitRecord(f, name, &l.record)
	model.Stamp(f, name+".revision", &l.revision, mostStamp)
}

// VisitState names the variables and their domains. They are told apart from those of a fault-free memory nowhere: there are no faults of
// memory here.
func (m *lab) VisitState(p int, s *state, f *model.Fields) {
	if p == m.world() {
		m.visitWorld(&s.world, f)
		return
	}
	n := &s.node
	model.Bool(f, "dead", &s.isDead)
	model.Int(f, "life", &s.life, 0, m.budget.restarts)
	n.self = m.member(p, s.life)
	if m.budget.stops > 0 {
		model.Bool(f, "stopped", &s.isStopped)
		model.Int(f, "slept", &s.slept, 0, m.most)
	}
	m.visitGeneration(f, "floor", &s.floor)
	model.Bool(f, "fallen", &s.hasFallen)
	model.Bool(f, "known", &n.isKnown)
	m.visitRecord(f, "record", &n.record)
	revision := int64(n.revision)
	model.Stamp(f, "revision", &revision, mostStamp)
	n.revision = uint64(revision)
	model.Int(f, "reign", &n.reign, 0, m.options.Reign)
	model.Int(f, "quiet", &n.quiet, 0, m.most)
	model.Int(f, "touch", &n.touch, 0, m.options.Touch)
	if m.options.Touch >= 4 {
		model.Int(f, "pause", &n.pause, 0, m.options.Touch/4)
	}
	model.Bool(f, "writing", &n.isWriting)
	if n.isWriting {
		m.visitRecord(f, "written", &n.written)
		model.Int(f, "ago", &n.ago, 0, m.most)
	}
	model.List(f, "heard", &n.heard, m.nodes, func(f *model.Fields, name string, h *heard) {
		m.visitMember(f, name, &h.Member)
		model.Int(f, name+".ago", &h.ago, 0, m.most)
		model.Bool(f, name+".leaving", &h.isLeaving)
	})
	if m.budget.leaves > 0 {
		model.Bool(f, "leaving", &n.isLeaving)
		model.Bool(f, "rest", &n.isAtRest)
		m.visitGeneration(f, "restIn", &n.restIn)
	}
	if m.budget.renewals > 0 {
		model.Bool(f, "stuck", &n.isStuck)
	}
}

func (m *lab) visitWorld(w *worldState, f *model.Fields) {
	m.visitRecord(f, "record", &w.record)
	model.Stamp(f, "revision", &w.revision, mostStamp)
	for i := range w.sites {
		m.visitSite(&w.sites[i], f)
	}
	model.List(f, "late", &w.late, int(m.budget.losses+m.budget.crashes), m.visitLate)
	for i := range w.ahead {
		model.Int(f, "ahead", &w.ahead[i], 0, m.skew)
	}
	b, most := &w.budget, &m.budget
	model.Ghost(f, "losses", &b.losses, 0, most.losses)
	model.Ghost(f, "crashes", &b.crashes, 0, most.crashes)
	model.Ghost(f, "restarts", &b.restarts, 0, most.restarts)
	model.Ghost(f, "stops", &b.stops, 0, most.stops)
	model.Ghost(f, "leaves", &b.leaves, 0, most.leaves)
	model.Ghost(f, "renewals", &b.renewals, 0, most.renewals)
	model.Bool(f, "broken", &w.isBroken)
}

func (m *lab) visitSite(t *site, f *model.Fields) {
	model.Bool(f, "dead", &t.isDead)
	model.Bool(f, "stopped", &t.isStopped)
	model.Bool(f, "leaving", &t.isLeaving)
	model.Int(f, "life", &t.life, 0, m.budget.restarts)
	model.Bool(f, "told", &t.isTold)
	if !m.isSlow {
		return
	}
	model.Bool(f, "writing", &t.isWriting)
	if t.isWriting {
		m.visitLate(f, "write", &t.write)
	}
	model.Enum(f, "answer", &t.answer, "none", "done", "failed")
	if t.answer == done {
		model.Stamp(f, "answered", &t.answered, mostStamp)
	}
	model.Bool(f, "has news", &t.hasNews)
	if t.hasNews {
		m.visitLate(f, "news", &t.news)
	}
	model.Bool(f, "has beat", &t.hasBeat)
	if t.hasBeat {
		m.visitBeat(f, &t.beat)
	}
}

func (m *lab) visitBeat(f *model.Fields, b *message) {
	model.Int(f, "who", &b.who, 0, int32(m.nodes-1))
	model.Int(f, "life", &b.life, 0, m.budget.restarts)
	model.Bool(f, "leaving", &b.isLeaving)
}

// VisitMessage names the fields.
func (m *lab) VisitMessage(msg *message, f *model.Fields) {
	model.Union(f, "kind", &msg.kind, kindNames, func(f *model.Fields, k kind) {
		switch k {
		case write, news:
			m.visitRecord(f, "record", &msg.record)
			model.Stamp(f, "revision", &msg.revision, mostStamp)
		case written:
			model.Stamp(f, "revision", &msg.revision, mostStamp)
			model.Bool(f, "good", &msg.isGood)
		case beat:
			m.visitBeat(f, msg)
		case rise:
			m.visitGeneration(f, "generation", &msg.record.Generation)
			model.Int(f, "life", &msg.life, 0, m.budget.restarts)
		case leave:
			model.Bool(f, "rest", &msg.isGood)
		case tick, die, stop, goOn, renew:
		}
	})
}
