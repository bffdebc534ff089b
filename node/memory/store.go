// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"allot/node"
)

// data is what the store holds. Removed keys stay, with the revision of their removal.
type data struct {
	revision uint64
	entries  map[string]node.Entry
}

func newData() data { return data{entries: map[string]node.Entry{}} }

// SetStore switches the store of one node off and on, whatever it is connected to.
func (n *Network) SetStore(name string, isOn bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.refused[name] = !isOn
	n.change()
}

// LoseAnswers makes the next writes of a node, so many of them, happen without its hearing of it: they return
// node.ErrUnavailable.
func (n *Network) LoseAnswers(name string, writes int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.muted[name] = writes
}

// isAvailable tells whether the store works at a node. The lock is held.
func (n *Network) isAvailable(name string) bool {
	if n.refused[name] || n.open[name] == nil {
		return false
	}
	near := 0
	for m := range n.members {
		if n.isConnected(name, m) {
			near++
		}
	}
	return 2*near > len(n.members)
}

// store is the control plane as one node sees it.
type store Fabric

var errCut = fmt.Errorf("%w: this node is not connected to a majority", node.ErrUnavailable)

// check is called with the lock held.
func (s *store) check(ctx context.Context, key string) error {
	switch {
	case key == "":
		return errors.New("a key is not empty")
	case s.isClosed:
		return fmt.Errorf("%w: %w", node.ErrUnavailable, ErrClosed)
	case ctx.Err() != nil:
		return fmt.Errorf("%w: %w", node.ErrUnavailable, ctx.Err())
	case !s.net.isAvailable(s.name):
		return errCut
	}
	return nil
}

// Get returns the value and revision of a key, or node.ErrNotFound.
func (s *store) Get(ctx context.Context, key string) (node.Entry, error) {
	s.net.mu.Lock()
	defer s.net.mu.Unlock()
	if err := s.check(ctx, key); err != nil {
		return node.Entry{}, err
	}
	e, ok := s.net.data.entries[key]
	if !ok || e.IsDeleted {
		return node.Entry{}, fmt.Errorf("reading %q: %w", key, node.ErrNotFound)
	}
	e.Value = bytes.Clone(e.Value)
	return e, nil
}

// Create writes a key that has no value, or returns node.ErrConflict.
func (s *store) Create(ctx context.Context, key string, value []byte) (uint64, error) {
	return s.write(ctx, node.Entry{Key: key, Value: value}, func(e node.Entry) bool { return e.Revision == 0 || e.IsDeleted })
}

// Update writes a key whose revision is still the given one, or returns node.ErrConflict.
func (s *store) Update(ctx context.Context, key string, value []byte, revision uint64) (uint64, error) {
	return s.write(ctx, node.Entry{Key: key, Value: value}, func(e node.Entry) bool { return revision != 0 && e.Revision == revision })
}

// Delete removes a key whose revision is still the given one, or returns node.ErrConflict.
func (s *store) Delete(ctx context.Context, key string, revision uint64) error {
	_, err := s.write(ctx, node.Entry{Key: key, IsDeleted: true}, func(e node.Entry) bool { return revision != 0 && e.Revision == revision })
	return err
}

func (s *store) write(ctx context.Context, e node.Entry, fits func(node.Entry) bool) (uint64, error) {
	n := s.net
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := s.check(ctx, e.Key); err != nil {
		return 0, err
	}
	if !fits(n.data.entries[e.Key]) {
		return 0, fmt.Errorf("writing %q: %w", e.Key, node.ErrConflict)
	}
	n.data.revision++
	e.Revision = n.data.revision
	if !e.IsDeleted {
		e.Value = append([]byte{}, e.Value...)
	}
	n.data.entries[e.Key] = e
	n.change()
	if n.muted[s.name] > 0 {
		n.muted[s.name]--
		return 0, fmt.Errorf("writing %q: %w: no answer came", e.Key, node.ErrUnavailable)
	}
	return e.Revision, nil
}

// Watch calls handle for every present entry whose key begins with prefix, then once with an entry whose Key is empty, and
// then for every change, until the context ends, whose error it returns, or ErrClosed. Changes of one key that come faster
// than handle takes them are told as one.
func (s *store) Watch(ctx context.Context, prefix string, handle func(node.Entry)) error {
	isFirst, last := true, uint64(0)
	for {
		entries, revision, changed := s.since(prefix, last, isFirst)
		if changed == nil {
			return ErrClosed
		}
		for _, e := range entries {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			handle(e)
		}
		if revision > 0 || entries != nil {
			isFirst, last = false, revision
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// since lists what is newer than a revision. The first time it lists what is present, and then the empty entry.
func (s *store) since(prefix string, last uint64, isFirst bool) (all []node.Entry, revision uint64, changed chan struct{}) {
	n := s.net
	n.mu.Lock()
	defer n.mu.Unlock()
	if s.isClosed {
		return nil, 0, nil
	}
	if !n.isAvailable(s.name) {
		return nil, last, n.changed
	}
	for key, e := range n.data.entries {
		if e.Revision <= last || !strings.HasPrefix(key, prefix) || isFirst && e.IsDeleted {
			continue
		}
		e.Value = bytes.Clone(e.Value)
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b node.Entry) int { return cmp.Compare(a.Revision, b.Revision) })
	if isFirst {
		all = append(all, node.Entry{})
	}
	return all, n.data.revision, n.changed
}
