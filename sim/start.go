// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"

	"allot/model"
)

// start makes the first configuration, and the ranks that a recording needs; nil means clean.
func start(s model.System, o Options) (model.Configuration, []uint64, error) {
	if o.Start != Arbitrary {
		c, err := model.StartAt(s, o.Ranks)
		if err != nil {
			return nil, nil, fmt.Errorf("start: %w", err)
		}
		if len(o.Ranks) == 0 {
			return c, nil, nil
		}
		return c, append([]uint64{}, o.Ranks...), nil
	}
	if n, ok := s.(*model.Network); ok && n.LinkOptions().Litter > 0 {
		return nil, nil, fmt.Errorf("start arbitrary: links %s: litter is for the checker; a simulated start fills each link by itself", n.LinkOptions())
	}
	c := s.Clean()
	ranks := make([]uint64, len(c))
	chance := newChance(o.Seed, chanceStart)
	for word := range c {
		size, value := s.Domain(word)
		if s.IsStatus(word) { // who has crashed, what is cut: no transient fault reaches it
			ranks[word] = cleanRank(size, value, c[word])
			continue
		}
		switch {
		case size == 0:
			return nil, nil, fmt.Errorf("start arbitrary: the values of word %d cannot be listed", word)
		case size >= model.Uncountable:
			ranks[word] = chance.Uint64()
		default:
			ranks[word] = chance.Below(size)
		}
		c[word] = value(ranks[word])
	}
	return c, ranks, nil
}

// maxSearched bounds the search for the rank of a value.
const maxSearched = 1 << 12

// cleanRank is the rank of a value that a word has in the clean start. Mostly it is the first or the last one; 0 is the
// answer if it is not found.
func cleanRank(size uint64, value func(uint64) uint64, clean uint64) uint64 {
	if size > 1 && size < model.Uncountable && value(size-1) == clean {
		return size - 1
	}
	for i := range min(size, maxSearched) {
		if value(i) == clean {
			return i
		}
	}
	return 0
}
