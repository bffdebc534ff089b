// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package allot

import (
	"context"
	"errors"
	"iter"
	"math"
	"net"
	"strconv"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/durationpb"

	allotv1 "allot/api/v1"
	"allot/api/v1/allotv1connect"
)

// at is the services of one node.
type at struct {
	pools   allotv1connect.PoolServiceClient
	observe allotv1connect.ObserveServiceClient
}

// try makes a call at the first node that can be reached. A call that may have been heard is not repeated.
func try[T any](ctx context.Context, c *Client, call func(at) (T, error)) (T, error) {
	var zero T
	var last error
	for _, address := range c.candidates() {
		e, err := c.options.endpoint(address)
		if err != nil {
			return zero, err
		}
		option := connect.WithInterceptors(&authorizer{c.options.Token})
		out, err := call(at{
			pools:   allotv1connect.NewPoolServiceClient(c.http, e.url(), option),
			observe: allotv1connect.NewObserveServiceClient(c.http, e.url(), option),
		})
		if err == nil {
			return out, nil
		}
		last = callError(err)
		var operation *net.OpError
		isDial := errors.As(err, &operation) && operation.Op == "dial"
		if !isDial || ctx.Err() != nil {
			return zero, last
		}
	}
	return zero, last
}

// count makes a number that fits the definition of the API; the node refuses what makes no sense.
func count(n int) int32 { return int32(max(math.MinInt32, min(n, math.MaxInt32))) }

// CreatePool defines a pool. It returns ErrPoolExists if there is one of the name.
func (c *Client) CreatePool(ctx context.Context, p Pool) (Pool, error) {
	r := &allotv1.CreatePoolRequest{Name: p.Name, Units: count(p.Units), Most: count(p.Most)}
	if p.Lease != 0 {
		r.Lease = durationpb.New(p.Lease)
	}
	m, err := try(ctx, c, func(a at) (*allotv1.CreatePoolResponse, error) { return a.pools.CreatePool(ctx, r) })
	return poolOf(m.GetPool()), err
}

// GetPool tells how a pool stands.
func (c *Client) GetPool(ctx context.Context, name string) (PoolStatus, error) {
	m, err := try(ctx, c, func(a at) (*allotv1.GetPoolResponse, error) {
		return a.pools.GetPool(ctx, &allotv1.GetPoolRequest{Name: name})
	})
	return poolStatusOf(m.GetPool()), err
}

// ListPools lists the pools that the caller may see, by name.
func (c *Client) ListPools(ctx context.Context) ([]PoolStatus, error) {
	m, err := try(ctx, c, func(a at) (*allotv1.ListPoolsResponse, error) {
		return a.pools.ListPools(ctx, &allotv1.ListPoolsRequest{})
	})
	return convert(m.GetPools(), poolStatusOf), err
}

// ResizePool changes how many units a pool has and how many one request may take; 0 leaves a number as it is. Growing is
// immediate; shrinking revokes nothing, it waits for units to come home.
func (c *Client) ResizePool(ctx context.Context, name string, units, most int) (Pool, error) {
	r := &allotv1.ResizePoolRequest{Name: name, Units: count(units), Most: count(most)}
	m, err := try(ctx, c, func(a at) (*allotv1.ResizePoolResponse, error) { return a.pools.ResizePool(ctx, r) })
	return poolOf(m.GetPool()), err
}

// DeletePool removes a pool. Its grants end, and their holders are told.
func (c *Client) DeletePool(ctx context.Context, name string) error {
	_, err := try(ctx, c, func(a at) (*allotv1.DeletePoolResponse, error) {
		return a.pools.DeletePool(ctx, &allotv1.DeletePoolRequest{Name: name})
	})
	return err
}

// Holders lists who holds what, on all nodes. An empty name stands for all pools that the caller may see.
func (c *Client) Holders(ctx context.Context, pool string) ([]Holder, error) {
	m, err := try(ctx, c, func(a at) (*allotv1.ListHoldersResponse, error) {
		return a.observe.ListHolders(ctx, &allotv1.ListHoldersRequest{Pool: pool})
	})
	return convert(m.GetHolders(), holderOf), err
}

// Waiters lists who waits for what, on all nodes. An empty name stands for all pools that the caller may see.
func (c *Client) Waiters(ctx context.Context, pool string) ([]Waiter, error) {
	m, err := try(ctx, c, func(a at) (*allotv1.ListWaitersResponse, error) {
		return a.observe.ListWaiters(ctx, &allotv1.ListWaitersRequest{Pool: pool})
	})
	return convert(m.GetWaiters(), waiterOf), err
}

// Status tells how the network stands.
func (c *Client) Status(ctx context.Context) (Status, error) {
	m, err := try(ctx, c, func(a at) (*allotv1.GetStatusResponse, error) {
		return a.observe.GetStatus(ctx, &allotv1.GetStatusRequest{})
	})
	return statusOf(m.GetStatus()), err
}

// Evict takes units away from a holder, which is told that it lost them. It is recorded, with the reason.
func (c *Client) Evict(ctx context.Context, id, reason string) error {
	_, err := try(ctx, c, func(a at) (*allotv1.EvictResponse, error) {
		return a.observe.Evict(ctx, &allotv1.EvictRequest{Id: id, Reason: reason})
	})
	return err
}

// ReleaseGrant gives back a grant of the caller's own from outside its session.
func (c *Client) ReleaseGrant(ctx context.Context, id string) error {
	_, err := try(ctx, c, func(a at) (*allotv1.ReleaseGrantResponse, error) {
		return a.observe.ReleaseGrant(ctx, &allotv1.ReleaseGrantRequest{Id: id})
	})
	return err
}

// Watch tells how things stand at once, and again whenever something has changed, about once a second at most. It ends with an
// error, or when the caller stops. An empty name stands for all pools that the caller may see.
func (c *Client) Watch(ctx context.Context, pool string) iter.Seq2[Snapshot, error] {
	return func(yield func(Snapshot, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		stream, err := try(ctx, c, func(a at) (*connect.ServerStreamForClient[allotv1.WatchResponse], error) {
			return a.observe.Watch(ctx, &allotv1.WatchRequest{Pool: pool})
		})
		if err != nil {
			yield(Snapshot{}, err)
			return
		}
		for stream.Receive() {
			if !yield(snapshotOf(stream.Msg()), nil) {
				cancel()
				_ = stream.Close() // nobody waits for what is left of it
				return
			}
		}
		err = callError(stream.Err())
		_ = stream.Close()
		if err != nil {
			yield(Snapshot{}, err)
		}
	}
}

func snapshotOf(m *allotv1.WatchResponse) Snapshot {
	return Snapshot{
		Status: statusOf(m.GetStatus()), Pools: convert(m.GetPools(), poolStatusOf),
		Holders: convert(m.GetHolders(), holderOf), Waiters: convert(m.GetWaiters(), waiterOf),
	}
}

// String is the pool with its numbers, such as "gpus: 8 units, at most 3 each".
func (p Pool) String() string {
	return p.Name + ": " + strconv.Itoa(p.Units) + " units, at most " + strconv.Itoa(p.Most) + " each"
}
