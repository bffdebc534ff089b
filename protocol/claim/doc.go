// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

// Package claim gives clients several named resources at once. The clients do not know each other, and none needs to know
// more than its own resources. It begins with A. K. Datta, L. L. Larmore, S. Devismes, F. Kawala and M. Potop-Butucaru,
// "Multi-resource Allocation with Unknown Participants", which serves claims of two resources, and goes on to any number.
//
//	allot lab check claim --clients 2 --resources 2 --most 2
//	allot lab check claim --clients 2 --resources 2 --most 2 --variant printed
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
// # Stamps that grow, in a search that ends
//
// The checker must come to an end though stamps grow for ever. With --stamps any a resource may offer any stamp above its
// queue, be it between, equal to or above the stamps that exist elsewhere, and the checker keeps of all stamps only their
// order (model.Stamp). Every run of the real rule (the next number, --stamps next) is among these: replace the stamps of
// each configuration by their places in the order, and each step is one of those that are tried. What is proved holds for
// every rule that offers stamps above the queue.
//
// # The others
//
// Protocol paper is the paper's, for two resources: a strong and a weak half, a search along the dependencies, a victim
// that gives way, and a token that sees to fairness. Variant printed is the listing; printed-1 to printed-5 have its errors
// repaired one after the other, because each hides the next (docs/errata.md). The corrected one keeps the idea. The weak
// resource alone decides between grant and kill, so NoLoop, Lock and the ready flags are gone; one search for a client is
// under way at a time and none outlives its claim, so that searches cannot pile up on slow links. Protocol token is the
// sketch of the paper's last section, and protocol ordered takes one resource after the other in the order of their
// numbers. They are here to be compared.
//
// # Mutants
//
// Every mechanism has a variant without it, and the checker finds what goes wrong, but for one: a search of the paper's
// protocol that does not check the dependencies on its way (paper-gullible) is not caught with two clients and two
// resources, and was not decided with three. The check is kept, because without it a search follows what is no dependency
// and makes claims give way for nothing.
package claim
