// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package allot

import (
	"time"

	allotv1 "allot/api/v1"
)

// Pool is the definition of a pool.
type Pool struct {
	Name  string `json:"name"`
	Units int    `json:"units"` // how many there are
	Most  int    `json:"most"`  // how many one request may take; 0 means all of them
	// Lease is how long a node that is cut off may go on using what it holds. After the crash of a node its units come back
	// when it has passed. 0 means 20 seconds.
	Lease    time.Duration `json:"lease_ns"`
	Revision uint64        `json:"revision"`
}

// PoolStatus is how a pool stands, as far as the node that answered can tell.
type PoolStatus struct {
	Pool
	Root       string `json:"root"` // the node that sends the controller round
	Generation uint64 `json:"generation"`
	Stable     bool   `json:"stable"` // the last circulation found every unit exactly once
	Free       int    `json:"free"`
	Held       int    `json:"held"`
	InTransit  int    `json:"in_transit"`
	Missing    int    `json:"missing"`
	Waiting    int    `json:"waiting"` // requests at this node
	Grants     uint64 `json:"grants"`
	Lost       uint64 `json:"lost"`
	Visits     uint64 `json:"visits"`
}

// Holder is a row of the list of who holds what.
type Holder struct {
	ID        string        `json:"id"` // for Evict and ReleaseGrant
	Pool      string        `json:"pool"`
	Units     []int         `json:"units"`
	Fences    []uint64      `json:"fences"`
	Fence     uint64        `json:"fence"`
	Session   string        `json:"session"`
	Owner     string        `json:"owner"`
	Principal string        `json:"principal,omitempty"` // who was authenticated
	Node      string        `json:"node"`
	Reason    string        `json:"reason,omitempty"`
	HeldFor   time.Duration `json:"held_for_ns"`
	GoodFor   time.Duration `json:"good_for_ns"` // unless it is renewed
}

// Waiter is a row of the list of who waits.
type Waiter struct {
	ID        string        `json:"id"`
	Pool      string        `json:"pool"`
	Units     int           `json:"units"`
	Session   string        `json:"session"`
	Owner     string        `json:"owner"`
	Principal string        `json:"principal,omitempty"`
	Node      string        `json:"node"`
	Reason    string        `json:"reason,omitempty"`
	Place     int           `json:"place"` // 1 is next at its node
	WaitedFor time.Duration `json:"waited_for_ns"`
}

// Status is how the network stands, as seen by the node that answered.
type Status struct {
	Node       string   `json:"node"`
	Root       string   `json:"root"`
	Generation uint64   `json:"generation"`
	Members    []Member `json:"members"` // in the order in which controllers visit them, the root first
	Ready      bool     `json:"ready"`   // whether the node is a member of the present generation
}

// Member is a node that takes part.
type Member struct {
	Name    string `json:"name"`
	Address string `json:"address"` // of its API
}

// Snapshot is everything that a watcher may see, at one moment.
type Snapshot struct {
	Status  Status       `json:"status"`
	Pools   []PoolStatus `json:"pools"`
	Holders []Holder     `json:"holders"`
	Waiters []Waiter     `json:"waiters"`
}

func poolOf(m *allotv1.Pool) Pool {
	return Pool{Name: m.GetName(), Units: int(m.GetUnits()), Most: int(m.GetMost()), Lease: m.GetLease().AsDuration(), Revision: m.GetRevision()}
}

func poolStatusOf(m *allotv1.Pool) PoolStatus {
	s := m.GetStatus()
	return PoolStatus{
		Pool: poolOf(m), Root: s.GetRoot(), Generation: s.GetGeneration(), Stable: s.GetStable(),
		Free: int(s.GetFree()), Held: int(s.GetHeld()), InTransit: int(s.GetInTransit()), Missing: int(s.GetMissing()),
		Waiting: int(s.GetWaiting()), Grants: s.GetGrants(), Lost: s.GetLost(), Visits: s.GetVisits(),
	}
}

func holderOf(m *allotv1.Holder) Holder {
	units := make([]int, len(m.GetGrant().GetUnits()))
	for i, u := range m.GetGrant().GetUnits() {
		units[i] = int(u)
	}
	return Holder{
		ID: m.GetId(), Pool: m.GetGrant().GetPool(), Units: units, Fences: m.GetGrant().GetFences(), Fence: m.GetGrant().GetFence(),
		Session: m.GetSession(), Owner: m.GetOwner(), Principal: m.GetPrincipal(), Node: m.GetNode(), Reason: m.GetReason(),
		HeldFor: m.GetHeldFor().AsDuration(), GoodFor: m.GetGoodFor().AsDuration(),
	}
}

func waiterOf(m *allotv1.Waiter) Waiter {
	return Waiter{
		ID: m.GetId(), Pool: m.GetPool(), Units: int(m.GetUnits()), Session: m.GetSession(), Owner: m.GetOwner(),
		Principal: m.GetPrincipal(), Node: m.GetNode(), Reason: m.GetReason(), Place: int(m.GetPlace()), WaitedFor: m.GetWaitedFor().AsDuration(),
	}
}

func statusOf(m *allotv1.Status) Status {
	return Status{
		Node: m.GetNode(), Root: m.GetRoot(), Generation: m.GetGeneration(), Ready: m.GetReady(),
		Members: convert(m.GetMembers(), func(m *allotv1.Member) Member { return Member{Name: m.GetName(), Address: m.GetAddress()} }),
	}
}

// convert never gives nil, so that JSON shows an empty list as one.
func convert[M, T any](all []M, one func(M) T) []T {
	out := make([]T, len(all))
	for i, m := range all {
		out[i] = one(m)
	}
	return out
}
