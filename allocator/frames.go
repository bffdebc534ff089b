// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package allocator

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"allot/protocol/pool"
)

// The first byte of a frame.
const (
	frameVisit  = 'V' // 8 bytes: the pool, then the controller
	frameWake   = 'W' // 8 bytes: the pool, then the call
	frameBeat   = 'B' // JSON
	frameAsk    = 'A' // 8 bytes: the number of the question, then JSON
	frameAnswer = 'a' // 8 bytes: the number of the question, then JSON
)

func (a *Allocator) send(to string, frame []byte) {
	if to == "" {
		return
	}
	// A frame that cannot be sent is a frame that was lost, and the protocols are made for that.
	_ = a.options.Fabric.Send(to, frame)
}

// onFrame handles a frame from another node. What makes no sense is dropped.
func (a *Allocator) onFrame(from string, frame []byte) {
	if len(frame) == 0 {
		return
	}
	kind, body := frame[0], frame[1:]
	if kind == frameBeat {
		a.network.onBeat(from, body)
		return
	}
	if len(body) < 8 {
		return
	}
	number, body := binary.BigEndian.Uint64(body), body[8:]
	switch kind {
	case frameVisit, frameWake:
		a.mu.RLock()
		s := a.byID[number]
		a.mu.RUnlock()
		if s != nil {
			s.onFrame(kind, body)
		}
	case frameAsk:
		go a.onAsk(from, number, slices.Clone(body))
	case frameAnswer:
		a.asks.onAnswer(number, slices.Clone(body))
	}
}

var limits = pool.Limits{Units: pool.MostUnits, Members: pool.MostMembers}

func (s *seat) onFrame(kind byte, body []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isDeleted {
		return
	}
	if kind == frameWake {
		var w pool.Wake
		if pool.ParseWake(&w, body, limits) == nil {
			s.locked(func() { s.machine.OnWake(w) })
		}
		return
	}
	if err := pool.ParseVisit(&s.scratch, body, limits); err != nil {
		return
	}
	s.visits++
	s.locked(func() { s.machine.OnVisit(&s.scratch) })
}

// asks are questions to other nodes that wait for their answer.
type asks struct {
	mu   sync.Mutex
	next uint64
	open map[uint64]chan []byte
}

type question struct {
	Method string
	Pool   string `json:",omitempty"`
	// Evict
	Session, Grant, By, Reason string `json:",omitempty"`
}

type answer struct {
	Holdings []Holding `json:",omitempty"`
	Waitings []Waiting `json:",omitempty"`
	Counts   []count   `json:",omitempty"`
	Error    string    `json:",omitempty"`
}

// count is what one node has of a pool.
type count struct {
	Pool                 string
	Free, Held, Waiting  int
	Grants, Lost, Visits uint64
	IsRoot, IsStable     bool
}

const (
	askHoldings = "holdings"
	askWaitings = "waitings"
	askCounts   = "counts"
	askEvict    = "evict"
)

// askTime bounds how long another node may take to answer.
const askTime = 2 * time.Second

// ask puts a question to one node.
func (a *Allocator) ask(ctx context.Context, to string, q question) (answer, error) {
	if to == a.self {
		return a.answer(q), nil
	}
	reply := make(chan []byte, 1)
	a.asks.mu.Lock()
	a.asks.next++
	number := a.asks.next
	a.asks.open[number] = reply
	a.asks.mu.Unlock()
	defer func() {
		a.asks.mu.Lock()
		delete(a.asks.open, number)
		a.asks.mu.Unlock()
	}()
	frame := binary.BigEndian.AppendUint64([]byte{frameAsk}, number)
	a.send(to, append(frame, marshal(q)...))
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	select {
	case <-ctx.Done():
		return answer{}, errors.Join(ErrUnavailable, errors.New("node "+to+" does not answer"))
	case data := <-reply:
		var r answer
		if err := json.Unmarshal(data, &r); err != nil {
			return answer{}, err
		}
		return r, nil
	}
}

func (k *asks) onAnswer(number uint64, data []byte) {
	k.mu.Lock()
	reply := k.open[number]
	k.mu.Unlock()
	if reply != nil {
		select {
		case reply <- data:
		default: // it was answered twice
		}
	}
}

