// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"
)

// meter shows how far long work has come: on a terminal as one line that is renewed, elsewhere as a line now and then.
type meter struct {
	mu         sync.Mutex
	w          io.Writer
	isTerminal bool
	begin      time.Time
	last       time.Time
	width      int
}

// How often the meter speaks.
const (
	terminalEvery = 100 * time.Millisecond
	logEvery      = 10 * time.Second
)

func newMeter(w io.Writer) *meter {
	file, ok := w.(*os.File)
	now := time.Now()
	return &meter{w: w, isTerminal: ok && term.IsTerminal(int(file.Fd())), begin: now, last: now}
}

func (m *meter) show(text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	every := logEvery
	if m.isTerminal {
		every = terminalEvery
	}
	now := time.Now()
	if now.Sub(m.last) < every {
		return
	}
	m.last = now
	text = fmt.Sprintf("%s, %.0f s", text, now.Sub(m.begin).Seconds())
	if !m.isTerminal {
		fmt.Fprintln(m.w, text)
		return
	}
	fmt.Fprintf(m.w, "\r%-*s", m.width, text)
	m.width = len(text)
}

// clear removes the line of a terminal.
func (m *meter) clear() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.isTerminal && m.width > 0 {
		fmt.Fprintf(m.w, "\r%*s\r", m.width, "")
	}
}

// grouped writes a number with commas.
func grouped(n uint64) string {
	digits := strconv.FormatUint(n, 10)
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

var byteUnits = []struct {
	name string
	size uint64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}

func bytesText(n uint64) string {
	for _, u := range byteUnits {
		if n >= u.size && u.size > 1 {
			return fmt.Sprintf("%.1f %s", float64(n)/float64(u.size), u.name)
		}
	}
	return fmt.Sprintf("%d B", n)
}

// parseBytes reads 4GiB, 512MiB or a plain number of bytes.
func parseBytes(text string) (uint64, error) {
	for _, u := range byteUnits {
		number, ok := strings.CutSuffix(text, u.name)
		if !ok && u.name != "B" {
			continue
		}
		n, err := strconv.ParseUint(strings.TrimSpace(number), 10, 64)
		if err != nil || n == 0 || n > (1<<50)/u.size {
			break
		}
		return n * u.size, nil
	}
	return 0, fmt.Errorf("%s: it must be a size such as 4GiB or 512MiB", text)
}

// printJSON writes a value for programs.
func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
