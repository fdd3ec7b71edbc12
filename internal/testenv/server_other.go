//go:build !linux

package testenv

import (
	"os/exec"
	"syscall"
)

// signalWhenParentEnds does nothing: only Linux has such a signal.
func signalWhenParentEnds(*exec.Cmd, syscall.Signal) {}
