// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package model

// Machine is an algorithm that passes messages: a pure function from a state and an event to a state and effects.
// S is the state of a process and M a message; messages are values that nobody changes once they are sent.
//
// The node drives the same methods: it decodes a message by VisitMessage, steps, and sends what is in the outbox.
type Machine[S, M any] interface {
	// Clean is the state in which p was meant to begin. Each call returns memory of its own.
	Clean(p int) S
	// Step changes the state of p as the event demands and puts what it sends into the outbox.
	Step(p int, s *S, e Event[M], out *Outbox[M])
	// Inputs appends what the user of p, or its timer, may do to it in this state. What no entry allows now is not
	// tried by checker and simulator.
	Inputs(p int, s *S, inputs []Input) []Input
	// VisitState and VisitMessage name the variables and their domains; see Fields.
	VisitState(p int, s *S, f *Fields)
	VisitMessage(m *M, f *Fields)
}

// Clocked is a Machine in which processes have clocks; HasClock tells which.
type Clocked interface {
	HasClock(p int) bool
}

// EventKind is what happens to a process.
type EventKind uint8

// The events of a Machine. LinkCut and LinkHealed tell a process about one of its channels.
const (
	Received EventKind = iota
	Given
	Ticked
	LinkCut
	LinkHealed
)

// Event is one thing that happens to one process.
type Event[M any] struct {
	Kind    EventKind
	Channel int   // Received, LinkCut, LinkHealed
	Message M     // Received
	Input   Input // Given
}

// Input is what the user of a process does, or a timer.
type Input struct {
	Name string
	Code int // 0..30, the number of the fairness class
	Arg  uint64
	// Environment marks inputs that nobody owes, such as a request.
	Environment bool
}

// Outbox collects what a step sends.
type Outbox[M any] struct {
	sent []sent[M]
}

type sent[M any] struct {
	channel int
	message M
}

// Send puts a message on a channel.
func (o *Outbox[M]) Send(channel int, m M) {
	o.sent = append(o.sent, sent[M]{channel, m})
}

// Each walks over what was sent, in order: for the node, which puts it on real links.
func (o *Outbox[M]) Each(do func(channel int, m M)) {
	for _, s := range o.sent {
		do(s.channel, s.message)
	}
}

// Reset empties the outbox and keeps its memory.
func (o *Outbox[M]) Reset() { o.sent = o.sent[:0] }

// body is a Machine with its types hidden: states and messages are bytes, or pointers inside an any.
type body interface {
	clean(p int) []byte
	step(p int, state []byte, e happening, message []byte) (next []byte, out []sentBytes)
	inputs(p int, state []byte) []Input
	state(p int, data []byte) any
	message(data []byte) any
	countStates(p int) uint64
	chooseState(p int, rank uint64) []byte
	countMessages() uint64
	chooseMessage(rank uint64) []byte
	variables(p int, state any) []Variable
	messageText(message any) string
	hasClock(p int) bool
	hasStamps() bool
	hasPrompt() bool
	isPrompt(message any) bool
	hasIgnored() bool
	isIgnored(p int, state, message any) bool
	stateStamps(p int, state any) []int64
	messageStamps(message any) []int64
	renameState(p int, data []byte, sorted []int64) []byte
	renameMessage(data []byte, sorted []int64) []byte
	newLive(g *Graph) store
}

type sentBytes struct {
	channel int
	message []byte
}

// happening is an Event whose message is a handle.
type happening struct {
	kind    EventKind
	channel int
	message uint64
	input   int // number in the list of Inputs
}

// typed hides the types of a Machine. It keeps no scratch memory, so that several goroutines may use it.
type typed[S, M any] struct {
	machine Machine[S, M]
}

func (t typed[S, M]) visitState(p int, s *S) func(*Fields) {
	return func(f *Fields) { t.machine.VisitState(p, s, f) }
}

func (t typed[S, M]) visitMessage(m *M) func(*Fields) {
	return func(f *Fields) { t.machine.VisitMessage(m, f) }
}

func (t typed[S, M]) encodeState(p int, s *S) []byte { return Encode(nil, t.visitState(p, s)) }

func (t typed[S, M]) encodeMessage(m *M) []byte { return Encode(nil, t.visitMessage(m)) }

func (t typed[S, M]) clean(p int) []byte {
	s := t.machine.Clean(p)
	return t.encodeState(p, &s)
}

// decodeState starts from the clean state, so that parts of a state that are constants need not be visited.
func (t typed[S, M]) decodeState(p int, data []byte) *S {
	s := t.machine.Clean(p)
	if err := Decode(data, t.visitState(p, &s)); err != nil {
		panic("model: a state that was encoded here cannot be decoded: " + err.Error())
	}
	return &s
}

func (t typed[S, M]) decodeMessage(data []byte) *M {
	var m M
	if err := Decode(data, t.visitMessage(&m)); err != nil {
		panic("model: a message that was encoded here cannot be decoded: " + err.Error())
	}
	return &m
}

func (t typed[S, M]) step(p int, state []byte, e happening, message []byte) ([]byte, []sentBytes) {
	s := t.decodeState(p, state)
	event := Event[M]{Kind: e.kind, Channel: e.channel}
	switch e.kind {
	case Received:
		event.Message = *t.decodeMessage(message)
	case Given:
		event.Input = t.machine.Inputs(p, s, nil)[e.input]
	case Ticked, LinkCut, LinkHealed:
	}
	var out Outbox[M]
	t.machine.Step(p, s, event, &out)
	sends := make([]sentBytes, len(out.sent))
	for i := range out.sent {
		sends[i] = sentBytes{out.sent[i].channel, t.encodeMessage(&out.sent[i].message)}
	}
	return t.encodeState(p, s), sends
}

func (t typed[S, M]) inputs(p int, state []byte) []Input {
	return t.machine.Inputs(p, t.decodeState(p, state), nil)
}

func (t typed[S, M]) state(p int, data []byte) any { return t.decodeState(p, data) }

func (t typed[S, M]) message(data []byte) any { return t.decodeMessage(data) }

func (t typed[S, M]) countStates(p int) uint64 {
	s := t.machine.Clean(p)
	return Count(t.visitState(p, &s))
}

func (t typed[S, M]) chosenState(p int, rank uint64) *S {
	s := t.machine.Clean(p)
	Choose(rank, t.visitState(p, &s))
	return &s
}

func (t typed[S, M]) chooseState(p int, rank uint64) []byte {
	return t.encodeState(p, t.chosenState(p, rank))
}

func (t typed[S, M]) countMessages() uint64 {
	var m M
	return Count(t.visitMessage(&m))
}

func (t typed[S, M]) chosenMessage(rank uint64) *M {
	var m M
	Choose(rank, t.visitMessage(&m))
	return &m
}

func (t typed[S, M]) chooseMessage(rank uint64) []byte { return t.encodeMessage(t.chosenMessage(rank)) }

func (t typed[S, M]) variables(p int, state any) []Variable {
	return Describe(t.visitState(p, state.(*S)))
}

// messageText writes a message as its first variable, usually its kind, and the rest in brackets.
func (t typed[S, M]) messageText(message any) string {
	vs := Describe(t.visitMessage(message.(*M)))
	if len(vs) == 0 {
		return "message"
	}
	text := vs[0].Value
	for i, v := range vs[1:] {
		if i == 0 {
			text += "("
		} else {
			text += ", "
		}
		text += v.Name + " " + v.Value
	}
	if len(vs) > 1 {
		text += ")"
	}
	return text
}

func (t typed[S, M]) hasClock(p int) bool {
	c, ok := t.machine.(Clocked)
	return ok && c.HasClock(p)
}
