// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

//go:build cgo

// Package posixsem reaches the POSIX semaphores of the C library, so that the benchmarks can stand beside them.
// A semaphore is named, lives in shared memory, and counts down and up. Nothing of allot uses this package but its
// benchmarks.
package posixsem

/*
#cgo LDFLAGS: -pthread
#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <stdlib.h>

static sem_t *open_new(const char *name, unsigned value) {
	sem_unlink(name);
	sem_t *s = sem_open(name, O_CREAT | O_EXCL, 0600, value);
	return s == SEM_FAILED ? NULL : s;
}

// pairs takes and gives back so often that the calls from Go do not count.
static int pairs(sem_t *s, int n) {
	for (int i = 0; i < n; i++) {
		if (sem_wait(s) != 0 || sem_post(s) != 0) return errno;
	}
	return 0;
}
*/
import "C"

import (
	"fmt"
	"unsafe"
)

// Semaphore is a named semaphore.
type Semaphore struct {
	sem  *C.sem_t
	name *C.char
}

// Open makes a new semaphore with a value.
func Open(name string, value uint) (*Semaphore, error) {
	s := &Semaphore{name: C.CString(name)}
	if s.sem = C.open_new(s.name, C.uint(value)); s.sem == nil {
		C.free(unsafe.Pointer(s.name))
		return nil, fmt.Errorf("posix semaphore %s cannot be made", name)
	}
	return s, nil
}

// Pairs takes and gives back n times.
func (s *Semaphore) Pairs(n int) error {
	if e := C.pairs(s.sem, C.int(n)); e != 0 {
		return fmt.Errorf("posix semaphore: error %d", int(e))
	}
	return nil
}

// Close removes the semaphore.
func (s *Semaphore) Close() {
	C.sem_close(s.sem)
	C.sem_unlink(s.name)
	C.free(unsafe.Pointer(s.name))
}
