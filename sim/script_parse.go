// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"allot/model"
)

// parser reads the words of one statement after the other.
type parser struct {
	graph *model.Graph
	named map[string]int32 // nil if processes have no names of their own
	words []string
}

func newParser(g *model.Graph) *parser {
	p := &parser{graph: g}
	if g.HasNames() {
		p.named = make(map[string]int32, g.Len())
		for i := g.Len() - 1; i >= 0; i-- { // of equal names the first process counts
			p.named[g.Name(i)] = int32(i)
		}
	}
	return p
}

// next takes the next word, empty if there is none.
func (p *parser) next() string {
	if len(p.words) == 0 {
		return ""
	}
	word := p.words[0]
	p.words = p.words[1:]
	return word
}

func (p *parser) peek() string {
	if len(p.words) == 0 {
		return ""
	}
	return p.words[0]
}

var errWhen = errors.New("a statement begins with at STEP, with every N [from STEP] [to STEP], or with when stable")

func (p *parser) statement(words []string) (statement, error) {
	p.words = words
	var st statement
	if err := p.when(&st); err != nil {
		return st, err
	}
	name := p.next()
	for v := range verbs {
		if verbs[v].name != name {
			continue
		}
		st.verb = verb(v)
		if err := p.arguments(&st); err != nil {
			return st, fmt.Errorf("%s: %w; write %s", name, err, verbs[v].form)
		}
		if len(p.words) > 0 {
			return st, fmt.Errorf("%s: there is %s too much; write %s", name, quote(p.words[0]), verbs[v].form)
		}
		return st, nil
	}
	return st, fmt.Errorf("unknown fault %s; allowed are %s", quote(name), verbNames())
}

func (p *parser) when(st *statement) error {
	var err error
	switch word := p.next(); word {
	case "at":
		st.from, err = p.time("at")
		st.to = st.from
		return err
	case "when":
		if p.next() != "stable" {
			return errors.New("the only thing to wait for is when stable")
		}
		st.isStable = true
		return nil
	case "every":
		if st.every, err = p.time("every"); err != nil {
			return err
		}
		if st.every == 0 {
			return errors.New("every: the number of steps must be at least 1")
		}
		st.from, st.to = st.every, never
		if p.peek() == "from" {
			p.next()
			if st.from, err = p.time("from"); err != nil {
				return err
			}
		}
		if p.peek() == "to" {
			p.next()
			if st.to, err = p.time("to"); err != nil {
				return err
			}
		}
		if st.to < st.from {
			return fmt.Errorf("every: it ends at step %d before it begins at step %d", st.to, st.from)
		}
		return nil
	default:
		return fmt.Errorf("%s: %w", quote(word), errWhen)
	}
}

func (p *parser) time(after string) (int64, error) {
	word := p.next()
	n, err := strconv.ParseUint(word, 10, 64)
	if err != nil || n > maxTime {
		return 0, fmt.Errorf("%s: %s is not a number of steps from 0 to %d", after, quote(word), int64(maxTime))
	}
	return int64(n), nil
}

func (p *parser) arguments(st *statement) error {
	var err error
	switch st.verb {
	case verbCorrupt:
		return p.corrupt(st)
	case verbDrop, verbDuplicate:
		if st.link, err = p.link("->"); err == nil && len(p.words) > 0 {
			st.number, err = p.number("a position", math.MaxInt32)
		}
		return err
	case verbDelay:
		if st.link, err = p.link("->"); err == nil {
			st.number, err = p.number("a number of steps", maxTime)
		}
		return err
	case verbForge:
		if st.link, err = p.link("->"); err == nil {
			err = p.rank(st)
		}
		return err
	case verbCut, verbHeal:
		st.link, err = p.link("-")
		return err
	case verbRate:
		if st.process, err = p.process(p.next()); err == nil {
			st.number, err = parseRate(p.next())
		}
		return err
	case verbCrash, verbResume, verbRestart, verbLeave, verbJoin:
	}
	st.process, err = p.process(p.next())
	return err
}

func (p *parser) corrupt(st *statement) error {
	var err error
	switch p.peek() {
	case "all":
		p.next()
		st.isEverybody = true
		return nil
	case "random":
		p.next()
		st.isSome = true
		st.number, err = p.number("a number of processes", uint64(p.graph.Len()))
		if err == nil && st.number == 0 {
			err = errors.New("the number of processes must be at least 1")
		}
		return err
	}
	if st.process, err = p.process(p.next()); err != nil {
		return err
	}
	return p.rank(st)
}

// rank is the number of a value in its domain. Whether there is such a value shows when it happens.
func (p *parser) rank(st *statement) error {
	if word := p.peek(); word == "" || word == "random" {
		p.next()
		st.isRandom = true
		return nil
	}
	var err error
	st.number, err = p.number("a rank", math.MaxUint64)
	return err
}

func (p *parser) number(what string, most uint64) (uint64, error) {
	word := p.next()
	n, err := strconv.ParseUint(word, 10, 64)
	if err != nil || n > most {
		return 0, fmt.Errorf("%s is not %s from 0 to %d", quote(word), what, most)
	}
	return n, nil
}

// process is found by its name, or by its number.
func (p *parser) process(word string) (int32, error) {
	if i, ok := p.named[word]; ok {
		return i, nil
	}
	n, err := strconv.ParseUint(word, 10, 31)
	if err != nil || int(n) >= p.graph.Len() {
		return 0, fmt.Errorf("there is no process %s (they are 0..%d)", quote(word), p.graph.Len()-1)
	}
	return int32(n), nil
}

// link reads two processes with an arrow or a dash between them. A name may hold such a sign itself, so each place
// where one stands is tried.
func (p *parser) link(sign string) (int32, error) {
	word := p.next()
	for i := strings.Index(word, sign); i >= 0; {
		from, err := p.process(word[:i])
		to, err2 := p.process(word[i+len(sign):])
		if err == nil && err2 == nil {
			if link := p.graph.FindLink(int(from), int(to)); link >= 0 {
				return int32(link), nil
			}
			return 0, fmt.Errorf("processes %s and %s are not neighbours", p.graph.Name(int(from)), p.graph.Name(int(to)))
		}
		next := strings.Index(word[i+1:], sign)
		if next < 0 {
			break
		}
		i += 1 + next
	}
	return 0, fmt.Errorf("%s is not two processes joined by %s", quote(word), sign)
}

// maxRate bounds the rate of a clock.
const maxRate = 1000

// parseRate reads a decimal number into millionths.
func parseRate(word string) (uint64, error) {
	f, err := strconv.ParseFloat(word, 64)
	if err != nil || !(f >= 0 && f <= maxRate) {
		return 0, fmt.Errorf("%s is not a factor from 0 to %d", quote(word), maxRate)
	}
	millionths := math.Round(f * rateOne)
	if f > 0 && millionths == 0 {
		return 0, fmt.Errorf("%s is a factor below a millionth", quote(word))
	}
	return uint64(millionths), nil
}

// quote shows a word of a script in an error, cut short.
func quote(word string) string {
	if word == "" {
		return "the end of the line"
	}
	return fmt.Sprintf("%.40q", word)
}
