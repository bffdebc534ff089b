// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"net"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// takeScript takes units if there are enough; every holder is on record with a deadline, and those past it are put back.
var takeScript = redis.NewScript(`
local now = tonumber(redis.call('TIME')[1])
for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now)) do
  redis.call('DECRBY', KEYS[1], redis.call('HGET', KEYS[3], id) or 0)
  redis.call('ZREM', KEYS[2], id)
  redis.call('HDEL', KEYS[3], id)
end
local used = tonumber(redis.call('GET', KEYS[1]) or '0')
local n = tonumber(ARGV[1])
if used + n > tonumber(ARGV[2]) then return 0 end
redis.call('INCRBY', KEYS[1], n)
redis.call('ZADD', KEYS[2], now + 10, ARGV[3])
redis.call('HSET', KEYS[3], ARGV[3], n)
return 1`)

var giveScript = redis.NewScript(`
if redis.call('ZREM', KEYS[2], ARGV[1]) == 1 then
  redis.call('DECRBY', KEYS[1], redis.call('HGET', KEYS[3], ARGV[1]))
  redis.call('HDEL', KEYS[3], ARGV[1])
  redis.call('PUBLISH', KEYS[4], '1')
end
return 1`)

var redisKeys = []string{"used", "holders", "units", "freed"}

func startRedis(ctx context.Context, dir string, w workload) (running, error) {
	path, err := exec.LookPath("redis-server")
	if err != nil {
		return running{}, errors.New("redis-server is not installed")
	}
	at, err := freeAddresses(1)
	if err != nil {
		return running{}, err
	}
	_, port, err := net.SplitHostPort(at[0])
	if err != nil {
		return running{}, err
	}
	stop, err := spawn(dir, "redis", path, "--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", filepath.Dir(dir))
	if err != nil {
		return running{}, err
	}
	c := redis.NewClient(&redis.Options{Addr: at[0]})
	defer func() { _ = c.Close() }()
	for end := time.Now().Add(10 * time.Second); c.Ping(ctx).Err() != nil; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			stop()
			return running{}, errors.New("redis-server does not answer")
		}
	}
	connect := func(ctx context.Context, i int) (client, error) {
		c := &redisClient{c: redis.NewClient(&redis.Options{Addr: at[0], PoolSize: 2}), id: strconv.Itoa(i), w: w}
		c.sub = c.c.Subscribe(ctx, "freed")
		_, err := c.sub.Receive(ctx)
		c.freed = c.sub.Channel(redis.WithChannelSize(1024))
		return c, err
	}
	return running{connect: connect, stop: stop}, nil
}

type redisClient struct {
	c     *redis.Client
	sub   *redis.PubSub
	freed <-chan *redis.Message
	id    string
	w     workload
}

func (c *redisClient) take(ctx context.Context) error {
	for {
		// What was freed before this attempt is no news.
		for len(c.freed) > 0 {
			<-c.freed
		}
		n, err := takeScript.Run(ctx, c.c, redisKeys, c.w.Want, c.w.Units, c.id).Int()
		if err != nil || n == 1 {
			return err
		}
		select {
		case <-c.freed:
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (c *redisClient) give(ctx context.Context) error {
	return giveScript.Run(ctx, c.c, redisKeys, c.id).Err()
}

func (c *redisClient) close() {
	_ = c.sub.Close()
	_ = c.c.Close()
}
