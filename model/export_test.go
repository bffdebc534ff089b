// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package model

// ReadRunWithin is ReadRun with other limits, so that a test need not make a file of gigabytes.
var ReadRunWithin = readRun

// IsStamped tells whether the stamps of a network are renamed.
func IsStamped(n *Network) bool { return n.isStamped }
