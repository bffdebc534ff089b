// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"strings"

	"allot/model"
)

// Script is a list of faults and of when they happen. See docs/fault-scripts.md for the format.
type Script struct {
	// Text is what was parsed.
	Text       string
	statements []statement
	processes  int // of the network that it was written for
}

// Limits of a script: whatever is larger is refused.
const (
	MaxScript     = 1 << 20
	MaxStatements = 100_000
)

// statement is one line: when, and what.
type statement struct {
	line int
	text string

	isStable    bool // when stable
	from, to    int64
	every       int64 // 0: once, at from
	verb        verb
	process     int32
	link        int32
	number      uint64 // rank, position, count, steps or millionths
	isRandom    bool   // the number is drawn when it happens
	isEverybody bool   // corrupt all
	isSome      bool   // corrupt random N
}

// verb is what a statement does.
type verb uint8

const (
	verbCorrupt verb = iota
	verbDrop
	verbDuplicate
	verbDelay
	verbForge
	verbCrash
	verbResume
	verbRestart
	verbCut
	verbHeal
	verbLeave
	verbJoin
	verbRate
)

// verbs lists their names, what follows them, and the kind of move that they make.
var verbs = [...]struct {
	name, form string
	kind       model.Kind
}{
	verbCorrupt:   {"corrupt", "corrupt P [RANK|random], corrupt all, or corrupt random N", model.Corrupt},
	verbDrop:      {"drop", "drop A->B [POSITION]", model.Lose},
	verbDuplicate: {"duplicate", "duplicate A->B [POSITION]", model.Duplicate},
	verbDelay:     {"delay", "delay A->B STEPS", 0},
	verbForge:     {"forge", "forge A->B [RANK|random]", model.Forge},
	verbCrash:     {"crash", "crash P", model.Crash},
	verbResume:    {"resume", "resume P", model.Resume},
	verbRestart:   {"restart", "restart P", model.Restart},
	verbCut:       {"cut", "cut A-B", model.Cut},
	verbHeal:      {"heal", "heal A-B", model.Heal},
	verbLeave:     {"leave", "leave P", model.Leave},
	verbJoin:      {"join", "join P", model.Join},
	verbRate:      {"rate", "rate P FACTOR", 0},
}

func verbNames() string {
	names := make([]string, len(verbs))
	for i, v := range verbs {
		names[i] = v.name
	}
	return strings.Join(names, ", ")
}

// ParseScript reads a script for the processes and links of a network. An error names its line and what is allowed.
func ParseScript(text []byte, g *model.Graph) (*Script, error) {
	if len(text) > MaxScript {
		return nil, fmt.Errorf("script: it has %d bytes, at most %d are allowed", len(text), MaxScript)
	}
	s := &Script{Text: string(text), processes: g.Len()}
	p := newParser(g)
	number := 0
	for line := range strings.Lines(s.Text) {
		number++
		code, _, _ := strings.Cut(line, "#")
		words := strings.Fields(code)
		if len(words) == 0 {
			continue
		}
		if len(s.statements) == MaxStatements {
			return nil, fmt.Errorf("script, line %d: at most %d statements are allowed", number, MaxStatements)
		}
		st, err := p.statement(words)
		if err != nil {
			return nil, fmt.Errorf("script, line %d: %w", number, err)
		}
		st.line, st.text = number, strings.Join(words, " ")
		s.statements = append(s.statements, st)
	}
	return s, nil
}

// Len is the number of statements.
func (s *Script) Len() int { return len(s.statements) }
