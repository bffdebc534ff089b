// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

// Package protocol lists the algorithms of allot by name. Each lives in a folder of its own below this one and is a pure
// function of its state; adding one takes a folder and a line in All.
//
// The laboratory, the command line and the documentation take everything they know of an algorithm from its entry here.
package protocol

import (
	"fmt"
	"strings"

	"allot/model"
	"allot/protocol/abp"
	"allot/protocol/band"
	"allot/protocol/claim"
	"allot/protocol/peterson"
	"allot/protocol/pool"
	"allot/protocol/reign"
	"allot/protocol/ring"
	"allot/protocol/slots"
	"allot/protocol/tree"
	"allot/protocol/wave"
)

// All lists the algorithms in the order in which they are shown.
var All = []*model.Algorithm{
	&ring.Algorithm,
	&peterson.Algorithm,
	&abp.Algorithm,
	&tree.Algorithm,
	&pool.Algorithm,
	&reign.Algorithm,
	&band.Algorithm,
	&slots.Algorithm,
	&claim.Algorithm,
	&wave.Algorithm,
	&ring.OverLinks,
	&wave.OverLinks,
	&tree.Network,
	tree.Spanning,
}

// Find looks an algorithm up by its name.
func Find(name string) (*model.Algorithm, error) {
	names := make([]string, len(All))
	for i, a := range All {
		if a.Name == name {
			return a, nil
		}
		names[i] = a.Name
	}
	return nil, fmt.Errorf("unknown algorithm %q; there are %s", name, strings.Join(names, ", "))
}
