// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package tidy

import (
	"fmt"
	"path"
	"strings"
	"testing"
	"testing/fstest"
)

const goodDoc = header + "// Package x is\n// a good\n// example.\npackage x\n"

// inMemory makes a repository of a few files.
func inMemory(t *testing.T, files map[string]string) *repository {
	t.Helper()
	all := fstest.MapFS{"go.mod": {Data: []byte("module allot\n\ngo 1.26\n")}}
	for name, content := range files {
		all[name] = &fstest.MapFile{Data: []byte(content)}
	}
	r, err := newRepository(all)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// expect compares the violations found with the parts of text that each of them must hold, in order.
func expect(t *testing.T, found []violation, want ...string) {
	t.Helper()
	if len(found) != len(want) {
		t.Errorf("%d violations, want %d", len(found), len(want))
	}
	for i, v := range found {
		if i >= len(want) {
			t.Errorf("not expected: %s", v)
		} else if !strings.Contains(v.String(), want[i]) {
			t.Errorf("violation %d is\n%s\nwant it to hold\n%s", i, v, want[i])
		}
	}
}

// TestImportRules asks the table about single imports, good and bad.
func TestImportRules(t *testing.T) {
	for _, c := range []struct {
		file, pkg string
		allowed   bool
	}{
		{"model/a.go", "fmt", true},
		{"model/a.go", "math/bits", true},
		{"model/a.go", "time", false},
		{"model/a.go", "math/rand", false},
		{"model/a.go", "math/rand/v2", false},
		{"model/a.go", "crypto/rand", false},
		{"model/a.go", "context", false},
		{"model/a.go", "sync", false},
		{"model/a.go", "sync/atomic", false},
		{"model/a.go", "log", false},
		{"model/a.go", "log/slog", false},
		{"model/a.go", "os", false},
		{"model/a.go", "os/exec", false},
		{"model/a.go", "net/http", false},
		{"model/a.go", "allot/check", false},
		{"model/a_test.go", "os", true},
		{"model/a_test.go", "allot/check", true},
		{"model/a_test.go", "allot/bench", false},

		{"topology/a.go", "allot/model", true},
		{"topology/a.go", "allot/sim", false},
		{"topology/a.go", "os", false},
		{"topology/a.go", "time", false},
		{"topology/a.go", "math/rand", false},

		{"protocol/protocol.go", "allot/model", true},
		{"protocol/protocol.go", "allot/protocol/ring", true},
		{"protocol/protocol.go", "allot/check", false},
		{"protocol/protocol_test.go", "allot/check", true},
		{"protocol/ring/a.go", "allot/model", true},
		{"protocol/ring/a.go", "allot/protocol/internal/link", true},
		{"protocol/ring/a.go", "allot/protocol/tree", false},
		{"protocol/ring/a.go", "allot/protocol", false},
		{"protocol/ring/a.go", "allot/sim", false},
		{"protocol/ring/a.go", "time", false},
		{"protocol/ring/a_test.go", "time", true},
		{"protocol/ring/a_test.go", "allot/sim", true},
		{"protocol/ring/a_test.go", "allot/topology", true},
		{"protocol/ring/a_test.go", "allot/protocol/tree", true},
		{"protocol/ring/a_test.go", "allot/daemon", false},
		{"protocol/internal/link/a.go", "allot/protocol/internal/spanning", true},
		{"protocol/internal/link/a.go", "allot/protocol/ring", false},
		{"protocol/internal/link/a.go", "sync", false},

		{"sim/a.go", "allot/model", true},
		{"sim/a.go", "allot/protocol", false},
		{"sim/a.go", "allot/protocol/ring", false},
		{"sim/a.go", "allot/check", false},
		{"sim/a.go", "math/rand/v2", true},
		{"sim/a.go", "math/rand", false},
		{"sim/a.go", "time", false},
		{"sim/a.go", "sync", true},
		{"sim/a_test.go", "allot/protocol/ring", true},
		{"check/a.go", "allot/model", true},
		{"check/a.go", "allot/sim", false},
		{"check/a.go", "sync/atomic", true},
		{"check/a.go", "context", true},
		{"check/a.go", "time", false},
		{"check/a.go", "os", false},
		{"check/a.go", "math/rand", false},
		{"check/a.go", "log", false},

		{"chart/a.go", "allot/model", false},
		{"internal/tidy/a.go", "allot/model", false},
		{"dashboard/a.go", "allot/api/v1", false},
		{"node/a.go", "allot/model", true},
		{"node/a.go", "time", true},
		{"node/a.go", "allot/protocol/ring", false},
		{"node/a.go", "github.com/nats-io/nats.go", false},
		{"node/natsbus/a.go", "allot/node", true},
		{"node/natsbus/a.go", "github.com/nats-io/nats.go", true},
		{"node/natsbus/a.go", "allot/allocator", false},
		{"allocator/a.go", "allot/node", true},
		{"allocator/a.go", "time", true},
		{"allocator/a.go", "os", false},
		{"allocator/a.go", "allot/node/natsbus", false},
		{"api/v1/a.go", "allot/allocator", false},
		{"api/http/a.go", "allot/api/v1", true},
		{"api/http/a.go", "allot/allocator", true},
		{"api/http/a.go", "allot/node", false},
		{"allot.go", "allot/api/v1", true},
		{"allot.go", "allot/daemon", false},
		{"allot_test.go", "allot/daemon", true},
		{"daemon/a.go", "allot/protocol", true},
		{"daemon/a.go", "allot/node/natsbus", true},
		{"daemon/a.go", "allot/sim", false},
		{"daemon/a.go", "allot/check", false},
		{"daemon/a.go", "allot", false},
		{"daemon/a.go", "allot/bench", false},
		{"cmd/allot/a.go", "allot/check", true},
		{"cmd/allot/a.go", "allot", true},
		{"cmd/allot/a.go", "allot/node", false},
		{"cmd/allot/a.go", "allot/allocator", false},
		{"cmd/allot/a.go", "allot/bench", false},
		{"bench/a.go", "allot/node", true},
		{"bench/a_test.go", "allot/bench/peers", true},
	} {
		content := fmt.Sprintf("%spackage x\n\nimport %q\n", header, c.pkg)
		r := inMemory(t, map[string]string{c.file: content, path.Join(path.Dir(c.file), "doc.go"): goodDoc})
		found, err := checkSources(r, rooms)
		if err != nil {
			t.Fatal(err)
		}
		if allowed := len(found) == 0; allowed != c.allowed {
			t.Errorf("%s imports %s: allowed is %v, want %v: %v", c.file, c.pkg, allowed, c.allowed, found)
		}
	}
}

// TestViolationsAreFound hands in one bad file at a time.
func TestViolationsAreFound(t *testing.T) {
	long := goodDoc + strings.Repeat("\n", 601-strings.Count(goodDoc, "\n"))
	for name, c := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"all is well": {
			map[string]string{"model/doc.go": goodDoc},
			nil,
		},
		"a bad import is reported with file, line, import and reason": {
			map[string]string{"model/doc.go": goodDoc, "model/a.go": header + "package x\n\nimport (\n\t\"fmt\"\n\t\"time\"\n)\n"},
			[]string{"model/a.go:8: model may not import \"time\"\n\twhy: the shared words depend on nothing"},
		},
		"a renamed import is the same import": {
			map[string]string{"model/doc.go": goodDoc, "model/a.go": header + "package x\n\nimport . \"time\"\nimport _ \"os\"\n"},
			[]string{`"time"`, `"os"`},
		},
		"a file for another system counts too": {
			map[string]string{"model/doc.go": goodDoc, "model/a_plan9.go": header + "//go:build plan9\n\npackage x\n\nimport \"os\"\n"},
			[]string{`"os"`},
		},
		"a folder that no row covers": {
			map[string]string{"attic/doc.go": goodDoc},
			[]string{"attic: no row of the table"},
		},
		"a folder below a room is not that room": {
			map[string]string{"protocol/ring/more/doc.go": goodDoc},
			[]string{"protocol/ring/more: no row of the table"},
		},
		"no package comment": {
			map[string]string{"model/a.go": header + "package x\n"},
			[]string{"model: the package comment has 0 lines"},
		},
		"a package comment that is too short": {
			map[string]string{"model/a.go": header + "// Package x is\n//\n// short.\npackage x\n"},
			[]string{"model: the package comment has 2 lines"},
		},
		"a package comment in a test file does not count": {
			map[string]string{"model/a_test.go": goodDoc},
			[]string{"model: the package comment has 0 lines"},
		},
		"no header": {
			map[string]string{"model/doc.go": strings.TrimPrefix(goodDoc, header)},
			[]string{"model/doc.go:1: the file does not begin with"},
		},
		"a header without the empty line after it": {
			map[string]string{"model/doc.go": goodDoc, "model/a.go": strings.TrimSpace(header) + "\npackage x\n"},
			[]string{"model/a.go:1: the file does not begin with"},
		},
		"a test file needs the header too": {
			map[string]string{"model/doc.go": goodDoc, "model/a_test.go": "package x\n"},
			[]string{"model/a_test.go:1: the file does not begin with"},
		},
		"a file that is too long": {
			map[string]string{"model/doc.go": long, "model/a_test.go": long},
			[]string{"model/doc.go: the file has 601 lines, at most 600"},
		},
		"a long file that was generated": {
			map[string]string{"model/doc.go": goodDoc, "model/a.go": header + "// Code generated by x. DO NOT EDIT.\n\n" + strings.TrimPrefix(long, header)},
			nil,
		},
		"a long file that says so too late": {
			map[string]string{"model/doc.go": long + "// Code generated by x. DO NOT EDIT.\n"},
			[]string{"model/doc.go: the file has 602 lines, at most 600"},
		},
		"testdata, hidden and ignored folders are passed over": {
			map[string]string{
				".gitignore": "/bin/\n*.prof\n", "bin/a.go": "package x\n", "model/testdata/a.go": "package x\n",
				".hidden/a.go": "package x\n", "_old/a.go": "package x\n",
			},
			nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			found, err := checkSources(inMemory(t, c.files), rooms)
			if err != nil {
				t.Fatal(err)
			}
			expect(t, found, c.want...)
		})
	}
}

