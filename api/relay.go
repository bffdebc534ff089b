// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"allot/allocator"
	allotv1 "allot/api/v1"
	"allot/api/v1/allotv1connect"
)

// A session lives at one node. A client that can no longer reach it, but can reach another, resumes its session there, and that
// node carries the stream to where the session is. It does so with the token of the client; a client that is known by its
// certificate alone cannot be vouched for.

const (
	// relayHeader marks a stream that was carried once, so that two nodes cannot send it back and forth.
	relayHeader  = "Allot-Relayed"
	relayTimeout = 2 * time.Second
)

// elsewhere tells where the session lives that a first message wants to resume, if that is another node.
func (c *conversation) elsewhere(m *allotv1.SessionRequest) (address string, err error) {
	if c.session != nil || len(m.GetOperations()) == 0 {
		return "", nil
	}
	node := m.GetOperations()[0].GetResume().GetNode()
	network := c.h.backend.Network()
	if node == "" || node == network.Node {
		return "", nil
	}
	if c.caller.isRelayed || c.caller.principal != "" && c.caller.authorization == "" {
		return "", fmt.Errorf("%w at this node", allocator.ErrUnknownSession)
	}
	for _, member := range network.Members {
		if member.Name == node && member.Address != "" {
			return member.Address, nil
		}
	}
	return "", fmt.Errorf("%w: the node %q of the session is no member now", allocator.ErrUnavailable, printable(node, maxText))
}

// relay carries a conversation to another node and back, from its first message on.
func (c *conversation) relay(address string, first *allotv1.SessionRequest) error {
	peer, err := c.h.dialPeer(c.ctx, address, c.caller.authorization)
	if err != nil {
		return fmt.Errorf("%w: the node of the session cannot be reached from here: %w", allocator.ErrUnavailable, err)
	}
	defer peer.abort()
	var back sync.WaitGroup
	defer back.Wait()
	defer peer.abort()
	back.Go(func() {
		c.carryBack(peer)
		c.transport.stop() // the other direction has nobody to speak to
	})
	for m := first; ; {
		body, err := proto.MarshalOptions{}.MarshalAppend(make([]byte, headroom), m)
		if err != nil {
			return err
		}
		if err := peer.send(body); err != nil {
			return nil // the client hears it from the end of its stream, and tries again
		}
		if m, err = c.transport.receive(); err != nil {
			var protocol errProtocol
			if errors.As(err, &protocol) {
				return err
			}
			return nil // one of the two has gone
		}
		c.isHeard.Store(true)
	}
}

// carryBack sends the client what the other node says, byte for byte.
func (c *conversation) carryBack(peer *wire) {
	var buffer []byte
	for {
		body, err := readMessage(peer.in, buffer, 2*maxPending)
		if err != nil {
			return
		}
		buffer = body[:0]
		if c.send(append(make([]byte, headroom, headroom+len(body)), body...)) != nil {
			return
		}
	}
}

// dialPeer upgrades a connection to another node, as a client does.
func (h *Handler) dialPeer(ctx context.Context, address, authorization string) (*wire, error) {
	ctx, cancel := context.WithTimeout(ctx, relayTimeout)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	scheme := "http"
	if h.options.Peers != nil {
		options := h.options.Peers.Clone()
		options.NextProtos = []string{"http/1.1"}
		if options.ServerName == "" {
			options.ServerName, _, _ = net.SplitHostPort(address) // it was dialled already
		}
		conn, scheme = tls.Client(conn, options), "https"
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	in := bufio.NewReader(conn)
	err = shakeHands(conn, in, scheme+"://"+address+allotv1connect.SessionServiceSessionProcedure, authorization)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return &wire{conn: conn, in: in, most: 2 * maxPending}, nil
}

func shakeHands(conn net.Conn, in *bufio.Reader, url, authorization string) error {
	r, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	r.Header.Set("Connection", "Upgrade")
	r.Header.Set("Upgrade", upgradeProtocol)
	r.Header.Set(relayHeader, "1")
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	if err := r.Write(conn); err != nil {
		return err
	}
	response, err := http.ReadResponse(in, r)
	if err != nil {
		return err
	}
	_ = response.Body.Close() // there is none that counts
	if response.StatusCode != http.StatusSwitchingProtocols {
		return fmt.Errorf("it answered %s", response.Status)
	}
	return nil
}
