// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

// Package natsbus is a node's fabric on NATS: frames are messages on subjects, and the control plane is a JetStream
// key-value bucket. By default the NATS server runs inside the process, so that one binary is enough.
//
// The smallest use is a node alone:
//
//	bus, err := natsbus.Open(ctx, natsbus.Options{Node: "n1", Embed: natsbus.ServerOptions{Dir: "/var/lib/allot"}})
//	...
//	defer bus.Close()
//	err = bus.Ready(ctx)                  // the store works
//	err = bus.Receive(handle)             // before the first frame
//	err = bus.Send("n2", frame)
//	entry, err := bus.Store().Get(ctx, "pools/gpus")
//
// # Which networks there are
//
// One server alone. Nothing to agree on, no port open. It is ready at once, and after kill -9 it goes on with what is in
// its folder. It cannot become part of a cluster later: NATS would remove the store, so a folder that belongs to a server
// alone is refused in a cluster, and the other way round.
//
// Several nodes in one process. StartServer starts one server and each Bus is given it in Options.Server.
//
// Several servers as a cluster. Each has a Cluster address of its own and lists the others in Join; it may list itself,
// so that all have the same list. The first time, all of them list all of them, because the length of the list is the size
// of the group (or Founders says it). They may start in any order, and a new network begins when all of its founders have
// met; from then on a majority is enough. A server that comes later, when the network works, lists any of those that are
// there and is taken in by itself; the store then gets more copies, up to five. Two servers are possible, but then both
// must be there: use one, three or five.
//
// A server that comes back with its folder is the same server. One that has lost its folder is new, whatever its name: a
// majority of the others must be there to take it in. One that never comes back still counts until Bus.Forget removes it.
//
// An existing NATS, by URL. It needs JetStream and version 2.11 or later, and it must be configured with
// "sync_interval: always", which no client can check.
//
// # What is promised
//
// Links. Frames from one node to another arrive in order, once, or not at all. They are lost when a connection breaks, when
// the receiver is not there, and when it falls behind by more than 64 MiB. Nothing is repeated or kept for later.
//
// Store. A write is acknowledged when a majority of the copies has it on disk: embedded servers sync every write, where NATS
// by default syncs once in two minutes. Every read sees every write that was acknowledged before it began, at whichever
// node. To that end a read costs a small write; reads at the same time share it. Compare Options.Timeout for how long an
// operation may take. Without a majority it returns node.ErrUnavailable, and a write may then have happened or not; NATS
// recognises our own repetitions of a write for two minutes, so that a lost answer alone does not become a conflict.
//
// When the server that leads the store dies, the others choose another after 4 to 9 seconds of silence, which NATS does not
// let us change; a server that is closed hands over first.
//
// Loopback only, unless there are TLS and a secret: an address that others can reach is refused without them.
package natsbus
