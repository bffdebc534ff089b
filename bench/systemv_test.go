// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package bench

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// semop makes one operation on a System V semaphore.
func semop(id uintptr, op *sembuf) syscall.Errno {
	_, _, errno := unix.Syscall(unix.SYS_SEMOP, id, uintptr(unsafe.Pointer(op)), 1)
	return errno
}
