// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// DOTError says where a DOT text cannot be read and why. Lines and columns count from 1, columns in characters.
type DOTError struct {
	Line, Column int
	Problem      string
}

func (e *DOTError) Error() string { return fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.Problem) }

type tokenKind uint8

const (
	endOfText tokenKind = iota
	identifier
	quoted  // an identifier in quotes: never a keyword
	html    // <...>: a value, never the name of a process
	keyword // in lower case
	mark    // { } [ ] ; , : = -- -> +
)

type token struct {
	kind tokenKind
	text string
	at   int // byte offset, turned into line and column only when there is an error to report
}

// is tells whether the token is the given mark or keyword.
func (t token) is(text string) bool { return (t.kind == mark || t.kind == keyword) && t.text == text }

func (t token) String() string {
	if t.kind == endOfText {
		return "the end of the text"
	}
	return show(t.text)
}

// lexer cuts a text into tokens. It looks at every byte a bounded number of times and never recurses.
type lexer struct {
	text []byte
	at   int
}

func (l *lexer) errorAt(at int, format string, args ...any) *DOTError {
	before := l.text[:at]
	start := bytes.LastIndexByte(before, '\n') + 1
	return &DOTError{
		Line:    bytes.Count(before, []byte{'\n'}) + 1,
		Column:  utf8.RuneCount(before[start:]) + 1,
		Problem: fmt.Sprintf(format, args...),
	}
}

func (l *lexer) next() (token, error) {
	if err := l.skipBlanks(); err != nil {
		return token{}, err
	}
	at := l.at
	if at == len(l.text) {
		return token{kind: endOfText, at: at}, nil
	}
	switch c := l.text[at]; {
	case isLetter(c):
		return l.word(), nil
	case isDigit(c) || c == '.' || c == '-' && at+1 < len(l.text) && (isDigit(l.text[at+1]) || l.text[at+1] == '.'):
		return l.numeral()
	case c == '"':
		return l.quotedString()
	case c == '<':
		return l.htmlString()
	case strings.IndexByte("{}[];,:=+", c) >= 0:
		l.at++
		return token{mark, string(c), at}, nil
	case bytes.HasPrefix(l.text[at:], []byte("--")), bytes.HasPrefix(l.text[at:], []byte("->")):
		l.at += 2
		return token{mark, string(l.text[at:l.at]), at}, nil
	default:
		return token{}, l.errorAt(at, "the character %q has no meaning here", rune(c))
	}
}

// skipBlanks passes spaces, both kinds of comments, and lines that begin with #, which a preprocessor may have left.
func (l *lexer) skipBlanks() error {
	for l.at < len(l.text) {
		rest := l.text[l.at:]
		switch {
		case rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\n' || rest[0] == '\r' || rest[0] == '\v' || rest[0] == '\f':
			l.at++
		case bytes.HasPrefix(rest, []byte("//")), rest[0] == '#' && (l.at == 0 || l.text[l.at-1] == '\n'):
			end := bytes.IndexByte(rest, '\n')
			if end < 0 {
				end = len(rest)
			}
			l.at += end
		case bytes.HasPrefix(rest, []byte("/*")):
			end := bytes.Index(rest[2:], []byte("*/"))
			if end < 0 {
				return l.errorAt(l.at, "this comment has no end")
			}
			l.at += end + 4
		default:
			return nil
		}
	}
	return nil
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c >= utf8.RuneSelf }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func (l *lexer) word() token {
	at := l.at
	for l.at < len(l.text) && (isLetter(l.text[l.at]) || isDigit(l.text[l.at])) {
		l.at++
	}
	word := string(l.text[at:l.at])
	if isKeyword(word) {
		return token{keyword, strings.ToLower(word), at}
	}
	return token{identifier, word, at}
}

func isKeyword(word string) bool {
	switch strings.ToLower(word) {
	case "strict", "graph", "digraph", "subgraph", "node", "edge":
		return true
	}
	return false
}

// numeral is -?(.digits | digits[.digits]). It stays a text: 1 and 1.0 are two names.
func (l *lexer) numeral() (token, error) {
	at := l.at
	if l.text[at] == '-' {
		l.at++
	}
	digits, points := 0, 0
	for ; l.at < len(l.text) && (isDigit(l.text[l.at]) || l.text[l.at] == '.'); l.at++ {
		if l.text[l.at] == '.' {
			points++
		} else {
			digits++
		}
	}
	if digits == 0 || points > 1 || l.at < len(l.text) && isLetter(l.text[l.at]) {
		return token{}, l.errorAt(at, "this is neither a number nor a word; put the name in quotes")
	}
	return token{identifier, string(l.text[at:l.at]), at}, nil
}

func (l *lexer) quotedString() (token, error) {
	at := l.at
	var s []byte
	for i := at + 1; i < len(l.text); i++ {
		c := l.text[i]
		if c == '"' {
			l.at = i + 1
			return token{quoted, string(s), at}, nil
		}
		if c == '\\' && i+1 < len(l.text) {
			switch next := l.text[i+1]; {
			case next == '"' || next == '\\':
				c = next
				i++
			case next == '\n': // a long string may go on in the next line
				i++
				continue
			case next == '\r' && i+2 < len(l.text) && l.text[i+2] == '\n':
				i += 2
				continue
			}
		}
		s = append(s, c)
	}
	return token{}, l.errorAt(at, "this quoted text has no end")
}

// htmlString is kept whole and not looked into; it ends where its angle brackets balance.
func (l *lexer) htmlString() (token, error) {
	depth := 0
	for i := l.at; i < len(l.text); i++ {
		switch l.text[i] {
		case '<':
			depth++
		case '>':
			depth--
		}
		if depth == 0 {
			t := token{html, string(l.text[l.at : i+1]), l.at}
			l.at = i + 1
			return t, nil
		}
	}
	return token{}, l.errorAt(l.at, "this text in angle brackets has no end")
}
