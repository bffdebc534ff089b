// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package tidy

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

const (
	header = "// Copyright the allot authors.\n// SPDX-License-Identifier: Apache-2.0\n\n"

	maxLines        = 600 // of a Go file that is not a test
	minCommentLines = 3   // of a package comment, blank lines aside
)

// checkSources runs every check of the Go files against a table of rooms.
func checkSources(r *repository, table []room) ([]violation, error) {
	var found []violation
	comments := map[string]int{} // by folder: lines of the longest package comment
	for _, name := range r.sources {
		content, err := fs.ReadFile(r.files, name)
		if err != nil {
			return nil, err
		}
		positions := token.NewFileSet()
		file, err := parser.ParseFile(positions, name, content, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			return nil, fmt.Errorf("parse: %w", err)
		}
		found = append(found, checkHeader(name, content)...)
		found = append(found, checkLength(name, content)...)
		found = append(found, checkImports(r.module, table, name, positions, file)...)

		folder := path.Dir(name)
		lines := 0
		if !isTest(name) {
			lines = commentLines(file.Doc)
		}
		comments[folder] = max(comments[folder], lines)
	}
	return append(found, checkFolders(table, comments)...), nil
}

// checkFolders looks at each folder that holds Go files: it needs a row in the table and a package comment.
func checkFolders(table []room, comments map[string]int) []violation {
	var found []violation
	for folder, lines := range comments {
		if _, ok := roomOf(table, folder); !ok {
			found = append(found, violation{
				file:   folder,
				what:   "no row of the table of rooms covers this package",
				reason: "each package has a stated place; add a row to internal/tidy/rooms.go",
			})
		}
		if lines < minCommentLines {
			found = append(found, violation{
				file: folder,
				what: fmt.Sprintf("the package comment has %d lines, at least %d are needed, in a file that is not a test",
					lines, minCommentLines),
				reason: "the package comment is where a newcomer begins to read",
			})
		}
	}
	slices.SortFunc(found, func(a, b violation) int { return strings.Compare(a.String(), b.String()) })
	return found
}

// checkHeader wants the two lines of copyright and licence, and the empty line that keeps them out of the package
// comment.
func checkHeader(name string, content []byte) []violation {
	if bytes.HasPrefix(content, []byte(header)) {
		return nil
	}
	return []violation{{
		file: name,
		line: 1,
		what: "the file does not begin with the two lines\n\t" +
			strings.ReplaceAll(strings.TrimSpace(header), "\n", "\n\t") + "\n\tand an empty line",
	}}
}

// isGenerated tells files that no person writes or reads, by the line that the go command knows them by.
func isGenerated(content []byte) bool {
	for line := range bytes.Lines(content) {
		line = bytes.TrimSpace(line)
		if bytes.HasPrefix(line, []byte("// Code generated ")) && bytes.HasSuffix(line, []byte(" DO NOT EDIT.")) {
			return true
		}
		if bytes.HasPrefix(line, []byte("package ")) {
			return false
		}
	}
	return false
}

// checkLength wants files that a person can read in one go.
func checkLength(name string, content []byte) []violation {
	lines := bytes.Count(content, []byte("\n"))
	if isTest(name) || isGenerated(content) || lines <= maxLines {
		return nil
	}
	return []violation{{
		file:   name,
		what:   fmt.Sprintf("the file has %d lines, at most %d are allowed", lines, maxLines),
		reason: "a file is read from top to bottom; split it by subject",
	}}
}

// commentLines counts the lines of a package comment that say something.
func commentLines(doc *ast.CommentGroup) int {
	n := 0
	for line := range strings.Lines(doc.Text()) {
		if strings.TrimSpace(line) != "" {
			n++
		}
	}
	return n
}

// checkImports holds the imports of one file against the table.
func checkImports(module string, table []room, name string, positions *token.FileSet, file *ast.File) []violation {
	folder := path.Dir(name)
	room, ok := roomOf(table, folder)
	if !ok {
		return nil // reported once for the folder
	}
	var found []violation
	for _, spec := range file.Imports {
		pkg, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue // the compiler refuses it
		}
		if reason := refusal(module, room, folder, isTest(name), pkg); reason != "" {
			found = append(found, violation{
				file:   name,
				line:   positions.Position(spec.Pos()).Line,
				what:   fmt.Sprintf("%s may not import %q", room.folder, pkg),
				reason: reason,
			})
		}
	}
	return found
}

// refusal tells why a file in a folder may not import a package, or "" when it may.
func refusal(module string, room room, folder string, test bool, pkg string) string {
	ours := pkg == module || strings.HasPrefix(pkg, module+"/")
	if ours {
		pkg = strings.TrimPrefix(strings.TrimPrefix(pkg, module), "/")
		if pkg == "" {
			pkg = "."
		}
	}
	for _, o := range owned {
		if matches(o.pkg, pkg) && !matchesAny(o.owners, folder) && (ours || !test) {
			return o.reason
		}
	}
	switch {
	case !ours:
		if !test && matchesAny(room.closed, pkg) {
			return room.reason
		}
	case matchesAny(room.uses, pkg) && !matchesAny(room.never, pkg):
	case test && (room.tests == nil || matchesAny(room.tests, pkg)):
	default:
		return room.reason
	}
	return ""
}
