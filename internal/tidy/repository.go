// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package tidy

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// violation is one thing that is wrong, and where.
type violation struct {
	file   string
	line   int // 0 when it concerns the file as a whole
	what   string
	reason string // why it matters; may be empty
}

func (v violation) String() string {
	where := v.file
	if v.line > 0 {
		where = fmt.Sprintf("%s:%d", v.file, v.line)
	}
	if v.reason == "" {
		return where + ": " + v.what
	}
	return where + ": " + v.what + "\n\twhy: " + v.reason
}

// repository is what the checks look at: the files that belong to the project, by slash-separated path from its root.
type repository struct {
	files   fs.FS
	module  string   // the module's path in go.mod
	sources []string // Go files, sorted
	pages   []string // Markdown files, sorted
	ignored []string // folders that .gitignore names
}

// repositoryRoot walks up from the working directory to the folder that holds go.mod.
func repositoryRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		_, err := os.Stat(filepath.Join(dir, "go.mod"))
		if err == nil {
			return dir, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("no go.mod in the working directory or above it")
		}
		dir = parent
	}
}

// newRepository lists the files of a repository. It leaves out the folders that .gitignore names, and for Go files the
// folders that the go command leaves out too: testdata, and names that begin with a dot or an underscore.
func newRepository(files fs.FS) (*repository, error) {
	module, err := moduleName(files)
	if err != nil {
		return nil, err
	}
	ignored, err := ignoredFolders(files)
	if err != nil {
		return nil, err
	}
	r := &repository{files: files, module: module, ignored: ignored}
	err = fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if entry.Name() == ".git" || entry.Name() == "testdata" || r.isIgnored(name) {
				return fs.SkipDir
			}
			return nil
		}
		switch path.Ext(name) {
		case ".go":
			if !isHidden(name) {
				r.sources = append(r.sources, name)
			}
		case ".md":
			r.pages = append(r.pages, name)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list the files: %w", err)
	}
	return r, nil
}

// isIgnored tells whether a path lies in a folder that .gitignore names.
func (r *repository) isIgnored(name string) bool {
	for _, folder := range r.ignored {
		if matches(folder+"/...", name) {
			return true
		}
	}
	return false
}

// isHidden tells whether the go command would pass a file over because of its name or a folder's name.
func isHidden(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if strings.HasPrefix(part, ".") || strings.HasPrefix(part, "_") {
			return true
		}
	}
	return false
}

// isTest tells whether a Go file is a test file.
func isTest(name string) bool {
	return strings.HasSuffix(name, "_test.go")
}

// moduleName reads the module's path from go.mod.
func moduleName(files fs.FS) (string, error) {
	content, err := fs.ReadFile(files, "go.mod")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(content)) {
		if name, ok := strings.CutPrefix(line, "module "); ok {
			return strings.TrimSpace(name), nil
		}
	}
	return "", errors.New("go.mod has no module line")
}

// ignoredFolders reads from .gitignore the lines of the form /folder/. The other forms do not matter here.
func ignoredFolders(files fs.FS) ([]string, error) {
	content, err := fs.ReadFile(files, ".gitignore")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var folders []string
	lines := bufio.NewScanner(bytes.NewReader(content))
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if len(line) > 2 && strings.HasPrefix(line, "/") && strings.HasSuffix(line, "/") {
			folders = append(folders, strings.Trim(line, "/"))
		}
	}
	return folders, lines.Err()
}
