// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package tidy

import (
	"slices"
	"strings"
	"testing"
)

// TestLinks hands in a page with one link at a time, beside a second page and a picture.
func TestLinks(t *testing.T) {
	for _, c := range []struct {
		page string
		want string // part of the violation; "" for none
	}{
		{"[a](other.md)", ""},
		{"[a](./other.md)", ""},
		{"[a](../README.md)", ""},
		{"[a](other.md \"a title\")", ""},
		{"[a](<other.md>)", ""},
		{"[two\nlines](other.md)", ""},
		{"[a](with%20blank.md)", ""},
		{"[a](..)", ""},
		{"![a](picture.svg)", ""},
		{"[![a](picture.svg)](other.md)", ""},
		{"[a]\n\n[a]: other.md", ""},
		{"a note[^1]\n\n[^1]: not a link", ""},
		{"<img src=\"picture.svg\">", ""},
		{"[a](missing.md)", "docs/page.md:1: the link \"missing.md\" leads nowhere: there is no docs/missing.md"},
		{"text\n\n[two\nlines](missing.md)", "docs/page.md:4:"},
		{"[a](Other.md)", "leads nowhere"},
		{"[a](README.md)", "leads nowhere"},
		{"![a](missing.svg)", "leads nowhere"},
		{"[![a](missing.svg)](other.md)", "leads nowhere"},
		{"[a]\n\n[a]: missing.md", "leads nowhere"},
		{"<img src=\"missing.svg\">", "leads nowhere"},
		{"[a]()", "is empty"},
		{"[a](../../other.md)", "leaves the repository"},
		{"[a](../bin/allot)", ".gitignore"},
		{"[a](/docs/other.md)", "is absolute"},

		{"# Here\n[a](#here)", ""},
		{"[a](other.md#second-heading)", ""},
		{"[a](other.md#twice) [b](other.md#twice-1)", ""},
		{"[a](other.md#by-hand)", ""},
		{"[a](#missing)", "docs/page.md has no heading #missing"},
		{"[a](other.md#missing)", "docs/other.md has no heading #missing"},
		{"[a](other.md#twice-2)", "has no heading"},
		{"[a](other.md#in-code)", "has no heading"},
		{"[a](picture.svg#x)", "only Markdown pages"},

		{"[a](https://example.org/x#y)", ""},
		{"<https://example.org>", ""},
		{"[a](https:///x)", "names no host"},
		{"[a](https://exa%zzmple.org)", "is not a well-formed address"},
		{"[a](ftp://example.org)", "neither relative nor on the web"},

		{"see /home/someone/allot", "path of one machine"},
		{"`cd /Users/someone`", "path of one machine"},
		{"```\nC:\\allot\n```", "docs/page.md:2:"},
		{"the folder docs/home/x and /etc/allot", ""},

		{"`[a](missing.md)`", ""},
		{"``a ` [a](missing.md)``", ""},
		{"```\n[a](missing.md)\n```", ""},
		{"~~~~ text\n[a](missing.md)\n~~~\n[a](missing.md)\n~~~~", ""},
		{"```\ncode\n```\n[a](missing.md)", "docs/page.md:4:"},
		{"one ` mark\n\n[a](missing.md) another ` mark", "docs/page.md:3:"},
	} {
		r := inMemory(t, map[string]string{
			".gitignore":         "/bin/\n",
			"README.md":          "# allot\n",
			"bin/allot":          "",
			"docs/page.md":       c.page,
			"docs/other.md":      "# First\n## Second heading ##\n## Twice\n## Twice\n<a id=\"by-hand\"></a>\n```\n# In code\n```\n",
			"docs/with blank.md": "",
			"docs/picture.svg":   "",
		})
		found, err := checkPages(r)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case c.want == "" && len(found) > 0:
			t.Errorf("%q: %v, want none", c.page, found)
		case c.want != "" && (len(found) != 1 || !strings.Contains(found[0].String(), c.want)):
			t.Errorf("%q: %v, want one with %q", c.page, found, c.want)
		}
	}
}

// TestSlug compares with anchors that GitHub gives.
func TestSlug(t *testing.T) {
	for title, want := range map[string]string{
		"Second heading":            "second-heading",
		"What's new, and why?":      "whats-new-and-why",
		"The `go` tool":             "the-go-tool",
		"k-out-of-ℓ exclusion":      "k-out-of-ℓ-exclusion",
		"[1.0.0] - 2026-01-31":      "100---2026-01-31",
		"See [the list](README.md)": "see-the-list",
		"snake_case":                "snake_case",
		"a & b":                     "a--b",
	} {
		if got := slug(title); got != want {
			t.Errorf("the slug of %q is %q, want %q", title, got, want)
		}
	}
}

// TestCodeInHeading makes sure that code in a heading is part of its anchor.
func TestCodeInHeading(t *testing.T) {
	if !anchors("## The `go` tool\n")["the-go-tool"] {
		t.Error("no anchor the-go-tool")
	}
}

// TestEveryPageIsRead makes sure that pages in hidden folders are looked at: hosting platforms read some from there.
func TestEveryPageIsRead(t *testing.T) {
	r := inMemory(t, map[string]string{".hidden/a.md": "", "docs/b.md": "", "c.md": ""})
	if want := []string{".hidden/a.md", "c.md", "docs/b.md"}; !slices.Equal(r.pages, want) {
		t.Errorf("the pages are %v, want %v", r.pages, want)
	}
}
