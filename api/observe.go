// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"fmt"
	"strings"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"allot/allocator"
	"allot/api/access"
	allotv1 "allot/api/v1"
)

func (h *Handler) ListHolders(ctx context.Context, r *allotv1.ListHoldersRequest) (*allotv1.ListHoldersResponse, error) {
	holders, err := h.visibleHolders(ctx, r.GetPool())
	if err != nil {
		return nil, err
	}
	return &allotv1.ListHoldersResponse{Holders: holders}, nil
}

// mayList checks the name of a pool whose lists are wanted. An empty one stands for all that may be seen.
func (h *Handler) mayList(ctx context.Context, pool string) error {
	if pool == "" {
		return nil
	}
	if _, err := h.poolFor(ctx, access.See, pool); err != nil {
		return err
	}
	_, err := h.backend.Pool(pool)
	return err
}

func (h *Handler) visibleHolders(ctx context.Context, pool string) ([]*allotv1.Holder, error) {
	if err := h.mayList(ctx, pool); err != nil {
		return nil, err
	}
	rows, err := h.backend.Holdings(ctx, pool)
	if err != nil {
		return nil, err
	}
	who := callerOf(ctx)
	var out []*allotv1.Holder
	for _, row := range rows {
		if h.allow(who, access.See, row.Pool) == nil {
			out = append(out, protoHolder(row))
		}
	}
	return out, nil
}

func (h *Handler) ListWaiters(ctx context.Context, r *allotv1.ListWaitersRequest) (*allotv1.ListWaitersResponse, error) {
	waiters, err := h.visibleWaiters(ctx, r.GetPool())
	if err != nil {
		return nil, err
	}
	return &allotv1.ListWaitersResponse{Waiters: waiters}, nil
}

func (h *Handler) visibleWaiters(ctx context.Context, pool string) ([]*allotv1.Waiter, error) {
	if err := h.mayList(ctx, pool); err != nil {
		return nil, err
	}
	rows, err := h.backend.Waitings(ctx, pool)
	if err != nil {
		return nil, err
	}
	who := callerOf(ctx)
	var out []*allotv1.Waiter
	for _, row := range rows {
		if h.allow(who, access.See, row.Pool) == nil {
			out = append(out, protoWaiter(row))
		}
	}
	return out, nil
}

func (h *Handler) GetStatus(context.Context, *allotv1.GetStatusRequest) (*allotv1.GetStatusResponse, error) {
	return &allotv1.GetStatusResponse{Status: protoStatus(h.backend.Network())}, nil
}

func (h *Handler) Evict(ctx context.Context, r *allotv1.EvictRequest) (*allotv1.EvictResponse, error) {
	reason, err := checkText("reason", r.GetReason(), allocator.MaxReason)
	if err != nil {
		return nil, err
	}
	holding, err := h.find(ctx, r.GetId())
	if err != nil {
		return nil, err
	}
	if err := h.allow(callerOf(ctx), access.Evict, holding.Pool); err != nil {
		return nil, err
	}
	return &allotv1.EvictResponse{}, h.end(ctx, "evict", r.GetId(), holding, reason)
}

func (h *Handler) ReleaseGrant(ctx context.Context, r *allotv1.ReleaseGrantRequest) (*allotv1.ReleaseGrantResponse, error) {
	holding, err := h.find(ctx, r.GetId())
	if err != nil {
		return nil, err
	}
	who := callerOf(ctx)
	if holding.Principal != who.principal {
		return nil, &access.ForbiddenError{Who: who.principal, Action: "release a grant of " + access.Action(printable(holding.Principal, maxText)) + " in", Pool: holding.Pool}
	}
	if err := h.allow(who, access.Take, holding.Pool); err != nil {
		return nil, err
	}
	return &allotv1.ReleaseGrantResponse{}, h.end(ctx, "release", r.GetId(), holding, "released by its owner from outside the session")
}

