package app

import (
	"runtime"
	"sync"
)

// oneMore adds a thread to those that run the program's code, once for the whole
// process, however many servers run in it.
var oneMore = sync.OnceFunc(func() { runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1) })

// runMore has one thread more than there are processors run the program's code,
// where the database is a file: now and then most of them wait in a system call
// that reads one of its pages or sends an answer. Any order of 200,000, and any
// page of them, is read a fifth oftener so on two processors. What the operator
// has set by GOMAXPROCS stays.
func (p *process) runMore() {
	_, distant := p.settings.PostgresURL()
	if _, set := p.lookupEnv("GOMAXPROCS"); !distant && !set {
		oneMore()
	}
}
