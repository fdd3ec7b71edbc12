package robust

import (
	"crypto/sha256"
	"sync"
)

// ledger is what the clients of a server that is killed know: what they tried,
// and what was acknowledged. The tries are noted before they are sent, so that
// nothing can be there that is not in it.
type ledger struct {
	mu    sync.Mutex
	heard int // acknowledgements over HTTP

	states   map[sample]stateNote
	files    map[sample]map[[32]byte]*fileNote // by digest of the content
	imported []sample                          // acknowledged by an import

	goal chan struct{} // closed once heard has reached target
	// target is how many acknowledgements there are to be before the kill.
	target int
}

// stateNote is the state that a client wanted an order to have, and whether it
// was acknowledged.
type stateNote struct {
	state string
	sure  bool
}

// fileNote is what became of one uploaded content.
type fileNote struct {
	entry   entry // known once stored
	stored  bool  // acknowledged
	leaving bool  // a deletion was tried
	gone    bool  // the deletion was acknowledged
}

func newLedger(target int) *ledger {
	return &ledger{
		states: make(map[sample]stateNote), files: make(map[sample]map[[32]byte]*fileNote),
		goal: make(chan struct{}), target: target,
	}
}

// hear counts an acknowledgement. The ledger must be locked.
func (l *ledger) hear() {
	if l.heard++; l.heard == l.target {
		close(l.goal)
	}
}

// wants notes that an order is about to be changed.
func (l *ledger) wants(n sample, state string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.states[n] = stateNote{state: state}
}

// has notes that a response was acknowledged.
func (l *ledger) has(n sample) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.states[n] = stateNote{state: l.states[n].state, sure: true}
	l.hear()
}

// sends notes that content is about to be uploaded.
func (l *ledger) sends(n sample, content []byte) *fileNote {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.files[n] == nil {
		l.files[n] = make(map[[32]byte]*fileNote)
	}
	note := &fileNote{}
	l.files[n][sha256.Sum256(content)] = note
	return note
}

// change changes a note of a file after an acknowledgement.
func (l *ledger) change(acknowledged func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	acknowledged()
	l.hear()
}

// deletes notes that a file is about to be deleted.
func (l *ledger) deletes(note *fileNote) {
	l.mu.Lock()
	defer l.mu.Unlock()
	note.leaving = true
}

// took notes orders that an import has acknowledged.
func (l *ledger) took(orders ...sample) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.imported = append(l.imported, orders...)
}
