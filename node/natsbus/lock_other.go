// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !unix || solaris || aix

package natsbus

import "os"

// lockFile does nothing here: these systems have no lock that a crash lets go of and that all Go versions know.
func lockFile(*os.File) error { return nil }
