// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package tidy

import (
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"regexp"
	"strings"
)

var (
	// inlineLink finds the target in [text](target "title"). The text is not looked at, so it may run over several lines.
	// A target holds no blank, and parentheses only in pairs.
	inlineLink = regexp.MustCompile(`\]\(\s*(<[^>\n]*>|[^\s()<]*(?:\([^\s()]*\)[^\s()]*)*)(?:\s+(?:"[^"]*"|'[^']*'))?\s*\)`)
	// definition finds the target in a line of the form [name]: target. A footnote, [^1]: text, is not one.
	definition = regexp.MustCompile(`(?m)^ {0,3}\[[^\]^][^\]\n]*\]:[ \t]*(\S+)`)
	// autolink finds <https://example.org>.
	autolink = regexp.MustCompile(`<([a-z]+://[^>\s]*)>`)
	// attribute finds <a href="target"> and <img src="target">.
	attribute = regexp.MustCompile(`<[a-zA-Z][^>]*\b(?:href|src|srcset)="([^"]*)"`)

	// machinePath finds folders in which people and build machines keep their own files.
	machinePath = regexp.MustCompile("(?m)(?:^|[\\s\"'`(=<:])" +
		"((?:/(?:home|Users|root|work|workspace)/|[A-Za-z]:\\\\|file://)[^\\s\"'`)>]*)")

	heading     = regexp.MustCompile(`(?m)^ {0,3}#{1,6}[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$`)
	namedAnchor = regexp.MustCompile(`<[a-zA-Z][^>]*\b(?:id|name)="([^"]*)"`)
	linkText    = regexp.MustCompile(`!?\[([^\]]*)\]\([^)]*\)`)
	notInSlug   = regexp.MustCompile(`[^\p{L}\p{M}\p{Nd}\p{Pc}\- ]`)
)

// checkPages looks at every Markdown file of the repository.
func checkPages(r *repository) ([]violation, error) {
	var found []violation
	for _, name := range r.pages {
		content, err := fs.ReadFile(r.files, name)
		if err != nil {
			return nil, err
		}
		text := string(content)
		for _, at := range machinePath.FindAllStringSubmatchIndex(text, -1) {
			found = append(found, violation{
				file:   name,
				line:   lineOf(text, at[2]),
				what:   fmt.Sprintf("%q is a path of one machine", text[at[2]:at[3]]),
				reason: "nobody else has it; write the path from the root of the repository",
			})
		}
		prose := withoutCode(text)
		for _, form := range []*regexp.Regexp{inlineLink, definition, autolink, attribute} {
			for _, at := range form.FindAllStringSubmatchIndex(prose, -1) {
				target := strings.Trim(prose[at[2]:at[3]], "<>")
				if wrong := checkLink(r, name, target); wrong != "" {
					found = append(found, violation{
						file: name,
						line: lineOf(text, at[2]),
						what: fmt.Sprintf("the link %q %s", target, wrong),
					})
				}
			}
		}
	}
	return found, nil
}

// checkLink tells what is wrong with a link on a page, or "" when it is good. What lies on other hosts is not fetched: the
// answer would depend on the network.
func checkLink(r *repository, page, target string) string {
	link, err := url.Parse(target)
	if err != nil {
		return "is not a well-formed address"
	}
	switch {
	case target == "":
		return "is empty"
	case link.Scheme == "http" || link.Scheme == "https":
		if link.Hostname() == "" {
			return "names no host"
		}
		return ""
	case link.Scheme == "mailto":
		return ""
	case link.Scheme != "":
		return "is neither relative nor on the web"
	case strings.HasPrefix(target, "/"):
		return "is absolute; write it relative to the page"
	}
	file := page
	if link.Path != "" {
		file = path.Join(path.Dir(page), link.Path)
	}
	if file == ".." || strings.HasPrefix(file, "../") {
		return "leaves the repository"
	}
	if r.isIgnored(file) {
		return "leads to a folder that .gitignore keeps out of the repository"
	}
	if _, err := fs.Stat(r.files, file); err != nil {
		return "leads nowhere: there is no " + file
	}
	if link.Fragment == "" {
		return ""
	}
	if path.Ext(file) != ".md" {
		return "has an anchor, but only Markdown pages have headings"
	}
	content, err := fs.ReadFile(r.files, file)
	if err != nil {
		return "leads to a file that cannot be read: " + err.Error()
	}
	if !anchors(string(content))[link.Fragment] {
		return fmt.Sprintf("leads nowhere: %s has no heading #%s", file, link.Fragment)
	}
	return ""
}

