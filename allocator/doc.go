// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

// Package allocator is what users buy: pools of numbered units, sessions of clients, grants with fences and leases.
//
// An Allocator is the part of one node that decides. It is handed the time, the frames of other nodes and the requests of
// its clients, and it hands back frames to send and events for the clients. It owns no clock, no file and no socket.
package allocator
