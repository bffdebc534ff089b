// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package wave

import "allot/protocol/internal/transform"

// OverLinks is the wave with messages instead of a look at the neighbours.
var OverLinks = transform.Over(&Algorithm, "path:2")

// IsHolding tells whether p keeps a token, so that it is in its critical section in its turn or not.
func (w *program) IsHolding(p int, word uint64) bool {
	return w.rules.has(keeping) && w.nodes[p].h.Get(word) == 1
}
