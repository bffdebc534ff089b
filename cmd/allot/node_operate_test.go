// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"allot/daemon"
)

// TestNodeReady asks a node that is there, one that is not, and one whose options make no sense.
func TestNodeReady(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	n, err := daemon.StartNetwork(ctx, daemon.NetworkOptions{Nodes: 1, Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	address := n.Nodes[0].Address()
	options := filepath.Join(t.TempDir(), "allot.toml")
	if err := os.WriteFile(options, []byte("listen = \""+address+"\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ask := func(args ...string) (int, string) {
		var out, problems strings.Builder
		code := run(ctx, append([]string{"node"}, args...), &out, &problems)
		return code, out.String() + problems.String()
	}
	for _, args := range [][]string{{"ready", "--listen", address}, {"ready", "--config", options}} {
		if code, text := ask(args...); code != exitHeld || text != "ready\n" {
			t.Errorf("%v: %d %s", args, code, text)
		}
	}
	if code, text := ask("forget", "b", "--address", address); code != exitUsage || !strings.Contains(text, "no embedded server that is part of a cluster") {
		t.Errorf("forget: %d %s", code, text)
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	if code, text := ask("ready", "--listen", address); code != exitUnreachable {
		t.Errorf("a node that is gone: %d %s", code, text)
	}
	if code, text := ask("forget", "b", "--address", address); code != exitUnreachable {
		t.Errorf("forget at a node that is gone: %d %s", code, text)
	}
	if code, text := ask("ready", "--listen", "x"); code != exitUsage || !strings.Contains(text, "HOST:PORT") {
		t.Errorf("an odd address: %d %s", code, text)
	}
	// What makes no sense is usage, not a network that cannot be reached.
	if code, text := ask("--name", "a", "--listen", "127.0.0.1:0", "--cluster", "127.0.0.1:6222"); code != exitUsage || !strings.Contains(text, "dir = ") {
		t.Errorf("a cluster without a folder: %d %s", code, text)
	}
}

// TestNodeFlagsDocumented: the handbook names every flag of a node.
func TestNodeFlagsDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	newNode().Flags().VisitAll(func(f *pflag.Flag) {
		if !strings.Contains(string(text), "`--"+f.Name+"`") {
			t.Errorf("docs/operations.md does not name --%s", f.Name)
		}
	})
}
