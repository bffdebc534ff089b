// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import "allot/protocol/internal/transform"

// OverLinks is the ring with messages instead of a look at the predecessor.
var OverLinks = transform.Over(&Algorithm, "ring:2")
