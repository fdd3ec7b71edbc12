package testenv

import (
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"testing"
)

// TestServersSurviveThreads starts servers and ends the threads that goroutines can
// use. No server may get the signal that it gets when the test process ends.
func TestServersSurviveThreads(t *testing.T) {
	const servers, threads = 20, 200
	commands := make([]*exec.Cmd, servers)
	results := make([]<-chan error, servers)
	for i := range commands {
		commands[i] = exec.Command("sleep", "1000")
		var err error
		if results[i], err = StartServer(commands[i], syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	var all, started sync.WaitGroup
	started.Add(threads)
	for range threads {
		all.Go(func() {
			runtime.LockOSThread() // without unlock: the thread ends with the goroutine
			started.Done()
			started.Wait()
		})
	}
	all.Wait()
	// Output waits for a process, which gives the signals time to arrive.
	Of(exec.Command("true").Output()).Must(t)
	for i, server := range commands {
		if err := server.Process.Signal(syscall.SIGTERM); err != nil {
			t.Errorf("server %d: %v", i, err)
		}
		if err := <-results[i]; err == nil || err.Error() != "signal: terminated" {
			t.Errorf("server %d ended with %v, want the signal of the test", i, err)
		}
	}
}
