// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

// Package node holds what one node of the service needs from the world: a Fabric that carries frames between nodes and a
// Store for the control plane, and the loop that gives a machine its events one at a time.
//
// A fabric may lose frames, but neither reorders nor invents them. The protocols are made for that; nothing here repairs
// anything.
package node
