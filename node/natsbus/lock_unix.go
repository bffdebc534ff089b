// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix && !solaris && !aix

package natsbus

import (
	"os"
	"syscall"
)

// lockFile keeps other processes out until the file is closed, however this process ends.
func lockFile(f *os.File) error {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}
