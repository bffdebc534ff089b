// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

// Package soak holds the tests of the service as a whole: nodes as processes of their own, clients that use a pool at each of
// them, and faults that are done to them for real: kill -9 of clients, nodes, the root, two in a row; nodes that are stopped for longer
// than their lease; partitions made with network namespaces; corrupted memory. A small store stands for what the pool
// protects, and judges: no unit has two users, fences only grow.
//
// The tests are bounded; make soak runs them for an hour, in random order.
package soak
