// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package allot

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	allotv1 "allot/api/v1"
	"allot/api/v1/allotv1connect"
)

const (
	// connectTimeout is how long one attempt to connect may take.
	connectTimeout = 3 * time.Second
	// headroom is left before the body of a message for its length, so that one write sends both without copying.
	headroom = 16
	// maxMessage is the greatest message that is believed to come from a node.
	maxMessage = 4 << 20
	// maxBatch is the size beyond which another message is begun. A node takes 64 KiB, and one operation is below 2 KiB.
	maxBatch  = 32 << 10
	maxName   = 128
	maxReason = 512
	// upgradeProtocol is what is spoken on a connection after its upgrade.
	upgradeProtocol = "allot.v1"
)

// link carries the messages of one session. One goroutine sends at a time, and one receives.
type link interface {
	// send sends a SessionRequest, encoded, behind headroom that it may use.
	send(message []byte) error
	receive() (*allotv1.SessionResponse, error)
	// close makes the others return. Anybody may call it, more than once.
	close()
}

// errNoUpgrade is returned when something does not let the upgrade through.
var errNoUpgrade = errors.New("the connection was not upgraded")

// connect makes a link to a node.
func (c *Client) connect(ctx context.Context, e endpoint) (link, error) {
	if !c.options.Streams && !c.noUpgrade[e.host] {
		l, err := c.upgrade(ctx, e)
		if !errors.Is(err, errNoUpgrade) {
			return l, err
		}
		c.noUpgrade[e.host] = true
	}
	return c.stream(ctx, e)
}

// upgrade asks for the connection to be upgraded.
func (c *Client) upgrade(ctx context.Context, e endpoint) (link, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", e.host)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	if e.tls != nil {
		options := e.tls.Clone()
		options.NextProtos = []string{"http/1.1"}
		if options.ServerName == "" {
			options.ServerName, _, _ = net.SplitHostPort(e.host) // it was checked when the address was
		}
		conn = tls.Client(conn, options)
	}
	in := bufio.NewReaderSize(conn, 16<<10)
	if err := c.handshake(conn, in, e); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	if !stop() {
		return nil, errors.Join(ErrUnreachable, ctx.Err(), conn.Close())
	}
	return &wire{conn: conn, in: in}, nil
}

func (c *Client) handshake(conn net.Conn, in *bufio.Reader, e endpoint) error {
	r, err := http.NewRequest(http.MethodGet, e.url()+allotv1connect.SessionServiceSessionProcedure, nil)
	if err != nil {
		return err
	}
	r.Header.Set("Connection", "Upgrade")
	r.Header.Set("Upgrade", upgradeProtocol)
	if c.options.Token != "" {
		r.Header.Set("Authorization", "Bearer "+c.options.Token)
	}
	if err := r.Write(conn); err != nil {
		return fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	response, err := http.ReadResponse(in, r)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	if response.StatusCode == http.StatusSwitchingProtocols && response.Header.Get("Upgrade") == upgradeProtocol {
		return nil
	}
	text, _ := io.ReadAll(io.LimitReader(response.Body, 512)) // what there is of it
	_ = response.Body.Close()
	if response.StatusCode == http.StatusUnauthorized {
		return &refusal{sentinel: ErrUnauthenticated, text: strings.TrimSpace(string(text))}
	}
	return fmt.Errorf("%w: %s", errNoUpgrade, response.Status)
}

// wire is a link over an upgraded connection: each message after its length as a varint.
type wire struct {
	conn   net.Conn
	in     *bufio.Reader
	buffer []byte
}

func (w *wire) send(message []byte) error {
	var length [binary.MaxVarintLen64]byte
	n := binary.PutUvarint(length[:], uint64(len(message)-headroom))
	start := headroom - n
	copy(message[start:], length[:n])
	_, err := w.conn.Write(message[start:])
	return err
}

func (w *wire) receive() (*allotv1.SessionResponse, error) {
	length, err := binary.ReadUvarint(w.in)
	if err != nil {
		return nil, err
	}
	if length > maxMessage {
		return nil, fmt.Errorf("%w: a message of %d bytes", ErrProtocol, length)
	}
	if uint64(cap(w.buffer)) < length {
		w.buffer = make([]byte, length)
	}
	body := w.buffer[:length]
	if _, err := io.ReadFull(w.in, body); err != nil {
		return nil, err
	}
	m := &allotv1.SessionResponse{}
	if err := proto.Unmarshal(body, m); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrProtocol, err)
	}
	return m, nil
}

func (w *wire) close() { _ = w.conn.Close() }

// stream opens a stream over HTTP/2.
func (c *Client) stream(ctx context.Context, e endpoint) (link, error) {
	ctx, cancel := context.WithCancel(ctx)
	s, err := allotv1connect.NewSessionServiceClient(c.http, e.url(), connect.WithInterceptors(&authorizer{c.options.Token})).Session(ctx)
	if err != nil {
		cancel()
		return nil, callError(err)
	}
	return &bidi{stream: s, cancel: cancel}, nil
}

// bidi is a link over a stream.
type bidi struct {
	stream *connect.BidiStreamForClientSimple[allotv1.SessionRequest, allotv1.SessionResponse]
	cancel context.CancelFunc
}

func (b *bidi) send(message []byte) error {
	m := &allotv1.SessionRequest{}
	if err := proto.Unmarshal(message[headroom:], m); err != nil {
		return err
	}
	return b.stream.Send(m)
}

func (b *bidi) receive() (*allotv1.SessionResponse, error) {
	m, err := b.stream.Receive()
	if err != nil {
		return nil, callError(err)
	}
	return m, nil
}

func (b *bidi) close() { b.cancel() }

// authorizer shows the token.
type authorizer struct{ token string }

func (a *authorizer) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, r connect.AnyRequest) (connect.AnyResponse, error) {
		if a.token != "" {
			r.Header().Set("Authorization", "Bearer "+a.token)
		}
		return next(ctx, r)
	}
}

func (a *authorizer) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return func(ctx context.Context, spec connect.Spec) connect.StreamingClientConn {
		conn := next(ctx, spec)
		if a.token != "" {
			conn.RequestHeader().Set("Authorization", "Bearer "+a.token)
		}
		return conn
	}
}

func (a *authorizer) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return next
}
