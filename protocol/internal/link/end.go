// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package link

// Kind of a packet.
type Kind uint8

// The kinds. Hello says who is here, Data carries a load, Ack the number of the next load that is wanted.
const (
	Hello Kind = iota
	Data
	Ack
)

// Packet is what goes over the link.
type Packet[P any] struct {
	Kind Kind
	// From and To are the incarnations of the sender and, as far as it knows, of the receiver; To 0 is unknown.
	From, To int64
	Seq      int64 // Data: the number of the load. Ack: of the next one that is wanted.
	Load     P     // Data
}

// End is one end of a link. What must hold: the peer has delivered at least Base and at most Base+len(Buffer) loads of this
// session.
type End[P any] struct {
	Me     int64 // this incarnation
	Peer   int64 // the largest incarnation of the other end that was heard of, 0 if none
	Base   int64 // the number of the first load that is not acknowledged
	Buffer []P   // the loads from Base on
	Want   int64 // the number of the load that is delivered next
	Window int   // the most that Buffer holds

	flaw string // for mutants of the checker
}

// NewEnd is the end of a process that begins an incarnation, with a buffer for so many loads.
func NewEnd[P any](incarnation int64, window int) End[P] {
	return End[P]{Me: incarnation, Window: window}
}

// IsOpen tells whether there is a session.
func (e *End[P]) IsOpen() bool { return e.Peer > 0 }

// Send takes a load into the session. It tells whether there is a session and room in the buffer; Retry sends the load.
func (e *End[P]) Send(load P) bool {
	if !e.IsOpen() || len(e.Buffer) >= e.Window {
		return false
	}
	e.Buffer = append(e.Buffer, load)
	return true
}

// HasRetry tells whether Retry has something to send.
func (e *End[P]) HasRetry() bool { return !e.IsOpen() || len(e.Buffer) > 0 }

// Retry is what to send now, and again until it is answered: a hello while there is no session, otherwise what is not
// acknowledged.
func (e *End[P]) Retry() []Packet[P] {
	if !e.IsOpen() {
		return []Packet[P]{{Kind: Hello, From: e.Me}}
	}
	packets := make([]Packet[P], len(e.Buffer))
	for i, load := range e.Buffer {
		packets[i] = Packet[P]{Kind: Data, From: e.Me, To: e.Peer, Seq: e.Base + int64(i), Load: load}
	}
	return packets
}

// Outcome is what a packet leads to.
type Outcome[P any] struct {
	// IsEnded tells that the other end has restarted: the session is over, what was not acknowledged may or may not have
	// arrived and will not be sent again, and a new session begins.
	IsEnded  bool
	HasLoad  bool
	Load     P
	HasReply bool
	Reply    Packet[P]
}

// Receive handles a packet.
func (e *End[P]) Receive(p Packet[P]) Outcome[P] {
	var out Outcome[P]
	if p.From < e.Peer && e.flaw != "any-sender" {
		return out // from before the other end restarted
	}
	if p.From > e.Peer {
		out.IsEnded = e.IsOpen()
		e.begin(p.From)
	}
	if p.To != e.Me && e.flaw != "any-address" {
		// Meant for somebody who was here before, or sent before it was known who is here.
		if p.To < e.Me && e.flaw != "no-hello" {
			out.HasReply, out.Reply = true, Packet[P]{Kind: Hello, From: e.Me, To: e.Peer}
		}
		return out
	}
	switch p.Kind {
	case Data:
		if p.Seq == e.Want || p.Seq > e.Want && e.flaw == "any-number" {
			e.Want = p.Seq + 1
			out.HasLoad, out.Load = true, p.Load
		}
		out.HasReply, out.Reply = true, Packet[P]{Kind: Ack, From: e.Me, To: e.Peer, Seq: e.Want}
	case Ack:
		e.acknowledge(p.Seq)
	case Hello:
	}
	return out
}

// begin opens a session with another incarnation of the other end.
func (e *End[P]) begin(peer int64) {
	e.Peer = peer
	if e.flaw != "keep-buffer" {
		e.Buffer = nil
	}
	if e.flaw != "keep-numbers" {
		e.Base, e.Want = 0, 0
	}
}

// acknowledge lets go of the loads below a number. An acknowledgement that comes late is below Base already.
func (e *End[P]) acknowledge(want int64) {
	done := want - e.Base
	if e.flaw == "ack-any" && done <= 0 {
		done = 1
	}
	if done <= 0 || done > int64(len(e.Buffer)) {
		return
	}
	e.Buffer = append([]P(nil), e.Buffer[done:]...)
	e.Base += done
}
