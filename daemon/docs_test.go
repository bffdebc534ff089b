// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package daemon_test

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"allot/daemon"
)

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(path)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// keys lists the keys of the options file, those of tables with a dot between.
func keys(t reflect.Type, prefix string) []string {
	var all []string
	for i := range t.NumField() {
		f := t.Field(i)
		key := f.Tag.Get("toml")
		if key == "" {
			continue
		}
		inner := f.Type
		if inner.Kind() == reflect.Slice {
			inner = inner.Elem()
		}
		if inner.Kind() == reflect.Struct {
			all = append(all, keys(inner, prefix+key+".")...)
		} else {
			all = append(all, prefix+key)
		}
	}
	return all
}

// TestKeysDocumented: every key of the options file has a row in the handbook, and no row is about a key that is not there.
func TestKeysDocumented(t *testing.T) {
	text := read(t, "docs/operations.md")
	_, table, ok := strings.Cut(text, "## All options\n")
	if !ok {
		t.Fatal("docs/operations.md has no section \"All options\"")
	}
	table, _, _ = strings.Cut(table, "\n## ")
	rows := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z_.]+)` \\|").FindAllStringSubmatch(table, -1) {
		rows[m[1]] = true
	}
	all := keys(reflect.TypeFor[daemon.Options](), "")
	if len(all) < 20 {
		t.Fatalf("only %d keys were found", len(all))
	}
	for _, key := range all {
		if !rows[key] {
			t.Errorf("docs/operations.md: the table of options has no row for %q", key)
		}
		delete(rows, key)
	}
	for key := range rows {
		t.Errorf("docs/operations.md: the table of options has a row for %q, which is no key", key)
	}
}

// TestMetricsDocumented: the handbook names every metric, and no metric that is not there.
func TestMetricsDocumented(t *testing.T) {
	names := regexp.MustCompile(`"(allot_[a-z_]+)"`)
	real := map[string]bool{}
	for _, path := range []string{"daemon/observe.go", "api/observer.go"} {
		for _, m := range names.FindAllStringSubmatch(read(t, path), -1) {
			real[m[1]] = true
		}
	}
	if len(real) < 15 {
		t.Fatalf("only %d metrics were found", len(real))
	}
	text := read(t, "docs/operations.md")
	for name := range real {
		if !strings.Contains(text, "`"+name) {
			t.Errorf("docs/operations.md does not name the metric %s", name)
		}
	}
	for _, m := range regexp.MustCompile(`\b(allot_[a-z_]+)`).FindAllString(text, -1) {
		m = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(m, "_bucket"), "_sum"), "_count")
		if !real[m] && m != "allot_" {
			t.Errorf("docs/operations.md names the metric %s, which is not there", m)
		}
	}
}

// TestExampleOptions: the files that we ship can be read.
func TestExampleOptions(t *testing.T) {
	files, err := filepath.Glob("../deploy/*.toml")
	if err != nil || len(files) == 0 {
		t.Fatalf("there is no options file in deploy: %v", err)
	}
	for _, f := range files {
		if _, err := daemon.ReadOptions(f); err != nil {
			t.Error(err)
		}
	}
}

// TestDocumentedOptions: the option files in the handbook can be read.
func TestDocumentedOptions(t *testing.T) {
	blocks := regexp.MustCompile("(?s)```toml\n(.*?)```").FindAllStringSubmatch(read(t, "docs/operations.md"), -1)
	if len(blocks) == 0 {
		t.Fatal("docs/operations.md shows no options file")
	}
	for _, b := range blocks {
		path := filepath.Join(t.TempDir(), "allot.toml")
		if err := os.WriteFile(path, []byte(b[1]), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := daemon.ReadOptions(path); err != nil {
			t.Errorf("%v in\n%s", err, b[1])
		}
	}
}

// TestDependenciesDocumented: every module of others that we ask for has a reason.
func TestDependenciesDocumented(t *testing.T) {
	text := read(t, "docs/dependencies.md")
	n := 0
	for _, path := range []string{"go.mod", "tools/go.mod", "bench/service/go.mod"} {
		for line := range strings.Lines(read(t, path)) {
			name := strings.Fields(line)
			isTool := len(name) == 1 && strings.Contains(name[0], "/cmd/")
			isModule := len(name) >= 2 && strings.HasPrefix(name[1], "v") && !strings.Contains(line, "// indirect")
			if len(name) == 0 || name[0] == "allot" || !isTool && !isModule {
				continue
			}
			n++
			module, _, _ := strings.Cut(name[0], "/cmd/golangci-lint")
			if !strings.Contains(text, module) {
				t.Errorf("docs/dependencies.md does not name %s of %s", module, path)
			}
		}
	}
	if n < 20 {
		t.Errorf("only %d modules were found", n)
	}
}
