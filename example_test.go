// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package allot_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"allot"
	"allot/allocator"
	"allot/api"
	"allot/api/apitest"
)

// demonstration is a node with the pool "gpus", for the examples.
func demonstration() (address string, stop func()) {
	backend := apitest.New(apitest.Options{})
	_, err := backend.CreatePool(context.Background(), allocator.Pool{Name: "gpus", Units: 4, Most: 2})
	if err != nil {
		panic(err)
	}
	handler, err := api.NewHandler(backend, api.Options{})
	if err != nil {
		panic(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	server := api.NewServer(handler, nil)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener)
	}()
	return listener.Addr().String(), func() {
		handler.Close()
		_ = server.Close()
		<-done
	}
}

func Example() {
	address, stop := demonstration()
	defer stop()
	ctx := context.Background()

	client, err := allot.Dial(ctx, address)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	grant, err := client.Acquire(ctx, "gpus", 2, allot.WithReason("training"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("units", grant.Units, "fence", grant.Fence)
	if err := grant.Release(ctx); err != nil {
		fmt.Println(err)
	}
	// Output: units [0 1] fence 1
}

func ExampleClient_TryAcquire() {
	address, stop := demonstration()
	defer stop()
	ctx := context.Background()
	client, err := allot.Dial(ctx, address)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	for range 3 {
		grant, err := client.TryAcquire(ctx, "gpus", 2)
		if errors.Is(err, allot.ErrNotNow) {
			fmt.Println("nothing is free")
			continue
		}
		fmt.Println("units", grant.Units)
	}
	// Output:
	// units [0 1]
	// units [2 3]
	// nothing is free
}

// A grant can end before it is released. Work that goes on for a while stops then.
func ExampleGrant_Lost() {
	address, stop := demonstration()
	defer stop()
	ctx := context.Background()
	client, err := allot.Dial(ctx, address)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	grant, err := client.Acquire(ctx, "gpus", 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := client.Evict(ctx, grant.Name(), "making room"); err != nil {
		fmt.Println(err)
	}
	select {
	case <-grant.Lost():
		fmt.Println(errors.Is(grant.Err(), allot.ErrEvicted), grant.Err())
	case <-time.After(10 * time.Second):
		fmt.Println("the work is done")
	}
	// Output: true the grant of pool gpus is lost: evicted
}

func ExampleClient_Watch() {
	address, stop := demonstration()
	defer stop()
	ctx := context.Background()
	client, err := allot.Dial(ctx, address)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	for snapshot, err := range client.Watch(ctx, "gpus") {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(snapshot.Pools[0].Name, snapshot.Pools[0].Free, "free")
		break
	}
	// Output: gpus 4 free
}

func ExampleOptions_Dial() {
	address, stop := demonstration()
	defer stop()
	client, err := allot.Options{
		Addresses: []string{address, "127.0.0.1:4710"},
		Owner:     "the night shift",
		TTL:       10 * time.Second,
	}.Dial(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	status, err := client.Status(context.Background())
	fmt.Println(status.Node, status.Ready, err)
	// Output: memory true <nil>
}
