// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"fmt"
	"strconv"

	"allot/allocator"
	"allot/api/access"
	allotv1 "allot/api/v1"
)

// CreatePool implements the call of that name, as all exported methods below do.
func (h *Handler) CreatePool(ctx context.Context, r *allotv1.CreatePoolRequest) (*allotv1.CreatePoolResponse, error) {
	p, err := h.poolFor(ctx, access.Manage, r.GetName())
	if err != nil {
		return nil, err
	}
	p.Units, p.Most = int(r.GetUnits()), int(r.GetMost())
	if p.Most == 0 {
		p.Most = p.Units
	}
	if err := checkSize(p.Units, p.Most); err != nil {
		return nil, err
	}
	if p.Lease, err = duration("lease", r.GetLease(), allocator.MinLease, allocator.MaxLease); err != nil {
		return nil, err
	}
	p, err = h.backend.CreatePool(ctx, p)
	h.record(ctx, Deed{What: "create", Pool: r.GetName(), Details: fmt.Sprintf("units %d, most %d", r.GetUnits(), r.GetMost()), Err: err})
	if err != nil {
		return nil, err
	}
	return &allotv1.CreatePoolResponse{Pool: protoPool(p)}, nil
}

// poolFor checks a name and that the caller may do this with the pool.
func (h *Handler) poolFor(ctx context.Context, what access.Action, name string) (allocator.Pool, error) {
	if err := checkPoolName(name); err != nil {
		return allocator.Pool{}, err
	}
	return allocator.Pool{Name: name}, h.allow(callerOf(ctx), what, name)
}

func checkSize(units, most int) error {
	if units < 1 || units > allocator.MaxUnits {
		return &allocator.ValueError{Field: "units", Value: strconv.Itoa(units), Allowed: fmt.Sprintf("1 to %d", allocator.MaxUnits)}
	}
	if most < 1 || most > units {
		return &allocator.ValueError{Field: "most", Value: strconv.Itoa(most), Allowed: fmt.Sprintf("1 to the number of units, %d", units)}
	}
	return nil
}

func (h *Handler) GetPool(ctx context.Context, r *allotv1.GetPoolRequest) (*allotv1.GetPoolResponse, error) {
	if _, err := h.poolFor(ctx, access.See, r.GetName()); err != nil {
		return nil, err
	}
	p, err := h.backend.Pool(r.GetName())
	if err != nil {
		return nil, err
	}
	return &allotv1.GetPoolResponse{Pool: protoPoolStatus(p)}, nil
}

func (h *Handler) ListPools(ctx context.Context, _ *allotv1.ListPoolsRequest) (*allotv1.ListPoolsResponse, error) {
	return &allotv1.ListPoolsResponse{Pools: h.visiblePools(callerOf(ctx), "")}, nil
}

// visiblePools are those that a caller may see, all or one.
func (h *Handler) visiblePools(who caller, name string) []*allotv1.Pool {
	var out []*allotv1.Pool
	for _, p := range h.backend.Pools() {
		if (name == "" || p.Name == name) && h.allow(who, access.See, p.Name) == nil {
			out = append(out, protoPoolStatus(p))
		}
	}
	return out
}

func (h *Handler) ResizePool(ctx context.Context, r *allotv1.ResizePoolRequest) (*allotv1.ResizePoolResponse, error) {
	if _, err := h.poolFor(ctx, access.Manage, r.GetName()); err != nil {
		return nil, err
	}
	for _, v := range []struct {
		field string
		value int32
	}{{"units", r.GetUnits()}, {"most", r.GetMost()}} {
		if v.value < 0 || v.value > allocator.MaxUnits {
			return nil, &allocator.ValueError{Field: v.field, Value: strconv.Itoa(int(v.value)), Allowed: fmt.Sprintf("1 to %d, or 0 to leave it as it is", allocator.MaxUnits)}
		}
	}
	p, err := h.backend.ResizePool(ctx, r.GetName(), int(r.GetUnits()), int(r.GetMost()))
	h.record(ctx, Deed{What: "resize", Pool: r.GetName(), Details: fmt.Sprintf("units %d, most %d", r.GetUnits(), r.GetMost()), Err: err})
	if err != nil {
		return nil, err
	}
	return &allotv1.ResizePoolResponse{Pool: protoPool(p)}, nil
}

func (h *Handler) DeletePool(ctx context.Context, r *allotv1.DeletePoolRequest) (*allotv1.DeletePoolResponse, error) {
	if _, err := h.poolFor(ctx, access.Manage, r.GetName()); err != nil {
		return nil, err
	}
	err := h.backend.DeletePool(ctx, r.GetName())
	h.record(ctx, Deed{What: "delete", Pool: r.GetName(), Err: err})
	if err != nil {
		return nil, err
	}
	return &allotv1.DeletePoolResponse{}, nil
}

// record writes a deed down.
func (h *Handler) record(ctx context.Context, d Deed) {
	who := callerOf(ctx)
	d.Who, d.Peer = who.principal, who.peer
	if h.options.Audit != nil {
		h.options.Audit.Record(ctx, d)
		return
	}
	h.log.InfoContext(ctx, "deed", "who", d.Who, "peer", d.Peer, "what", d.What, "pool", d.Pool, "grant", d.Grant, "holder", d.Holder,
		"reason", d.Reason, "details", d.Details, "error", d.Err)
}
