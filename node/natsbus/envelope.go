// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package natsbus

import (
	"encoding/binary"
	"errors"
)

// An envelope carries frames from one node to another:
//
//	version   1 byte, envelopeVersion
//	name      1 byte of length, then the sender's name
//	life      8 bytes, drawn at random when the sender started, not 0
//	first     8 bytes, the number of the first frame: frames to one node are numbered from 1 in each life
//	frames    each with its length as a uvarint; at least one, to the end of the message
//
// The numbers let the receiver throw away what comes late after a route was replaced, so that a link never reorders, and
// count what was lost. They repair nothing.
type envelope struct {
	from  string
	life  uint64
	first uint64
	count uint64 // of frames
	rest  []byte // the frames
}

const (
	envelopeVersion = 1
	// envelopeOverhead is the most that an envelope adds to a single frame.
	envelopeOverhead = 1 + 1 + MaxName + 8 + 8 + binary.MaxVarintLen64
)

var errEnvelope = errors.New("not an envelope of a node")

// appendHeader begins an envelope. The frames follow with appendFrame.
func appendHeader(b []byte, from string, life, first uint64) []byte {
	b = append(b, envelopeVersion, byte(len(from)))
	b = append(b, from...)
	b = binary.BigEndian.AppendUint64(b, life)
	return binary.BigEndian.AppendUint64(b, first)
}

func appendFrame(b, frame []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(frame)))
	return append(b, frame...)
}

// parseEnvelope takes a message apart and checks all of it, so that nothing of a broken message is delivered. It keeps
// parts of the message.
func parseEnvelope(message []byte) (envelope, error) {
	if len(message) < 2 || message[0] != envelopeVersion {
		return envelope{}, errEnvelope
	}
	n := int(message[1])
	b := message[2:]
	if len(b) < n+16 || !isName(string(b[:n])) {
		return envelope{}, errEnvelope
	}
	e := envelope{
		from:  string(b[:n]),
		life:  binary.BigEndian.Uint64(b[n:]),
		first: binary.BigEndian.Uint64(b[n+8:]),
		rest:  b[n+16:],
	}
	if e.life == 0 || e.first == 0 || len(e.rest) == 0 || e.first+uint64(len(e.rest)) < e.first {
		return envelope{}, errEnvelope
	}
	for rest := e.rest; len(rest) > 0; {
		var ok bool
		if _, rest, ok = cutFrame(rest); !ok {
			return envelope{}, errEnvelope
		}
		e.count++
	}
	return e, nil
}

// cutFrame takes the first frame off.
func cutFrame(b []byte) (frame, rest []byte, ok bool) {
	n, size := binary.Uvarint(b)
	if size <= 0 || n > MaxFrame || uint64(len(b)-size) < n {
		return nil, nil, false
	}
	end := size + int(n)
	return b[size:end:end], b[end:], true
}

// sender is what a receiver remembers of one other node.
type sender struct {
	life uint64
	next uint64 // the number of the next frame
	past []uint64
}

// maxPast is how many earlier lives of a node are remembered, so that frames of them that come late are known.
const maxPast = 8

// accept tells how many of the count frames from number first on are old and must be skipped, and how many were lost
// before them.
func (s *sender) accept(life, first, count uint64) (skip, lost uint64) {
	if life != s.life {
		for _, p := range s.past {
			if p == life {
				return count, 0
			}
		}
		if s.life != 0 {
			s.past = append(s.past, s.life)
			if len(s.past) > maxPast {
				s.past = s.past[1:]
			}
		}
		// What was sent before we listened is not lost: nobody could have heard it.
		s.life, s.next = life, first
	}
	if first < s.next {
		skip = min(s.next-first, count)
	} else {
		lost = first - s.next
	}
	s.next = max(s.next, first+count)
	return skip, lost
}
