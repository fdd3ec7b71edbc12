package sqlite

import (
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// writing is held, shared, by each transaction that writes: a process that is stopped in one
// would keep the write lock, for which all others wait.
var writing sync.RWMutex

// SuspendBetweenTransactions lets the terminal stop the process (Ctrl-Z) between two transactions
// only. It is called once, by the program.
func SuspendBetweenTransactions() {
	if signal.Ignored(syscall.SIGTSTP) {
		return
	}
	asked, continued := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTSTP)
	signal.Notify(continued, syscall.SIGCONT)
	go func() {
		for range asked {
			suspend(continued)
		}
	}()
}

// suspend stops the process until it is continued.
func suspend(continued <-chan os.Signal) {
	writing.Lock()
	defer writing.Unlock()
	select {
	case <-continued: // of an earlier stop
	default:
	}
	if syscall.Kill(os.Getpid(), syscall.SIGSTOP) == nil {
		<-continued // other threads may run on for a moment
	}
}
