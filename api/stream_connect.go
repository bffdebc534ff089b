// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"net/http"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	allotv1 "allot/api/v1"
)

// Session serves the stream of a session over Connect or gRPC.
func (h *Handler) Session(ctx context.Context, stream *connect.BidiStream[allotv1.SessionRequest, allotv1.SessionResponse]) error {
	who := callerOf(ctx)
	h.metrics.streams.WithLabelValues("connect").Inc()
	defer h.metrics.streams.WithLabelValues("connect").Dec()
	return h.converse(ctx, who, &bidi{stream: stream, control: who.control})
}

// bidi is a transport over a stream of Connect, which wants messages and not bytes.
type bidi struct {
	stream  *connect.BidiStream[allotv1.SessionRequest, allotv1.SessionResponse]
	control *http.ResponseController
}

func (b *bidi) receive() (*allotv1.SessionRequest, error) { return b.stream.Receive() }

func (b *bidi) send(message []byte) error {
	m := &allotv1.SessionResponse{}
	if err := proto.Unmarshal(message[headroom:], m); err != nil {
		return err
	}
	return b.stream.Send(m)
}

// A server that knows no deadlines ends the stream when the client does.
func (b *bidi) stop() { _ = b.control.SetReadDeadline(time.Unix(1, 0)) }

func (b *bidi) abort() {
	b.stop()
	_ = b.control.SetWriteDeadline(time.Unix(1, 0))
}
