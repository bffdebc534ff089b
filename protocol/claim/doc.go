// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

// Package claim gives clients several named resources at once. The clients do not know each other, and none needs to know
// more than its own resources. It begins with A. K. Datta, L. L. Larmore, S. Devismes, F. Kawala and M. Potop-Butucaru,
// "Multi-resource Allocation with Unknown Participants", which serves claims of two resources, and goes on to any number.
//
//	allot lab check claim --clients 2 --resources 2 --most 2
//	allot lab check claim --clients 2 --resources 2 --most 2 --variant printed
//	allot lab check claim --clients 3 --resources 3 --most 2 --delivery prompt
//	allot lab check claim --protocol ordered --clients 3 --resources 3 --most 3
//
// # Protocol stamps
//
// This is the one that the service runs. A client sends a request to each of its resources. Each puts it into its queue,
// weakly, and offers a stamp above all that are in the queue. The client takes the largest offer and tells all: that is
// its final stamp, with which it is in every queue strongly. A resource is ready for the first of its queue once that one
// is strong; a weak one ahead must be awaited, because its final stamp may still be the smaller one. The client has its
// claim when all are ready. Where a resource offered the stamp that became final and nobody was ahead, the client need
// not wait to be told: nobody can have come ahead since. So an undisturbed claim takes one round trip.
//
// All queues follow one order, that of the stamps and, where two are equal, of the clients. So no circle of waiting can
// form. Whoever is strong in a queue is overtaken there by nobody who comes later. So nobody starves. A resource needs no
// clock beside its queue: an offer must be above the stamps that are there and no others.
//
// A claim that ends, by a release or a cancellation, is told to all its resources, and each says that it knows. Links keep
// no order, so a cancellation may overtake its request; the resource then remembers that the claim has ended until the
// request has come. The answer says what was sent before it, and the client does not claim again before it has that too.
// So there are no numbers that grow, and nothing of one claim can be taken for part of the next. A session that ends
// without a word (its own clock has ended it before the clock of a resource does) is remembered for good.
//
// A resource that crashes and keeps its queue is nothing but slow. One that loses its queue begins a new epoch, asks all
// clients what they had, and gives nothing until each has answered or its session has ended. Epoch and fence are kept on
// disk. Who had a final stamp presents it, so the queue is what it was; who had none is taken as a new request.
//
// # Loans
//
// A resource that is ready for a claim which waits for others is idle meanwhile, and under load most resources are. With
// --loans a claim lends what it has, so often and no more, to claims that wait for nothing else (loans.go). That gives up to
// half as much again of the resources to use, and nobody starves. The service runs with four.
//
// # Stamps that grow, in a search that ends
//
// The checker must come to an end though stamps grow for ever. With --stamps any a resource may offer any stamp above its
// queue, be it between or above the stamps that exist elsewhere or equal to one that the client was offered, and the checker
// keeps of all stamps only their order (model.StampOf): first the number, then the client. Every run of the real rule (the
// next number, --stamps next) is among these: replace the stamps of each configuration by their places in the order, and
// each step is one of those that are tried. What is proved holds for every rule that offers stamps above the queue.
//
// # Messages that arrive at once
//
// With --delivery prompt some messages arrive within the step that sends them, which leaves one configuration of fifty
// and fewer. It decides the same, because every run has a twin in which these messages are early and that
// every client and every resource but the receiver sees as it was, up to waiting. Where nobody leaves before its claim is
// served, these are:
//
//   - What a resource answers (offer, ready, ended) changes its client alone, who does nothing else meanwhile, and the order
//     of two answers does not matter. A client that has an answer earlier sends what follows earlier, and that may still
//     take its time; and it uses its claim longer, so whoever would meet it meets it all the same.
//   - A request puts a client into the queue without a stamp, which nobody else notices. What counts is when it is
//     offered one, and that may still be at any later time (with --stamps any).
//   - A final stamp that is the one offered leaves the client at its place in that queue. What counts is when it is both
//     first and strong, and it may as well be strong before.
//   - In the paper's protocol, likewise: what the client is told; a claim of two at its weak resource, where it waits
//     unseen until its strong half is at the head; and the end of a claim, for the client may as well go on using it.
//
// Where sessions end, only answers are prompt: a client that is gone does not look at them. Where clients cancel or
// queues are lost, only ended is: it is the last word about a claim. And what nobody will look at any more, because a
// session has ended or a queue was lost since, is taken off the links. Asks, returns and recalls of loans are prompt or not
// like answers, but for them there is no such argument: what is decided with loans and prompt messages is decided for
// links whose answers arrive at once. TestPromptDecidesTheSame compares the two, for the protocols and for every mutant.
//
// # The others
//
// Protocol paper is the paper's, for two resources: a strong and a weak half, a search along the dependencies, a victim
// that gives way, and a token that sees to fairness. Variant printed is the listing; printed-1 to printed-5 have its errors
// repaired one after the other, because each hides the next (docs/errata.md). The corrected one keeps the idea. A weak half
// at the head of its queue is granted by the weak resource alone, so NoLoop, Lock and the ready flags are gone; one search
// for a client is under way at a time and none outlives its claim, so that searches cannot pile up on slow links.
//
// No claim gives way for nothing. A search leaves a mark at every dependency that it comes along. When it has come round
// it goes along its path once more: if all marks are still there, all dependencies were there at once. That is a loop, and
// it stays until somebody breaks it. And whoever finds the same loop chooses the same victim, because what counts is who had
// the token when a dependency began and not who has it now. So the first kill breaks the loop, and all others find
// that the dependency which they were to break is not there any more.
//
// Protocol token is the sketch of the paper's last section, and protocol ordered takes one resource after the other in the
// order of their numbers. They are here to be compared.
//
// # Mutants
//
// Every mechanism has a variant without it, and the checker finds what goes wrong. Two mechanisms did not survive this:
// that a kill is ignored by who was granted its claim (a loop that is confirmed has no such member), and that a loan is
// given back when its borrower has to wait (the borrower waits only for what it has lent itself, to claims with larger stamps).
package claim
