// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package claim

// HasPrompt tells that messages for which it does not matter when they arrive do so at once (--delivery prompt).
func (m *stamps) HasPrompt() bool { return m.isPrompt }

// IsPrompt tells which. What a resource answers changes its client alone.
func (m *stamps) IsPrompt(msg *message) bool {
	switch msg.kind {
	case ended:
		return true
	case offer, ready, recall:
		return !m.canCancel && m.losses == 0
	case request: // where the next stamp is offered at once, it matters when
		return m.isAny && !m.canCancel && !m.canVanish && m.losses == 0
	case final:
		return msg.isSame && !m.canCancel && !m.canVanish && m.losses == 0
	case leave, expired, lost, present, ask, back:
	}
	return false
}

// HasIgnored tells that messages at which nobody will look any more are gone at once (--delivery prompt).
func (m *stamps) HasIgnored() bool { return m.isPrompt && (m.canVanish || m.losses > 0) }

// IsIgnored tells which: those to a client whose session has ended, and those to a resource from before it lost its queue.
func (m *stamps) IsIgnored(p int, s *state, msg *message) bool {
	if m.isClient(p) {
		return s.phase == gone
	}
	return msg.kind != expired && msg.epoch < s.epoch
}

// HasPrompt is the same for the paper's protocol.
func (m *paper) HasPrompt() bool { return m.isPrompt }

// IsPrompt tells which messages arrive at once.
func (m *paper) IsPrompt(msg *paperMessage) bool {
	switch msg.kind {
	case pAsk:
		return msg.isTwo
	case pAllowed, pEnd, pDone:
		return true
	case pStrong, pNew, pDoneToo, pSeek, pConfirm, pKill, pKilled, pOver, pToken:
	}
	return false
}
