// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package claim_test

import (
	"testing"

	"allot/check"
)

// TestPromptDecidesTheSame: with --delivery prompt every property has the answer that it has without, for the corrected
// protocols and for those without one of their mechanisms. This is no proof that it always has (doc.go has the argument),
// but an argument with a hole would have shown here.
func TestPromptDecidesTheSame(t *testing.T) {
	for _, words := range []string{
		"clients=2 resources=1", "clients=3 resources=1", "clients=2 resources=2", "clients=2 resources=2 least=2",
		"clients=2 resources=1 departures=vanish", "clients=2 resources=1 departures=cancel", "clients=2 resources=1 departures=both",
		"clients=1 resources=1 losses=1 departures=cancel", "clients=2 resources=2 stamps=next claims=1", "protocol=paper",
	} {
		slow, prompt := ask(t, words, check.Options{}), ask(t, words+" delivery=prompt", check.Options{})
		if slow.Verdict != check.Proved || prompt.Verdict != check.Proved || prompt.States >= slow.States {
			t.Errorf("%s: %s with %d states, and with prompt messages %s with %d", words, slow.Verdict, slow.States, prompt.Verdict, prompt.States)
		}
	}
	for _, m := range mutants {
		m.words, m.story = m.words+" delivery=prompt", ""
		mustFail(t, m)
	}
}
