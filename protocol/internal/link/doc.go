// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

// Package link makes a reliable link, first in first out, of one that loses, repeats and reorders messages, and says visibly
// when what it promised has ended.
//
// Each of the two processes has an End. What one end sends in a session arrives at the other once and in order, up to the
// moment in which the session ends. A session is the time in which neither end restarts: it is named by the incarnations of both. When
// an end restarts, the other one learns of it, throws away what it had not delivered and tells its user; nothing of an old
// session is ever delivered in a new one.
//
//	e := link.NewEnd[string](incarnation, 16)
//	for _, p := range e.Retry() { … put p on the link … }   // at first, and whenever a timer runs out
//	out := e.Receive(packet)                                // whatever arrives
//	if out.IsEnded { … the session ended, a new one begins … }
//	if out.HasLoad { … use out.Load … }
//	if out.HasReply { … put out.Reply on the link … }
//	ok := e.Send("hello")                                   // false: no session yet, or the buffer is full
//
// # What the caller must do
//
// Give every incarnation of a process a larger number than the one before: one number in stable storage is enough, or a
// clock that has gone on. Nothing else needs to survive a restart. Call Retry again and again while it has something to send.
//
// # How
//
// Packets carry the incarnations of both ends as the sender knows them. A packet from an older incarnation is dropped. One
// from a newer incarnation ends the session. One that is not addressed to this incarnation is answered with a hello, which
// says who is here. Within a session loads have sequence numbers and acknowledgements are cumulative; a load that is not the
// next one is dropped and comes again, so the receiver needs no buffer and the sender one of a fixed size.
//
// # Limits
//
// Sequence numbers grow as long as a session lasts; on links that reorder without bound no protocol can do with fewer
// numbers than messages. They have 63 bits. Progress needs that a packet that is sent again and again arrives in the end.
package link