// TestUnreadableSource makes sure that a file which cannot be parsed is not passed over.
func TestUnreadableSource(t *testing.T) {
	_, err := checkSources(inMemory(t, map[string]string{"model/doc.go": header + "pakcage x\n"}), rooms)
	if err == nil {
		t.Error("no error for a file that is not Go")
	}
}

// TestTableNamesRooms catches a misspelt room in the table, which would otherwise forbid or allow nothing.
func TestTableNamesRooms(t *testing.T) {
	isRoom := func(pattern string) bool {
		for _, r := range rooms {
			example := strings.TrimSuffix(strings.ReplaceAll(r.folder, "*", "x"), "/...")
			if matches(pattern, example) {
				return true
			}
		}
		return false
	}
	for _, r := range rooms {
		for _, pattern := range join(r.uses, r.never, r.tests) {
			if !isRoom(pattern) {
				t.Errorf("the row of %s names %s, which is no room", r.folder, pattern)
			}
		}
		if r.reason == "" {
			t.Errorf("the row of %s gives no reason", r.folder)
		}
	}
	if isRoom("mode") {
		t.Error("mode passes for a room")
	}
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"a", "a", true},
		{"a", "a/b", false},
		{"a", "ab", false},
		{"a/*", "a", false},
		{"a/*", "a/b", true},
		{"a/*", "a/b/c", false},
		{"a/...", "a", true},
		{"a/...", "a/b/c", true},
		{"a/...", "ab", false},
		{"...", "a/b", true},
		{".", ".", true},
		{".", "a", false},
	} {
		if got := matches(c.pattern, c.path); got != c.want {
			t.Errorf("matches(%q, %q) is %v", c.pattern, c.path, got)
		}
	}
}
