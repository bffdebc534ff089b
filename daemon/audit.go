// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"sync"
	"time"

	"allot/api"
)

// auditFile appends what must be on record to a file, or to the log if there is none.
type auditFile struct {
	mu   sync.Mutex
	file *os.File
	log  *slog.Logger
}

func openAudit(path string, log *slog.Logger) (*auditFile, error) {
	a := &auditFile{log: log}
	if path == "" {
		return a, nil
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	a.file = f
	return a, nil
}

// Record appends a line and makes sure that it is on disk.
func (a *auditFile) Record(_ context.Context, d api.Deed) {
	if a.file == nil {
		a.log.Info("audit", "deed", d)
		return
	}
	failed := ""
	if d.Err != nil {
		failed = d.Err.Error() // an error itself has no form in JSON
	}
	line, err := json.Marshal(struct {
		Time time.Time
		api.Deed
		Err string
	}{time.Now().UTC(), d, failed})
	a.mu.Lock()
	defer a.mu.Unlock()
	if err == nil {
		_, err = a.file.Write(append(line, '\n'))
	}
	if err == nil {
		err = a.file.Sync()
	}
	if err != nil {
		a.log.Error("a deed could not be put on record", "deed", d, "error", err)
	}
}

// Close closes the file.
func (a *auditFile) Close() error {
	if a.file == nil {
		return nil
	}
	return a.file.Close()
}
