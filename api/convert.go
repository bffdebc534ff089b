// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"allot/allocator"
	allotv1 "allot/api/v1"
)

func protoPool(p allocator.Pool) *allotv1.Pool {
	return &allotv1.Pool{
		Name: p.Name, Units: int32(p.Units), Most: int32(p.Most), Lease: durationpb.New(p.Lease), Revision: p.Revision,
	}
}

func protoPoolStatus(s allocator.PoolStatus) *allotv1.Pool {
	p := protoPool(s.Pool)
	p.Status = &allotv1.PoolStatus{
		Root: s.Root, Generation: s.Generation, Stable: s.Stable,
		Free: int32(s.Free), Held: int32(s.Held), InTransit: int32(s.InTransit), Missing: int32(s.Missing),
		Waiting: int32(s.Waiting), Grants: s.Grants, Lost: s.Lost, Visits: s.Visits,
	}
	return p
}

// fillGrant makes use of the slices that the message has already.
func fillGrant(m *allotv1.Grant, g allocator.Grant) {
	m.Id, m.Pool, m.Fence = g.ID, g.Pool, g.Fence
	m.Units, m.Fences = m.Units[:0], m.Fences[:0]
	for _, u := range g.Units {
		m.Units = append(m.Units, uint32(u.Number))
		m.Fences = append(m.Fences, u.Fence)
	}
}

func protoGrant(g allocator.Grant) *allotv1.Grant {
	m := &allotv1.Grant{}
	fillGrant(m, g)
	return m
}

// grantName is how a grant is called outside its session.
func grantName(node, session, id string) string { return node + "/" + session + "/" + id }

func protoHolder(h allocator.Holding) *allotv1.Holder {
	return &allotv1.Holder{
		Id: grantName(h.Node, h.Session, h.ID), Grant: protoGrant(h.Grant), Session: h.Session, Owner: h.Owner,
		Principal: h.Principal, Node: h.Node, Reason: h.Reason,
		HeldFor: durationpb.New(h.Since), GoodFor: durationpb.New(h.Good),
	}
}

func protoWaiter(w allocator.Waiting) *allotv1.Waiter {
	return &allotv1.Waiter{
		Id: grantName(w.Node, w.Session, w.ID), Request: w.ID, Pool: w.Pool, Units: int32(w.Units), Session: w.Session,
		Owner: w.Owner, Principal: w.Principal, Node: w.Node, Reason: w.Reason, Place: int32(w.Place),
		WaitedFor: durationpb.New(w.Since),
	}
}

func protoMembers(members []allocator.Member) []*allotv1.Member {
	out := make([]*allotv1.Member, len(members))
	for i, m := range members {
		out[i] = &allotv1.Member{Name: m.Name, Address: m.Address}
	}
	return out
}

func protoStatus(n allocator.NetworkStatus) *allotv1.Status {
	return &allotv1.Status{
		Node: n.Node, Root: n.Root, Generation: n.Generation, Ready: n.Ready, Members: protoMembers(n.Members),
	}
}

// duration reads a duration of a stranger, which may be nonsense.
func duration(field string, d *durationpb.Duration, least, most time.Duration) (time.Duration, error) {
	if d == nil {
		return 0, nil
	}
	v := d.AsDuration()
	if d.CheckValid() != nil || v != 0 && (v < least || v > most) {
		return 0, &allocator.ValueError{Field: field, Value: v.String(), Allowed: least.String() + " to " + most.String()}
	}
	return v, nil
}
