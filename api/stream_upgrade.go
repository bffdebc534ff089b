// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/protobuf/proto"

	allotv1 "allot/api/v1"
	"allot/api/v1/allotv1connect"
)

// upgradeProtocol is what a client asks to speak after the upgrade of its connection.
const upgradeProtocol = "allot.v1"

// isUpgrade tells a request that wants the stream of a session as a connection of its own.
func isUpgrade(r *http.Request) bool {
	return r.Method == http.MethodGet && r.ProtoMajor == 1 && r.URL.Path == allotv1connect.SessionServiceSessionProcedure &&
		strings.EqualFold(r.Header.Get("Connection"), "upgrade") && r.Header.Get("Upgrade") == upgradeProtocol
}

// serveUpgrade takes the connection away from HTTP and has a conversation on it.
func (h *Handler) serveUpgrade(w http.ResponseWriter, r *http.Request) {
	who := callerOf(r.Context())
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		h.log.Error("a connection cannot be upgraded", "error", err)
		http.Error(w, "this connection cannot be upgraded", http.StatusInternalServerError)
		return
	}
	defer func() { _ = conn.Close() }() // nobody is left to care
	start := time.Now()
	ctx, span := h.tracer.Start(r.Context(), strings.TrimPrefix(r.URL.Path, "/"), trace.WithSpanKind(trace.SpanKindServer))
	defer span.End()
	h.metrics.streams.WithLabelValues("upgrade").Inc()
	defer h.metrics.streams.WithLabelValues("upgrade").Dec()
	err = conn.SetDeadline(time.Time{})
	if err == nil {
		_, err = fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n", upgradeProtocol)
	}
	if err == nil {
		// The context of a request whose connection was taken away is not cancelled when the client leaves; the conversation
		// hears of it by reading.
		err = h.converse(ctx, who, &wire{conn: conn, in: directly(conn, buffered.Reader), most: h.options.MaxMessage})
	}
	if err != nil && !isGone(err) {
		span.SetStatus(codes.Error, printable(err.Error(), maxText))
	}
	h.logStream(r, who, "upgrade", time.Since(start), err)
}

// directly reads from the connection itself, after what HTTP has read already: its reader does more than is needed now.
func directly(conn net.Conn, buffered *bufio.Reader) *bufio.Reader {
	early, _ := buffered.Peek(buffered.Buffered()) // it has as much
	if len(early) == 0 {
		return bufio.NewReader(conn)
	}
	return bufio.NewReader(io.MultiReader(bytes.NewReader(bytes.Clone(early)), conn))
}

// wire is a transport over a connection: each message after its length as a varint.
type wire struct {
	conn   net.Conn
	in     *bufio.Reader
	most   int
	buffer []byte
}

func (w *wire) receive() (*allotv1.SessionRequest, error) {
	body, err := readMessage(w.in, w.buffer, w.most)
	if err != nil {
		return nil, err
	}
	w.buffer = body[:0]
	m := &allotv1.SessionRequest{}
	if err := proto.Unmarshal(body, m); err != nil {
		return nil, errProtocol("a message cannot be decoded: it is no SessionRequest")
	}
	return m, nil
}

// readMessage reads a length and as many bytes, into the buffer if they fit.
func readMessage(in *bufio.Reader, buffer []byte, most int) ([]byte, error) {
	length, err := binary.ReadUvarint(in)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, errProtocol("the stream ends inside the length of a message")
	case err != nil && !isNetwork(err):
		return nil, errProtocol("the length of a message makes no sense")
	case err != nil:
		return nil, err
	case length > uint64(most):
		return nil, errProtocol(fmt.Sprintf("a message of %d bytes, at most %d are allowed", length, most))
	}
	if uint64(cap(buffer)) < length {
		buffer = make([]byte, length)
	}
	buffer = buffer[:length]
	if _, err := io.ReadFull(in, buffer); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
			return nil, errProtocol("the stream ends inside a message")
		}
		return nil, err
	}
	return buffer, nil
}

// isNetwork tells an error of the connection from one of what was read.
func isNetwork(err error) bool {
	var network net.Error
	return errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) || errors.As(err, &network)
}

func (w *wire) send(message []byte) error {
	// The length goes right before the body, so that one write sends both.
	var length [binary.MaxVarintLen64]byte
	n := binary.PutUvarint(length[:], uint64(len(message)-headroom))
	start := headroom - n
	copy(message[start:], length[:n])
	_, err := w.conn.Write(message[start:])
	return err
}

func (w *wire) stop() { _ = w.conn.SetReadDeadline(time.Unix(1, 0)) }

func (w *wire) abort() { _ = w.conn.Close() }
