// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

// Package tidy tests the repository itself: what a reader would otherwise have to check by eye in every change.
//
// It has nothing to import. Run it with
//
//	go test ./internal/tidy
//
// and it fails, naming the file and the reason, when
//
//   - a package imports what its room is closed to (rooms.go holds the table of rooms);
//   - a folder holds Go files and no row of that table covers it;
//   - a package has no package comment of at least three lines;
//   - a Go file does not begin with the two lines of copyright and licence;
//   - a Go file that is not a test is longer than 600 lines;
//   - a link in a Markdown file leads nowhere, or a Markdown file names a path of somebody's machine.
//
// The files are parsed here. Asking `go list` in a child process would be shorter, but `go test` remembers a passing result until
// a file that the test itself opened has changed. It does not see what a child process opens, so a new violation would
// be answered with an old "ok".
//
// Only direct imports count. Counting indirect ones would forbid everything: fmt alone brings in os, sync and time.
//
// Every check is a function of a file system, so its own tests hand it a small bad repository made in memory and
// expect the violation. A check that cannot fail proves nothing.
package tidy
