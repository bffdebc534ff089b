// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package allot

import (
	"context"
	"slices"
	"time"

	allotv1 "allot/api/v1"
)

// Grant is units in the hands of this client.
type Grant struct {
	// ID is unique in the client's session.
	ID   string
	Pool string
	// Units are the numbers of the units, from 0, in increasing order.
	Units []int
	// Fences[i] belongs to Units[i] and is greater than any that was given out for that unit before.
	Fences []uint64
	// Fence is the greatest of Fences. It suits a thing that is guarded by the pool as a whole if the pool has one unit; a
	// thing that belongs to one unit is guarded by the fence of that unit.
	Fence uint64
	// Session is the id of the session, for finding the grant in lists.
	Session string
	// Node is where the session is.
	Node string

	c    *Client
	lost chan struct{}
	err  error // set before lost is closed; guarded by the client's mu
	isIn bool  // in the client's hands; guarded by the client's mu
}

func newGrant(c *Client, m *allotv1.Grant) *Grant {
	g := &Grant{
		ID: m.GetId(), Pool: m.GetPool(), Fences: m.GetFences(), Fence: m.GetFence(), Session: c.session, Node: c.node,
		c: c, lost: make(chan struct{}), isIn: true,
	}
	g.Units = make([]int, len(m.GetUnits()))
	for i, u := range m.GetUnits() {
		g.Units[i] = int(u)
	}
	return g
}

// Name is what the grant is called in lists and for eviction.
func (g *Grant) Name() string { return g.Node + "/" + g.Session + "/" + g.ID }

// Lost is closed when the grant has ended before it was released. Nobody else has its units before that, as long as this
// program is not stopped: whoever may have been asks Err. It is not closed by Release.
func (g *Grant) Lost() <-chan struct{} { return g.lost }

// Err is nil as long as the grant is good, and then tells why it no longer is: a *LostError, or ErrUnknownGrant after a
// release. It looks at the clock, so that it is right even in a program that has just been resumed.
func (g *Grant) Err() error {
	g.c.mu.Lock()
	defer g.c.mu.Unlock()
	switch {
	case g.err != nil:
		return g.err
	case !g.isIn:
		return ErrUnknownGrant
	case int64(g.c.now()) >= g.c.deadline.Load():
		return &LostError{Pool: g.Pool, Grant: g.ID, Err: ErrSessionEnded}
	}
	return nil
}

// GoodFor is how long the grant stays good if nothing more is heard from the node.
func (g *Grant) GoodFor() time.Duration {
	if g.Err() != nil {
		return 0
	}
	return time.Duration(g.c.deadline.Load()) - g.c.now()
}

// Release gives the units back and returns when the node has them, or the context ends; the release then goes on by itself.
// If the grant was lost, Release returns how. Releasing again does nothing.
func (g *Grant) Release(ctx context.Context) error {
	c := g.c
	c.mu.Lock()
	if !g.isIn {
		defer c.mu.Unlock()
		return g.err
	}
	g.isIn = false
	delete(c.grants, g.ID)
	done := make(chan struct{})
	c.returns[g.ID] = done
	c.putReturn(g.ID, false)
	c.flush()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// LetGo gives the units back without waiting for the node to say that it has them. It costs next to nothing if the client
// asks for something else right after: both travel in one message.
func (g *Grant) LetGo() {
	c := g.c
	c.mu.Lock()
	defer c.mu.Unlock()
	if !g.isIn {
		return
	}
	g.isIn = false
	delete(c.grants, g.ID)
	// If the message does not arrive, the node tells of the grant again when the session is resumed.
	c.putReturn(g.ID, true)
	c.isOwing = c.isOwing || c.link == nil
	c.flushLater()
}

// lose ends a grant. The caller holds the client's mu.
func (g *Grant) lose(why error) {
	if !g.isIn {
		return
	}
	g.isIn = false
	g.err = &LostError{Pool: g.Pool, Grant: g.ID, Err: why}
	delete(g.c.grants, g.ID)
	close(g.lost)
}

// Has tells whether a unit is among those of the grant.
func (g *Grant) Has(unit int) bool { return slices.Contains(g.Units, unit) }
