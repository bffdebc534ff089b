// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

// Package daemon assembles a node: the fabric, the allocator, the API, metrics, traces and logs. It can be embedded:
//
//	d, err := daemon.New(daemon.Options{Node: "a"})
//	err = d.Start(ctx) // it serves when this returns
//	defer d.Stop(ctx)
//
// Run does all of it until its context ends. Network starts several nodes in one process, for a first look and for tests.
package daemon
