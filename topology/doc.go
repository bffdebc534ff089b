// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

// Package topology makes networks: from a short text such as "ring:6", and from a DOT file.
//
// An algorithm is judged on many networks, and a result is worth nothing when nobody can rebuild the network that it
// was found on. So every network has a name that fits a command line and a report, and the name says everything:
// "random:20,seed=1" is the same graph, with the same numbers and the same order of channels, on every machine and
// with every version of Go. The smallest use is
//
//	g, err := topology.Parse("grid:3x4,root=5")
//
// # The names
//
// A name is a shape, a size and options: shape:size,option=value. The shapes are listed by Names. Every shape takes
// root=R, the distinguished process, 0 when not given. The shapes drawn by lot take seed=S, 1 when not given.
//
//	single          one process
//	path:4          0 - 1 - 2 - 3
//	star:5          process 0 in the middle, four around it
//	ring:6          0 - 1 - ... - 5 - 0; ring:2 is one edge and ring:1 one process
//	grid:3x4        3 rows of 4; row r, column c is process 4r+c
//	complete:5      everybody with everybody
//	binary:15       the parent of p is (p-1)/2
//	tree:7,seed=1   uniform: each of the n^(n-2) labelled trees is equally likely (decoded from a Prüfer word)
//	random:20       connected: the tree of the same size and seed, and edges drawn from all the other pairs until the
//	                mean degree is reached (degree=4), or the share of all pairs that are to be joined (p=0.1); never
//	                fewer edges than a tree has, never more than the complete graph
//	scalefree:100   Barabási and Albert, "Emergence of scaling in random networks", Science 286 (1999): newcomers join
//	                m=2 different earlier processes, chosen in proportion to their degree; the first m+1 processes
//	                are a complete graph, since the paper leaves the start open
//
// The number of edges of a random graph is fixed by its name, not drawn: p is a density and not the probability of
// Erdős and Rényi. Two seeds then differ in shape only, which makes a sweep over seeds easier to read, and no
// floating-point arithmetic, whose last digit depends on the processor, decides on an edge.
//
// # The order of the channels
//
// Channels are local names, and some algorithms lean on their order. On path, star, tree and binary, channel 0 of
// every process but the root leads to its parent, and the others to its children by increasing number. On a grid
// the order is up, left, right, down. On a complete graph it is by increasing number. On a ring channel 0 leads to
// the predecessor and channel 1 to the successor, except at the root, where it is the other way round: a list of
// edges cannot give all the processes of a ring the same sense of direction.
//
// # Chance
//
// The generator is SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), twenty lines in chance.go. The standard library
// promises the stream of its sources but not what Shuffle or IntN make of it, and the promise has to outlive versions.
//
// # DOT
//
// ParseDOT reads the language of Graphviz and WriteDOT writes it. Processes are numbered in the order in which the
// file first mentions them, their names are the identifiers, channels follow the order of the edges, and the node
// with root=true is the root (without one, the first). A directed graph is read as an undirected one. An edge that
// is given twice, in either direction, is one edge. Ports, labels, other attributes, default attributes and the names
// of subgraphs are read over; braces as the end of an edge work as in Graphviz. An edge from a process to itself is an
// error. A network in several parts is not: ask IsConnected where it matters.
//
// A name has 1 to 255 bytes of UTF-8 without control characters, since it is printed in stories and tables.
// In quotes, \" is a quote and \\ is one backslash. Graphviz keeps both backslashes in the identifier and joins them
// when it prints; without joining them here, a name that ends in a backslash could not be written at all.
//
// What WriteDOT writes, ParseDOT reads as an equal graph: same numbers, names, root and channels. The exceptions are
// names that ParseDOT refuses or that occur twice, which are kept as labels only, and files above MaxDOT.
//
// gonum's parser (gonum.org/v1/gonum/graph/formats/dot v0.17.0) was tried first and not taken. It survived fuzzing, but
// nothing bounds it: 8 MB of nested braces cost it 7 seconds and 2 GB. Its tree has no positions, so that "a is joined
// to itself" could not say where. And it refuses "a" + "b".
//
// # Limits
//
// At most model.MaxProcesses processes and MaxEdges edges. The package reads no file, clock or global chance, and may
// be called from several goroutines at once.
package topology
