// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package main

import (
	"os"
	"syscall"
)

// passedSignals go on to the command.
var passedSignals = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}

func childAttributes() *syscall.SysProcAttr { return nil }
