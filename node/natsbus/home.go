// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package natsbus

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// home is the folder of an embedded server. A file in it says whose it is.
//
// The file prevents three ways to lose the store without a word: NATS removes streams of a server alone when the server is
// started in a cluster, it starts an old copy of a cluster's stream when the server is started alone, and a server that
// comes back under another name is another server with the same votes.
type home struct {
	dir       string
	temporary bool
	lock      *os.File
}

// owner is what the file says.
type owner struct {
	Server  string `json:"server"`
	Cluster string `json:"cluster"` // empty for a server alone
}

const ownerFile = "allot.json"

func openHome(o ServerOptions) (*home, error) {
	if o.Dir == "" {
		dir, err := os.MkdirTemp("", "allot-")
		if err != nil {
			return nil, err
		}
		return &home{dir: dir, temporary: true}, nil
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("folder of the store: %w", err)
	}
	h := &home{dir: o.Dir}
	lock, err := os.OpenFile(filepath.Join(o.Dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("folder of the store: %w", err)
	}
	if err := lockFile(lock); err != nil {
		_ = lock.Close()
		return nil, fmt.Errorf("folder %s of the store is in use by another process: %w", o.Dir, err)
	}
	h.lock = lock
	want := owner{Server: o.Name}
	if o.Cluster != "" {
		want.Cluster = o.ClusterName
	}
	if err := h.claim(want); err != nil {
		_ = h.close()
		return nil, err
	}
	return h, nil
}

// claim writes the file if there is none, and compares if there is one.
func (h *home) claim(want owner) error {
	path := filepath.Join(h.dir, ownerFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return h.write(path, want)
	}
	if err != nil {
		return fmt.Errorf("folder of the store: %w", err)
	}
	var got owner
	if err := json.Unmarshal(text, &got); err != nil {
		return fmt.Errorf("folder of the store: %s: %w", path, err)
	}
	switch {
	case got == want:
		return nil
	case got.Server != want.Server:
		return fmt.Errorf("folder %s belongs to the server %q, not to %q: a server keeps its name, or starts with an empty folder",
			h.dir, got.Server, want.Server)
	case got.Cluster == "":
		return fmt.Errorf("folder %s belongs to a server that was alone: its store would be lost in a cluster; start with an empty folder",
			h.dir)
	case want.Cluster == "":
		return fmt.Errorf("folder %s belongs to a server of the cluster %q: alone it would go on with an old store; join the others again",
			h.dir, got.Cluster)
	default:
		return fmt.Errorf("folder %s belongs to the cluster %q, not to %q", h.dir, got.Cluster, want.Cluster)
	}
}

func (h *home) write(path string, o owner) error {
	text, err := json.Marshal(o)
	if err != nil {
		return err
	}
	// Written beside and renamed, so that a crash leaves all of it or nothing.
	if err := os.WriteFile(path+".new", append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("folder of the store: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("folder of the store: %w", err)
	}
	return nil
}

func (h *home) close() error {
	if h.temporary {
		return os.RemoveAll(h.dir)
	}
	return h.lock.Close()
}
