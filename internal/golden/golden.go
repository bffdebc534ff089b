// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

// Package golden holds what a test gives against what a person has read and found right: stories, tables and pictures in
// files that are committed. It is for tests only.
//
//	golden.Compare(t, "testdata/holder_crashes.txt", story.String())
//
// A file is written anew by `go test ./that/folder -rewrite`; read it before you commit it. A file that is not there fails
// the test.
package golden

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write the files that tests compare with anew; read them before you commit them")

// IsRewriting tells whether files are being written anew.
func IsRewriting() bool { return *rewrite }

// Compare fails the test if the file does not hold exactly this text, and shows where they begin to differ.
func Compare(t testing.TB, path, got string) {
	t.Helper()
	if *rewrite {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) == got {
		return
	}
	old, now := strings.Split(string(want), "\n"), strings.Split(got, "\n")
	line := 0
	for line < min(len(old), len(now)) && old[line] == now[line] {
		line++
	}
	t.Errorf("%s has changed from line %d on (-rewrite writes it anew, then read it):\n%s", path, line+1, strings.Join(now[min(line, len(now)):min(line+5, len(now))], "\n"))
}