// find looks a grant up by its outside name. Strangers are told of no difference between a grant that is not there and one
// that they may not see.
func (h *Handler) find(ctx context.Context, name string) (allocator.Holding, error) {
	if strings.Count(name, "/") != 2 || len(name) > 4*allocator.MaxName {
		return allocator.Holding{}, &allocator.ValueError{Field: "id", Value: printable(name, maxText), Allowed: "node/session/request, as in the list of holders"}
	}
	rows, err := h.backend.Holdings(ctx, "")
	if err != nil {
		return allocator.Holding{}, err
	}
	who := callerOf(ctx)
	for _, row := range rows {
		mine := row.Principal == who.principal || h.allow(who, access.See, row.Pool) == nil || h.allow(who, access.Evict, row.Pool) == nil
		if mine && grantName(row.Node, row.Session, row.ID) == name {
			return row, nil
		}
	}
	return allocator.Holding{}, fmt.Errorf("%s: %w", printable(name, maxText), allocator.ErrUnknownGrant)
}

// end takes a grant from its holder, and records it.
func (h *Handler) end(ctx context.Context, what, name string, holding allocator.Holding, reason string) error {
	err := h.backend.Evict(ctx, name, callerOf(ctx).principal, reason)
	h.record(ctx, Deed{What: what, Pool: holding.Pool, Grant: name, Holder: holding.Owner, Reason: reason, Err: err})
	return err
}

func (h *Handler) Watch(ctx context.Context, r *allotv1.WatchRequest, stream *connect.ServerStream[allotv1.WatchResponse]) error {
	every, err := duration("every", r.GetEvery(), 250*time.Millisecond, time.Minute)
	if err != nil {
		return err
	}
	if every == 0 {
		every = time.Second
	}
	if err := h.mayList(ctx, r.GetPool()); err != nil {
		return err
	}
	if err := h.enterWatch(); err != nil {
		return err
	}
	defer h.leaveWatch()
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	var last *allotv1.WatchResponse
	for {
		now, err := h.snapshot(ctx, r.GetPool())
		if err != nil {
			return err
		}
		if still := timeless(now); last == nil || !proto.Equal(still, last) {
			last = still
			if err := stream.Send(now); err != nil {
				return err
			}
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return ctx.Err()
		case <-h.done:
			return fmt.Errorf("%w: it is going down", allocator.ErrUnavailable)
		}
	}
}

func (h *Handler) enterWatch() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.isClosed {
		return fmt.Errorf("%w: it is going down", allocator.ErrUnavailable)
	}
	if h.watches >= h.options.MaxWatches {
		return fmt.Errorf("%w: %d watches are open", allocator.ErrLimit, h.watches)
	}
	h.watches++
	h.running.Add(1)
	return nil
}

func (h *Handler) leaveWatch() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.watches--
	h.running.Done()
}

// snapshot is everything that a caller may see.
func (h *Handler) snapshot(ctx context.Context, pool string) (*allotv1.WatchResponse, error) {
	holders, err := h.visibleHolders(ctx, pool)
	if err != nil {
		return nil, err
	}
	waiters, err := h.visibleWaiters(ctx, pool)
	if err != nil {
		return nil, err
	}
	return &allotv1.WatchResponse{
		Status: protoStatus(h.backend.Network()), Pools: h.visiblePools(callerOf(ctx), pool), Holders: holders, Waiters: waiters,
	}, nil
}

// timeless is a snapshot without what changes by the mere passing of time, for comparing.
func timeless(w *allotv1.WatchResponse) *allotv1.WatchResponse {
	still := proto.CloneOf(w)
	for _, p := range still.Pools {
		p.Status.Visits = 0
	}
	for _, h := range still.Holders {
		h.HeldFor, h.GoodFor = nil, nil
	}
	for _, w := range still.Waiters {
		w.WaitedFor = nil
	}
	return still
}
