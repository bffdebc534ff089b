// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package tidy

import "strings"

// room is one row of the table: the packages in some folders, what they may import of ours, and what of the
// standard library is closed to them.
//
// Folders and packages are written as patterns, see matches. The root package is ".".
type room struct {
	folder string
	uses   []string // packages of ours that it may import
	never  []string // exceptions to uses
	closed []string // packages of others that its files, tests aside, may not import
	tests  []string // packages of ours that its test files may import besides uses; nil means any
	reason string   // why; printed with every violation
}

// The outside world, by the way it comes in. Rooms that must be replayable are closed to it, because the same input has
// to give the same output, and the checker and the simulator can only schedule what passes through their hands.
var (
	clock   = []string{"time/..."}
	chance  = []string{"math/rand/...", "crypto/rand"}
	threads = []string{"sync/...", "context"}
	logging = []string{"log/..."}
	system  = []string{"os/...", "net/...", "syscall/..."}

	// outside is all of the above. hash/maphash is here too because it draws a new seed in every process.
	outside = join(clock, chance, threads, logging, system, []string{"hash/maphash"})
)

const (
	pureReason     = "an algorithm is a pure function: time, chance and the outside world come in as arguments"
	engineReason   = "an engine is handed the system it runs, and its caller owns files, network and clock"
	protocolReason = pureReason + "; what several of them share lives in protocol/internal, never in a sibling"
)

// protocolTests is what the tests of an algorithm may import: the laboratory that puts it to the test.
var protocolTests = []string{"model", "check", "sim", "topology", "chart", "protocol/...", "internal/golden"}

// rooms is the table. The first row whose folder matches counts. Rooms that are not built yet have their row already.
var rooms = []room{
	{
		folder: "model",
		closed: outside,
		reason: "the shared words depend on nothing; time, chance and the outside world come in as arguments",
	},
	{
		folder: "topology",
		uses:   []string{"model"},
		closed: join(clock, chance, []string{"sync/..."}, logging, system),
		reason: "a network is made from its description alone, so the same description and seed give the same network everywhere",
	},
	{
		folder: "protocol",
		uses:   []string{"model", "protocol/*"},
		closed: outside,
		tests:  protocolTests,
		reason: "protocol is the list of the algorithms and no more",
	},
	{
		folder: "protocol/internal/*",
		uses:   []string{"model", "protocol/internal/*"},
		closed: outside,
		tests:  protocolTests,
		reason: protocolReason,
	},
	{
		folder: "protocol/*",
		uses:   []string{"model", "protocol/internal/*"},
		closed: outside,
		tests:  protocolTests,
		reason: protocolReason,
	},
	{
		folder: "sim",
		uses:   []string{"model"},
		// The exact "math/rand" leaves math/rand/v2 open.
		closed: join(clock, []string{"math/rand", "crypto/rand"}, logging, system),
		reason: engineReason + "; chance comes only from math/rand/v2 with a given seed, so that a run can be repeated",
	},
	{
		folder: "check",
		uses:   []string{"model"},
		closed: join(clock, chance, logging, system),
		reason: engineReason + "; a search over all cores may use sync and context, but there is no chance in it",
	},
	{
		folder: "chart",
		reason: "a drawing is made from numbers and knows nothing of where they come from",
	},
	{
		folder: "slots",
		uses:   []string{"model", "protocol/*"},
		closed: join(clock, logging, system),
		reason: "the library runs one algorithm over atomic memory; time comes from the caller's context",
	},
	{
		folder: "slots/processes",
		uses:   []string{"model", "protocol/*"},
		closed: join(chance, logging, []string{"net/..."}),
		reason: "the same algorithm over a mapped file: it needs files, locks and naps, and nothing else",
	},
	{
		folder: "internal/golden",
		reason: "it compares texts with files and knows nothing of what they say",
	},
	{
		folder: "node",
		uses:   []string{"model"},
		reason: "a node runs whatever machine it is handed and knows no algorithm",
	},
	{
		folder: "node/natsbus",
		uses:   []string{"node", "model"},
		reason: "an adapter carries messages for the node and decides nothing",
	},
	{
		folder: "node/memory",
		uses:   []string{"node", "model"},
		reason: "a fabric in memory carries messages, or fails to, exactly as it is told",
	},
	{
		folder: "allocator",
		uses:   []string{"model", "node", "protocol/*"},
		// The package time stays open for its types. Reading the clock is refused by the linter forbidigo.
		closed: join(logging, system),
		reason: "the allocator is handed the time as an argument, and others do its input and output",
	},
	{
		folder: "api/v1/...",
		uses:   []string{"api/v1/..."},
		reason: "the definition of the API depends on nothing, so that a client can import it alone",
	},
	{
		folder: "api/access",
		reason: "who may do what is decided by names alone",
	},
	{
		folder: "api/apitest",
		uses:   []string{"api", "allocator"},
		reason: "it stands in for a node in tests of the API and of its clients",
	},
	{
		folder: "api/...",
		uses:   []string{"api/v1/...", "api/access", "allocator"},
		reason: "a serving translates between the definition and the allocator; it never goes round it to the node",
	},
	{
		folder: ".",
		uses:   []string{"api/v1/..."},
		reason: "a Go user who imports the client must not get the server with it",
	},
	{
		folder: "dashboard",
		reason: "the dashboard is a client of the API like any other",
	},
	{
		folder: "daemon",
		uses:   []string{"..."},
		never:  []string{".", "sim", "check", "cmd/...", "internal/tidy"},
		reason: "the daemon assembles the service; the laboratory and the client are no part of it",
	},
	{
		folder: "cmd/...",
		uses:   []string{"..."},
		never:  []string{"node/...", "allocator", "internal/tidy"},
		reason: "a command reads flags and calls the daemon, the laboratory or the client; it does not assemble a node itself",
	},
	{
		folder: "bench/...",
		uses:   []string{"..."},
		reason: "benchmarks may measure anything of ours",
	},
	{
		folder: "tools/...",
		reason: "tools are a module of their own and read files, not packages",
	},
	{
		folder: "soak",
		uses:   []string{"."},
		tests:  []string{"."},
		reason: "the tests of the whole start the program and use the client, as users do",
	},
	{
		folder: "internal/tidy",
		reason: "the tests of the repository read its files, not its packages",
	},
}

