// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package claim

import "allot/model"

// state of a client or of a resource under the protocol by stamps.
type state struct {
	user // of a client

	// Of a client: the resources from which an offer, a ready and an ended have come, and those whose ended says that
	// an offer or a ready was sent, which must be awaited: links keep no order, and what comes after the end would be
	// taken for an answer to the next claim.
	offered, readied, ended set
	owesOffer, owesReady    set
	// stamp is the largest offer so far, and once it is final the stamp of the claim.
	stamp   int64
	isFinal bool
	// tops are the resources that offered this very stamp, firsts those of them that have nobody ahead.
	tops, firsts set
	epochs       []uint8 // by resource: the last one heard of
	fences       []int64 // by resource: of the last ready

	// Of a client, where there are loans: the resources that were asked for a loan; those that want to be given back, where
	// that has not been done; those that were; and for each resource whether its readies so far are an odd number.
	asked, recalled, back, turns set
	lent                         uint8 // how often it has given something back that was its own
	owesRecall                   set

	// Of a resource.
	queue []entry // by stamp and client; those without a stamp come first
	early set     // the clients that asked for a loan before they said what they had in the queue that was lost
	fence int64   // of the last ready
	epoch uint8
	// unheard are the clients that have not said yet what they had here before the queue was lost.
	unheard set
	losses  int // how often it may still lose the queue
}

// entry is one client in the queue of a resource.
type entry struct {
	client int32
	stage  stage
	stamp  int64
	// Of a client that has left: what it was, and the kinds of the messages that it sent before and that have not come.
	was    stage
	awaits set
	loan
}

// stage of a client at a resource.
type stage uint8

const (
	absent    stage = iota
	fresh           // the request has come and no stamp was offered yet
	weak            // a stamp was offered
	strong          // the stamp is final
	told            // it is the first, and was told so
	cancelled       // it has left before all that it sent had come
	over            // its session has ended, and what may still come from it is void
)

var stageNames = []string{"absent", "fresh", "weak", "strong", "told", "cancelled", "over"}

func (st *state) visit(p int, f *model.Fields, s *stamps) {
	if s.isClient(p) {
		st.visitClient(p, f, s)
		return
	}
	model.List(f, "queue", &st.queue, s.clients, func(f *model.Fields, name string, e *entry) {
		model.Int(f, name+".client", &e.client, 0, int32(s.clients-1))
		model.Enum(f, name+".stage", &e.stage, stageNames...)
		s.visitStamp(f, name+".stamp", &e.stamp, e.client)
		if e.stage == cancelled {
			model.Enum(f, name+".was", &e.was, stageNames...)
			visitSet(f, name+".awaits", &e.awaits, len(kindNames))
		}
		if s.loans > 0 {
			e.visit(f, name, s)
		}
	})
	s.visitFence(f, &st.fence)
	if s.losses > 0 {
		model.Int(f, "epoch", &st.epoch, 0, uint8(s.losses))
		visitSet(f, "unheard", &st.unheard, s.clients)
		if s.loans > 0 {
			visitSet(f, "early", &st.early, s.clients)
		}
		model.Ghost(f, "losses left", &st.losses, 0, s.losses)
	}
}

func (st *state) visitClient(p int, f *model.Fields, s *stamps) {
	st.user.visit(f, &s.shape)
	visitSet(f, "offered", &st.offered, s.resources)
	visitSet(f, "ready", &st.readied, s.resources)
	s.visitStamp(f, "stamp", &st.stamp, int32(p))
	model.Bool(f, "is final", &st.isFinal)
	visitSet(f, "first", &st.firsts, s.resources)
	if s.isPrompt {
		visitSet(f, "top", &st.tops, s.resources)
	}
	if s.canCancel || st.phase == closing {
		visitSet(f, "ended", &st.ended, s.resources)
		visitSet(f, "owes offer", &st.owesOffer, s.resources)
		visitSet(f, "owes ready", &st.owesReady, s.resources)
	}
	if s.loans > 0 {
		model.Int(f, "lent", &st.lent, 0, uint8(s.loans))
		visitSet(f, "asked", &st.asked, s.resources)
		visitSet(f, "recalled", &st.recalled, s.resources)
		visitSet(f, "given back", &st.back, s.resources)
		if s.canCancel {
			visitSet(f, "turns", &st.turns, s.resources)
		}
		visitSet(f, "owes recall", &st.owesRecall, s.resources)
	}
	for r := range s.resources {
		if s.losses > 0 {
			model.Int(f, "epoch", &st.epochs[r], 0, uint8(s.losses))
		}
		if s.fences > 1 {
			s.visitFence(f, &st.fences[r])
		}
	}
}

// visitStamp visits the stamp of a client: where any may be offered only their order matters, otherwise their values do.
func (s *stamps) visitStamp(f *model.Fields, name string, v *int64, client int32) {
	if s.isAny {
		model.StampOf(f, name, v, maxStamp, int(client))
		return
	}
	model.Int(f, name, v, 0, maxStamp)
}

func (s *stamps) visitFence(f *model.Fields, v *int64) {
	if s.fences > 1 {
		model.Int(f, "fence", v, 0, int64(s.fences)-1)
	}
}

const maxStamp = 1 << 40

// find is the place of a client in the queue, or -1.
func (st *state) find(client int) int {
	for i := range st.queue {
		if int(st.queue[i].client) == client {
			return i
		}
	}
	return -1
}

// put places an entry where it belongs; remove takes the one at a place out.
func (st *state) put(e entry) {
	i := len(st.queue)
	for i > 0 && e.isBefore(st.queue[i-1]) {
		i--
	}
	st.queue = append(st.queue, entry{})
	copy(st.queue[i+1:], st.queue[i:])
	st.queue[i] = e
}

func (st *state) remove(i int) { st.queue = append(st.queue[:i], st.queue[i+1:]...) }

// isBefore is the order of all queues: by stamp, and where two claims came to the same one, by client.
func (e entry) isBefore(o entry) bool {
	return e.stamp < o.stamp || e.stamp == o.stamp && e.client < o.client
}

// top is the largest stamp in the queue. It is all the clock that a resource needs: a stamp has to be above those of
// the claims that are there, and of nobody else.
func (st *state) top() int64 {
	if len(st.queue) == 0 {
		return 0
	}
	return st.queue[len(st.queue)-1].stamp
}
