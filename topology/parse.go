// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"allot/model"
)

// MaxEdges bounds the edges of a network made by Parse. It lets every sparse shape reach model.MaxProcesses, and
// keeps complete graphs, whose edges grow with the square, within a few gigabytes (complete:10000).
const MaxEdges = 50_000_000

// Info describes one shape for a help text.
type Info struct {
	Name string // what stands before the colon
	Form string // how to write it; brackets mark what may be left out
	Help string // one line
}

// Names lists the shapes that Parse knows, simple ones first. Each also takes root=R.
func Names() []Info {
	infos := make([]Info, len(shapes))
	for i, s := range shapes {
		infos[i] = s.Info
	}
	return infos
}

// shape is one line of the list of topologies: adding one takes a line here and a function that builds it.
type shape struct {
	Info
	options []string // beside root
	build   func(request) (*model.Graph, error)
}

var shapes = []shape{
	{Info{"single", "single", "one process"}, nil, path},
	{Info{"path", "path:N", "N processes in a line"}, nil, path},
	{Info{"star", "star:N", "process 0 in the middle, N-1 around it"}, nil, star},
	{Info{"ring", "ring:N", "N processes in a circle"}, nil, ring},
	{Info{"grid", "grid:RxC", "R rows of C processes"}, nil, grid},
	{Info{"complete", "complete:N", "everybody joined to everybody"}, nil, complete},
	{Info{"binary", "binary:N", "complete binary tree, filled level by level"}, nil, binary},
	{Info{"tree", "tree:N[,seed=S]", "random tree, every labelled tree equally likely"}, []string{"seed"}, tree},
	{Info{"random", "random:N[,seed=S][,degree=D|,p=P]", "random connected graph: a random tree and more edges, " +
		"up to a mean degree (4) or a share of all pairs"}, []string{"seed", "degree", "p"}, random},
	{Info{"scalefree", "scalefree:N[,seed=S][,m=M]", "Barabási-Albert: each newcomer joins M (2) well-connected " +
		"processes"}, []string{"seed", "m"}, scaleFree},
}

// request is a parsed name.
type request struct {
	n, rows, columns, root int

	seed   uint64
	m      int
	degree uint64 // in billionths; the mean degree of random
	share  uint64 // in billionths; the share of all pairs joined, in place of degree when byShare
	// byShare tells p=0 from no p at all.
	byShare bool
}

const billion = 1_000_000_000

// Parse makes the network that a name such as "ring:6" or "random:20,seed=1,root=3" describes; the package comment
// lists the names. The same name always gives the same graph. The error is one line that begins with the name.
func Parse(spec string) (*model.Graph, error) {
	g, err := parse(spec)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", show(spec), err)
	}
	return g, nil
}

func parse(spec string) (*model.Graph, error) {
	fields := strings.Split(spec, ",")
	name, size, hasSize := strings.Cut(fields[0], ":")
	i := slices.IndexFunc(shapes, func(s shape) bool { return s.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("there is no topology of this name; there are %s", allNames())
	}
	s := shapes[i]
	r := request{seed: 1, m: 2, degree: 4 * billion}
	if err := r.setSize(s, size, hasSize); err != nil {
		return nil, err
	}
	var given []string
	for _, field := range fields[1:] {
		key, value, _ := strings.Cut(field, "=")
		if key != "root" && !slices.Contains(s.options, key) {
			return nil, fmt.Errorf("%s has no option %s; it has %s", s.Name, show(key),
				strings.Join(append(slices.Clone(s.options), "root"), ", "))
		}
		if slices.Contains(given, key) {
			return nil, fmt.Errorf("%s is given twice", key)
		}
		given = append(given, key)
		if err := r.setOption(key, value); err != nil {
			return nil, err
		}
	}
	if slices.Contains(given, "degree") && r.byShare {
		return nil, errors.New("give degree or p, not both")
	}
	return s.build(r)
}

func (r *request) setSize(s shape, size string, hasSize bool) error {
	switch {
	case s.Name == "single":
		if hasSize {
			return errors.New("single has no size; write single or path:N")
		}
		r.n = 1
	case !hasSize:
		return fmt.Errorf("the size is missing; write %s", s.Form)
	case s.Name == "grid":
		rows, columns, _ := strings.Cut(size, "x")
		a, okA := number(rows, 1, model.MaxProcesses)
		b, okB := number(columns, 1, model.MaxProcesses)
		if !okA || !okB || a*b > model.MaxProcesses {
			return fmt.Errorf("the size must be ROWSxCOLUMNS, such as 3x4, with 1 to %d processes in all",
				model.MaxProcesses)
		}
		r.rows, r.columns, r.n = int(a), int(b), int(a*b)
	default:
		n, ok := number(size, 1, model.MaxProcesses)
		if !ok {
			return fmt.Errorf("the number of processes must be 1 to %d", model.MaxProcesses)
		}
		r.n = int(n)
	}
	return nil
}

func (r *request) setOption(key, value string) error {
	switch key {
	case "root":
		root, ok := number(value, 0, uint64(r.n-1))
		if !ok {
			return fmt.Errorf("root must be a process, 0 to %d", r.n-1)
		}
		r.root = int(root)
	case "seed":
		seed, ok := number(value, 0, math.MaxUint64)
		if !ok {
			return fmt.Errorf("seed must be 0 to %d", uint64(math.MaxUint64))
		}
		r.seed = seed
	case "m":
		m, ok := number(value, 1, model.MaxProcesses)
		if !ok {
			return fmt.Errorf("m must be 1 to %d", model.MaxProcesses)
		}
		r.m = int(m)
	case "degree":
		degree, ok := decimal(value, model.MaxProcesses)
		if !ok {
			return fmt.Errorf("degree must be 0 to %d, with at most nine decimals", model.MaxProcesses)
		}
		r.degree = degree
	case "p":
		share, ok := decimal(value, 1)
		if !ok {
			return errors.New("p must be 0 to 1, with at most nine decimals")
		}
		r.share, r.byShare = share, true
	}
	return nil
}

// number reads a decimal number; no sign, space or underscore.
func number(text string, low, high uint64) (uint64, bool) {
	v, err := strconv.ParseUint(text, 10, 64)
	return v, err == nil && v >= low && v <= high
}

// decimal reads a number such as 4 or 2.5 as billionths, since floating point must not decide on edges. high is at
// most a few millions, so that the result fits.
func decimal(text string, high uint64) (uint64, bool) {
	whole, rest, hasPoint := strings.Cut(text, ".")
	v, ok := number(whole, 0, high)
	if !ok || hasPoint && (rest == "" || len(rest) > 9) {
		return 0, false
	}
	part, ok := number((rest + "000000000")[:9], 0, billion-1)
	v = v*billion + part
	return v, ok && v <= high*billion
}

func allNames() string {
	var names []string
	for _, s := range shapes {
		names = append(names, s.Name)
	}
	return strings.Join(names, ", ")
}

// show makes any text fit an error message of one line.
func show(text string) string {
	const longest = 40 // up to four times as much when it is quoted
	cut := text
	if len(cut) > longest {
		cut = cut[:longest]
	}
	quoted := strconv.Quote(cut)
	if plain := quoted[1 : len(quoted)-1]; plain == cut && cut != "" {
		quoted = cut
	}
	if len(cut) < len(text) {
		quoted += "..."
	}
	return quoted
}
