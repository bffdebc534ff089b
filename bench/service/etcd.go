// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"go.etcd.io/etcd/server/v3/embed"
)

// serve runs a server of others in a process of its own.
func serve(what string, args []string) {
	switch what {
	case "serve-etcd":
		o := embed.NewConfig()
		o.Dir = filepath.Join(args[1], "data")
		o.LogLevel = "error"
		client, peer := parseURL("http://"+args[0]), parseURL("http://"+args[2])
		o.ListenClientUrls, o.AdvertiseClientUrls = []url.URL{client}, []url.URL{client}
		o.ListenPeerUrls, o.AdvertisePeerUrls = []url.URL{peer}, []url.URL{peer}
		o.InitialCluster = o.InitialClusterFromName(o.Name)
		e, err := embed.StartEtcd(o)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		<-e.Server.StopNotify()
	case "serve-nats":
		u := parseURL("nats://" + args[0])
		port := 0
		_, _ = fmt.Sscan(u.Port(), &port)
		s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: port, JetStream: true, StoreDir: args[1], NoSigs: true})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		s.Start()
		s.WaitForShutdown()
	}
}

func parseURL(s string) url.URL {
	u, err := url.Parse(s)
	if err != nil {
		panic(err)
	}
	return *u
}

func startEtcd(ctx context.Context, dir string, _ workload) (running, error) {
	at, err := freeAddresses(2)
	if err != nil {
		return running{}, err
	}
	self, err := os.Executable()
	if err != nil {
		return running{}, err
	}
	stop, err := spawn(dir, "etcd", self, "serve-etcd", at[0], dir, at[1])
	if err != nil {
		return running{}, err
	}
	connect := func(ctx context.Context, _ int) (client, error) {
		c, err := clientv3.New(clientv3.Config{Endpoints: []string{at[0]}, DialTimeout: 20 * time.Second})
		if err != nil {
			return nil, err
		}
		s, err := concurrency.NewSession(c)
		if err != nil {
			return nil, err
		}
		return &etcdClient{c: c, s: s, m: concurrency.NewMutex(s, "/lock")}, nil
	}
	return running{connect: connect, stop: stop}, nil
}

type etcdClient struct {
	c *clientv3.Client
	s *concurrency.Session
	m *concurrency.Mutex
}

func (c *etcdClient) take(ctx context.Context) error { return c.m.Lock(ctx) }
func (c *etcdClient) give(ctx context.Context) error { return c.m.Unlock(ctx) }
func (c *etcdClient) close() {
	_ = c.s.Close()
	_ = c.c.Close()
}

func startNATS(ctx context.Context, dir string, _ workload) (running, error) {
	at, err := freeAddresses(1)
	if err != nil {
		return running{}, err
	}
	self, err := os.Executable()
	if err != nil {
		return running{}, err
	}
	stop, err := spawn(dir, "nats", self, "serve-nats", at[0], dir)
	if err != nil {
		return running{}, err
	}
	dial := func() (*nats.Conn, jetstream.JetStream, error) {
		c, err := nats.Connect("nats://"+at[0], nats.RetryOnFailedConnect(true), nats.ReconnectWait(50*time.Millisecond))
		if err != nil {
			return nil, nil, err
		}
		js, err := jetstream.New(c)
		return c, js, err
	}
	c, js, err := dial()
	if err != nil {
		stop()
		return running{}, err
	}
	defer c.Close()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		_, err = js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: "locks"})
		if err == nil || time.Now().After(end) {
			break
		}
	}
	if err != nil {
		stop()
		return running{}, err
	}
	connect := func(ctx context.Context, _ int) (client, error) {
		c, js, err := dial()
		if err != nil {
			return nil, err
		}
		kv, err := js.KeyValue(ctx, "locks")
		if err != nil {
			return nil, err
		}
		w, err := kv.Watch(ctx, "lock", jetstream.UpdatesOnly())
		return &natsClient{c: c, kv: kv, w: w}, err
	}
	return running{connect: connect, stop: stop}, nil
}

// natsClient makes a key to lock and deletes it to unlock; whoever waits watches for the deletion.
type natsClient struct {
	c   *nats.Conn
	kv  jetstream.KeyValue
	w   jetstream.KeyWatcher
	rev uint64
}

func (c *natsClient) take(ctx context.Context) (err error) {
	for {
		for len(c.w.Updates()) > 0 {
			<-c.w.Updates()
		}
		if c.rev, err = c.kv.Create(ctx, "lock", []byte("x")); err == nil {
			return nil
		}
		select {
		case <-c.w.Updates():
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (c *natsClient) give(ctx context.Context) error {
	return c.kv.Delete(ctx, "lock", jetstream.LastRevision(c.rev))
}

func (c *natsClient) close() {
	_ = c.w.Stop()
	c.c.Close()
}
