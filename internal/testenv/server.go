package testenv

import (
	"os/exec"
	"runtime"
	"syscall"
)

// StartServer starts a server of another project for tests. On Linux the kernel
// sends it the signal when the test process ends in any way. The channel receives
// the result of the server's process.
//
// The kernel also sends the signal when the thread that started the server ends.
// So that thread waits for the server. A command that ends by itself needs no such
// signal.
func StartServer(cmd *exec.Cmd, atEnd syscall.Signal) (ended <-chan error, err error) {
	signalWhenParentEnds(cmd, atEnd)
	started, result := make(chan error), make(chan error, 1)
	go func() {
		// Unlocked, the thread could go to a goroutine that ends it.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			result <- cmd.Wait()
		}
	}()
	return result, <-started
}
