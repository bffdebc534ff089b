// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCoterie(t *testing.T) {
	picture := filepath.Join(t.TempDir(), "a.svg")
	var out, errors bytes.Buffer
	if code := run(context.Background(), []string{"lab", "coterie", "grid:16", "grid:5", "--plot", picture}, &out, &errors); code != 0 {
		t.Fatalf("exit %d: %s", code, errors.String())
	}
	for _, want := range []string{"grid:16: 16 processes", "quorum size   7 to 7", "0.4375 at the busiest", "(exact)",
		"minimality: the quorum [0 1 2] of process 2 is contained in [0 1 2 3] of process 0"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
	if svg, err := os.ReadFile(picture); err != nil || !bytes.Contains(svg, []byte("grid:16")) {
		t.Errorf("the picture: %v", err)
	}
	out.Reset()
	if code := run(context.Background(), []string{"lab", "coterie", "majority:3", "--p", "0.5", "--members", "--json"}, &out, &errors); code != 0 {
		t.Fatalf("exit %d: %s", code, errors.String())
	}
	var reports []coterieReport
	if err := json.Unmarshal(out.Bytes(), &reports); err != nil || len(reports) != 1 || reports[0].Availability.Assigned != 0.5 || len(reports[0].Quorums) != 3 {
		t.Errorf("%v: %s", err, out.String())
	}
}

func TestCoterieRefusals(t *testing.T) {
	for _, test := range []struct {
		args   []string
		reason string
	}{
		{[]string{"own:0+1/1+2/2+3/3+0"}, "[0 1] of process 0 and [2 3] of process 2 have no member in common"},
		{[]string{"plane:43"}, "prime power"},
		{[]string{"grid:4", "--p", "1.5"}, "0 to 1"},
		{[]string{"grid:4", "--p", "NaN"}, "0 to 1"},
		{[]string{"grid:4", "--samples", "0"}, "--samples"},
		{nil, "at least 1 arg"},
	} {
		var out, errors bytes.Buffer
		if code := run(context.Background(), append([]string{"lab", "coterie"}, test.args...), &out, &errors); code != exitUsage || !strings.Contains(errors.String(), test.reason) {
			t.Errorf("%v: exit %d, %s", test.args, code, errors.String())
		}
	}
}
