// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package tidy

import (
	"os"
	"slices"
	"testing"
)

// readRepository lists the real repository, and makes sure that the list is not empty by mistake.
func readRepository(t *testing.T) *repository {
	t.Helper()
	root, err := repositoryRoot()
	if err != nil {
		t.Fatal(err)
	}
	r, err := newRepository(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	if r.module != "allot" {
		t.Fatalf("the module is %q, want allot", r.module)
	}
	if !slices.Contains(r.sources, "internal/tidy/repository_test.go") {
		t.Fatalf("this very file is not among the %d Go files found", len(r.sources))
	}
	if !slices.Contains(r.pages, "CONTRIBUTING.md") {
		t.Fatalf("CONTRIBUTING.md is not among the %d Markdown files found", len(r.pages))
	}
	return r
}

func report(t *testing.T, found []violation, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range found {
		t.Error(v)
	}
}

// TestSources holds every Go file of the repository to the table of rooms, the header, the package comment and the
// length.
func TestSources(t *testing.T) {
	r := readRepository(t)
	found, err := checkSources(r, rooms)
	report(t, found, err)
	t.Logf("%d Go files looked at", len(r.sources))
}

// TestPages follows every link of the Markdown files.
func TestPages(t *testing.T) {
	r := readRepository(t)
	found, err := checkPages(r)
	report(t, found, err)
	t.Logf("%d Markdown files looked at", len(r.pages))
}