// owned lists packages that have few importers, whichever room asks. It binds test files too where they are ours.
var owned = []struct {
	pkg    string
	owners []string
	reason string
}{
	{
		pkg:    "bench/...",
		owners: []string{"bench/..."},
		reason: "benchmarks are imported by nobody",
	},
	{
		pkg:    "github.com/nats-io/...",
		owners: []string{"node/natsbus", "bench/..."},
		reason: "NATS is reached through node/natsbus alone, so that it can be replaced",
	},
}

// roomOf finds the row for a folder.
func roomOf(table []room, folder string) (room, bool) {
	for _, r := range table {
		if matches(r.folder, folder) {
			return r, true
		}
	}
	return room{}, false
}

// matches tells whether a slash-separated path fits a pattern. The pattern "a" fits a alone, "a/*" fits what lies
// directly in a, "a/..." fits a and all that lies under it, as in the go command, and "..." fits every path.
func matches(pattern, path string) bool {
	if pattern == "..." {
		return true
	}
	if base, ok := strings.CutSuffix(pattern, "/..."); ok {
		return path == base || strings.HasPrefix(path, base+"/")
	}
	if base, ok := strings.CutSuffix(pattern, "/*"); ok {
		last, below := strings.CutPrefix(path, base+"/")
		return below && !strings.Contains(last, "/")
	}
	return pattern == path
}

// matchesAny tells whether a path fits one of the patterns.
func matchesAny(patterns []string, path string) bool {
	for _, p := range patterns {
		if matches(p, path) {
			return true
		}
	}
	return false
}

func join(lists ...[]string) []string {
	var all []string
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}