// anchors collects what a link to a page may name after the #: its headings in the form that GitHub gives them, and the id and
// name attributes of HTML elements. A heading that comes again gets -1, -2 and so on.
func anchors(text string) map[string]bool {
	all := map[string]bool{}
	// Headings are found where code is masked, but read where it is not: in "## The `go` tool" the word go counts.
	prose := withoutCode(text)
	seen := map[string]int{}
	for _, at := range heading.FindAllStringSubmatchIndex(prose, -1) {
		s := slug(text[at[2]:at[3]])
		if n := seen[s]; n > 0 {
			all[fmt.Sprintf("%s-%d", s, n)] = true
		} else {
			all[s] = true
		}
		seen[s]++
	}
	for _, m := range namedAnchor.FindAllStringSubmatch(prose, -1) {
		all[m[1]] = true
	}
	return all
}

// slug turns the text of a heading into its anchor by GitHub's rule: small letters, no punctuation but hyphen and
// underscore, a hyphen for each blank.
func slug(title string) string {
	title = linkText.ReplaceAllString(title, "$1")
	title = notInSlug.ReplaceAllString(strings.ToLower(title), "")
	return strings.ReplaceAll(title, " ", "-")
}

// withoutCode replaces code, in blocks between fences and in spans between backquotes, by as many blanks. Line breaks
// stay, so every position means the same before and after.
func withoutCode(text string) string {
	masked := []byte(text)
	fence := ""
	start := 0 // of the prose since the last fenced line or empty line; a span never runs over either
	at := 0
	for line := range strings.Lines(text) {
		end := at + len(line)
		body := strings.TrimSpace(line)
		switch run := fenceRun(body); {
		case fence != "":
			if strings.HasPrefix(run, fence) && run == body {
				fence = ""
			}
			blank(masked[at:end])
			start = end
		case run != "":
			maskSpans(masked[start:at])
			fence = run
			blank(masked[at:end])
			start = end
		case body == "":
			maskSpans(masked[start:at])
			start = end
		}
		at = end
	}
	maskSpans(masked[start:])
	return string(masked)
}

// fenceRun returns the run of backquotes or tildes that makes a line a fence, or "".
func fenceRun(line string) string {
	for _, mark := range []string{"`", "~"} {
		rest := strings.TrimLeft(line, mark)
		run := line[:len(line)-len(rest)]
		if len(run) >= 3 && !strings.Contains(rest, "`") {
			return run
		}
	}
	return ""
}

// maskSpans blanks what stands between two runs of equally many backquotes.
func maskSpans(prose []byte) {
	for i := 0; i < len(prose); {
		if prose[i] != '`' {
			i++
			continue
		}
		open := i
		for i < len(prose) && prose[i] == '`' {
			i++
		}
		if end := closingRun(prose[i:], i-open); end >= 0 {
			blank(prose[open : i+end])
			i += end
		}
	}
}

// closingRun returns the position after the first run of exactly n backquotes, or -1.
func closingRun(prose []byte, n int) int {
	run := 0
	for i, c := range prose {
		if c == '`' {
			run++
			continue
		}
		if run == n {
			return i
		}
		run = 0
	}
	if run == n {
		return len(prose)
	}
	return -1
}

func blank(text []byte) {
	for i, c := range text {
		if c != '\n' {
			text[i] = ' '
		}
	}
}

func lineOf(text string, at int) int {
	return 1 + strings.Count(text[:at], "\n")
}
