// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package natsbus

import (
	"fmt"
	"log/slog"
	"sync"
)

// serverLog gives what the server says to a structured log. A fatal error does not end the process: it is kept for
// StartServer to return.
type serverLog struct {
	log   *slog.Logger
	fatal chan struct{} // closed at the first fatal error

	mu      sync.Mutex
	problem string
	isFatal bool
}

func newServerLog(log *slog.Logger) *serverLog {
	return &serverLog{log: log.With("component", "nats-server"), fatal: make(chan struct{})}
}

func (l *serverLog) Noticef(format string, v ...any) { l.log.Debug(fmt.Sprintf(format, v...)) }
func (l *serverLog) Debugf(format string, v ...any)  { l.log.Debug(fmt.Sprintf(format, v...)) }
func (l *serverLog) Tracef(format string, v ...any)  { l.log.Debug(fmt.Sprintf(format, v...)) }

func (l *serverLog) Warnf(format string, v ...any) {
	text := fmt.Sprintf(format, v...)
	l.remember(text, false)
	l.log.Warn(text)
}

func (l *serverLog) Errorf(format string, v ...any) {
	text := fmt.Sprintf(format, v...)
	l.remember(text, false)
	l.log.Error(text)
}

func (l *serverLog) Fatalf(format string, v ...any) {
	text := fmt.Sprintf(format, v...)
	l.remember(text, true)
	l.log.Error(text)
}

func (l *serverLog) remember(text string, isFatal bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.isFatal {
		return
	}
	l.problem, l.isFatal = text, isFatal
	if isFatal {
		close(l.fatal)
	}
}

// lastProblem is the fatal error, or else the last error or warning.
func (l *serverLog) lastProblem() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.problem == "" {
		return "the server gave no reason"
	}
	return l.problem
}