func (a *Allocator) onAsk(from string, number uint64, data []byte) {
	var q question
	if json.Unmarshal(data, &q) != nil {
		return
	}
	frame := binary.BigEndian.AppendUint64([]byte{frameAnswer}, number)
	a.send(from, append(frame, marshal(a.answer(q))...))
}

// answer answers a question about this node.
func (a *Allocator) answer(q question) answer {
	var r answer
	switch q.Method {
	case askHoldings:
		for _, s := range a.seats() {
			if q.Pool == "" || q.Pool == s.pool.Name {
				r.Holdings = append(r.Holdings, s.holdings()...)
			}
		}
	case askWaitings:
		for _, s := range a.seats() {
			if q.Pool == "" || q.Pool == s.pool.Name {
				r.Waitings = append(r.Waitings, s.waitings()...)
			}
		}
	case askCounts:
		for _, s := range a.seats() {
			if q.Pool == "" || q.Pool == s.pool.Name {
				r.Counts = append(r.Counts, s.count())
			}
		}
	case askEvict:
		if err := a.evictHere(q); err != nil {
			r.Error = err.Error()
		}
	}
	return r
}

// askAll puts a question to all members at once and collects the answers of those who answer.
func (a *Allocator) askAll(ctx context.Context, q question) ([]answer, error) {
	v := a.network.view()
	answers := make([]answer, len(v.members))
	errs := make([]error, len(v.members))
	var wg sync.WaitGroup
	for i, m := range v.members {
		wg.Go(func() { answers[i], errs[i] = a.ask(ctx, m.Name, q) })
	}
	wg.Wait()
	if v.place < 0 {
		answers = append(answers, a.answer(q))
	}
	return answers, errors.Join(errs...)
}

// Holdings lists who holds what, at all nodes. With an error, what was learned from the nodes that answered is returned too.
func (a *Allocator) Holdings(ctx context.Context, name string) ([]Holding, error) {
	if name != "" {
		if _, err := a.seat(name); err != nil {
			return nil, err
		}
	}
	answers, err := a.askAll(ctx, question{Method: askHoldings, Pool: name})
	var list []Holding
	for _, r := range answers {
		list = append(list, r.Holdings...)
	}
	slices.SortStableFunc(list, func(x, y Holding) int { return strings.Compare(x.Pool, y.Pool) })
	return list, err
}

// Waitings lists who waits, at all nodes.
func (a *Allocator) Waitings(ctx context.Context, name string) ([]Waiting, error) {
	if name != "" {
		if _, err := a.seat(name); err != nil {
			return nil, err
		}
	}
	answers, err := a.askAll(ctx, question{Method: askWaitings, Pool: name})
	var list []Waiting
	for _, r := range answers {
		list = append(list, r.Waitings...)
	}
	slices.SortStableFunc(list, func(x, y Waiting) int { return strings.Compare(x.Pool, y.Pool) })
	return list, err
}

// Evict takes a grant away, wherever it is. Its name is NODE/SESSION/ID, as in the lists. The holder is told, and its units go to
// nobody before it has answered, or must have noticed by itself.
func (a *Allocator) Evict(ctx context.Context, grant, by, reason string) error {
	name, rest, _ := strings.Cut(grant, "/")
	session, id, ok := strings.Cut(rest, "/")
	if !ok || name == "" || session == "" || id == "" {
		return &ValueError{Field: "grant", Value: grant, Allowed: "it is NODE/SESSION/ID, as in the list of who holds what"}
	}
	r, err := a.ask(ctx, name, question{Method: askEvict, Session: session, Grant: id, By: by, Reason: reason})
	switch {
	case err != nil:
		return err
	case r.Error != "":
		return ErrUnknownGrant
	}
	return nil
}

func (a *Allocator) evictHere(q question) error {
	a.mu.RLock()
	s := a.sessions[q.Session]
	a.mu.RUnlock()
	if s == nil {
		return ErrUnknownSession
	}
	s.mu.Lock()
	r := s.requests[q.Grant]
	s.mu.Unlock()
	if r == nil {
		return ErrUnknownGrant
	}
	p, err := a.seat(r.Pool)
	if err != nil {
		return err
	}
	isHeld := false
	p.step(func() {
		if isHeld = r.isHeld && !r.isEnded; isHeld {
			p.coolDown(r, ErrEvicted)
		}
	})
	if !isHeld {
		return ErrUnknownGrant
	}
	return nil
}
