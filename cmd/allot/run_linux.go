// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"syscall"
)

// passedSignals go on to the command.
var passedSignals = []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2}

// childAttributes have the system end the command when allot is killed: nobody would be left to tell it of a loss.
func childAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
