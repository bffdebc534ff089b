// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"errors"
	"io"
	"net/http"
	"time"
)

// promptBody is the body of a call that must come in time. When it has, the deadline goes: the server goes on reading to hear
// whether the caller leaves. A body that was not read to its end keeps its deadline, since the server reads what is left of it.
type promptBody struct {
	io.ReadCloser
	control *http.ResponseController
	isDone  bool
}

func newPromptBody(body io.ReadCloser, control *http.ResponseController, limit time.Duration) *promptBody {
	// Servers that know no deadlines, such as those of tests, do without.
	_ = control.SetReadDeadline(time.Now().Add(limit))
	return &promptBody{ReadCloser: body, control: control}
}

func (b *promptBody) Read(data []byte) (int, error) {
	n, err := b.ReadCloser.Read(data)
	if errors.Is(err, io.EOF) && !b.isDone {
		b.isDone = true
		_ = b.control.SetReadDeadline(time.Time{})
	}
	return n, err
}
