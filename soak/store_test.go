// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// store stands for what a pool protects. Its users tell it over a Unix socket, which reaches into every network namespace,
// when they begin and end to use units. A user whose connection breaks has died, and uses nothing any more.
type store struct {
	socket   string
	listener net.Listener

	mu       sync.Mutex
	users    map[int]*use // by unit
	fences   map[int]uint64
	most     int
	uses     int
	stale    int // refused because of their fence
	certain  []string
	possible []string // an earlier user may just have been late to say that it had stopped
	served   map[string]int
	holding  map[string]int
}

type use struct {
	who   string
	until time.Time // for how long it believed in its grant when it last said so
}

// word is what a user says.
type word struct {
	Do     string // begin, good, end
	Who    string
	Units  []int
	Fences []uint64
	Good   time.Duration // for how long it may still believe in its grant
}

func newStore(t *testing.T) *store {
	t.Helper()
	s := &store{socket: filepath.Join(t.TempDir(), "store"), users: map[int]*use{}, fences: map[int]uint64{}, served: map[string]int{}, holding: map[string]int{}}
	l, err := net.Listen("unix", s.socket)
	if err != nil {
		t.Fatal(err)
	}
	s.listener = l
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go s.serve(c)
		}
	}()
	return s
}

func (s *store) serve(c net.Conn) {
	defer func() { _ = c.Close() }()
	in := bufio.NewScanner(c)
	out := json.NewEncoder(c)
	who := map[string]bool{}
	for in.Scan() {
		var w word
		if json.Unmarshal(in.Bytes(), &w) != nil {
			return
		}
		who[w.Who] = true
		if out.Encode(s.on(w)) != nil {
			break
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for unit, u := range s.users {
		if who[u.who] {
			delete(s.users, unit)
		}
	}
}

// on handles a word and answers whether it was accepted.
func (s *store) on(w word) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	until := now.Add(w.Good)
	switch w.Do {
	case "begin":
		for i, unit := range w.Units {
			if w.Fences[i] <= s.fences[unit] {
				s.stale++
				if w.Fences[i] == s.fences[unit] {
					s.certain = append(s.certain, fmt.Sprintf("unit %d: fence %d twice, the second time by %s", unit, w.Fences[i], w.Who))
				}
				return false
			}
		}
		for i, unit := range w.Units {
			s.begin(unit, w, w.Fences[i], now, until)
		}
		s.uses++
		s.most = max(s.most, len(s.users))
	case "good":
		for _, unit := range w.Units {
			if u := s.users[unit]; u != nil && u.who == w.Who {
				u.until = until
			}
		}
	case "end":
		for _, unit := range w.Units {
			if u := s.users[unit]; u != nil && u.who == w.Who {
				delete(s.users, unit)
			}
		}
		s.served[w.Who]++
	}
	return true
}

func (s *store) begin(unit int, w word, fence uint64, now, until time.Time) {
	if u := s.users[unit]; u != nil {
		text := fmt.Sprintf("unit %d is used by %s, good for another %v, and by %s with fence %d after %d", unit, u.who, u.until.Sub(now), w.Who, fence, s.fences[unit])
		if now.Before(u.until) {
			s.certain = append(s.certain, text)
		} else {
			s.possible = append(s.possible, text)
		}
	}
	s.users[unit] = &use{who: w.Who, until: until}
	s.fences[unit] = fence
}

// judge fails the test if something happened that must not.
func (s *store) judge(t *testing.T, units int) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, text := range s.certain {
		if i < 10 {
			t.Errorf("violation: %s", text)
		}
	}
	if len(s.certain) > 10 {
		t.Errorf("and %d more violations", len(s.certain)-10)
	}
	if len(s.certain) == 0 && s.most > units {
		t.Errorf("%d of %d units were used at once", s.most, units)
	}
	if s.uses == 0 {
		t.Error("nothing was ever used")
	}
	t.Logf("%d uses, at most %d of %d units at once, %d refused for an old fence, %d late to stop", s.uses, s.most, units, s.stale, len(s.possible))
	for i, text := range s.possible {
		if i < 3 {
			t.Logf("late: %s", text)
		}
	}
}

func (s *store) count(who string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.served[who]
}

func (s *store) total() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.uses
}
