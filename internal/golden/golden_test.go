// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package golden

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// judge is a test that notes what it is told instead of failing.
type judge struct {
	testing.TB
	said string
}

func (j *judge) Helper()                        {}
func (j *judge) Errorf(format string, a ...any) { j.said = fmt.Sprintf(format, a...) }
func (j *judge) Fatal(a ...any) {
	j.said = fmt.Sprint(a...)
	panic("fatal")
}

func TestCompareCanFail(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.txt")
	if err := os.WriteFile(path, []byte("one\ntwo\nthree\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	j := &judge{}
	if Compare(j, path, "one\ntwo\nthree\n"); j.said != "" {
		t.Errorf("equal texts: %s", j.said)
	}
	if Compare(j, path, "one\nzwei\nthree\n"); !strings.Contains(j.said, "from line 2 on") || !strings.Contains(j.said, "zwei") {
		t.Errorf("other texts: %s", j.said)
	}
	j.said = ""
	if Compare(j, path, "one\ntwo\n"); !strings.Contains(j.said, "from line 3 on") {
		t.Errorf("a shorter text: %s", j.said)
	}
	defer func() {
		if recover() == nil || !strings.Contains(j.said, "no such file") {
			t.Errorf("a missing file: %s", j.said)
		}
	}()
	Compare(j, path+".missing", "one")
}
