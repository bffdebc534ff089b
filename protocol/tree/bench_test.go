// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"testing"

	"allot/sim"
)

// BenchmarkSim is a step of the simulator, with all properties looked at in every configuration.
func BenchmarkSim(b *testing.B) {
	r := simulate(b, "tree:50,seed=3", values("l", 5, "k", 3), sim.Options{Seed: 7, Steps: int64(b.N)}, "")
	if r.Verdict == sim.Violated {
		b.Error(r.Verdict)
	}
}
