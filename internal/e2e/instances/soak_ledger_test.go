package instances

import (
	"fmt"
	"slices"
	"sort"
	"sync"
	"time"
)

// observed is a response, and what it says about the moment at which it was made.
// Times are since the start of the soak.
type observed struct {
	what         string // for messages
	called, done time.Duration

	wrote  string                 // key of an acknowledged change
	right  func(e committed) bool // of wrote: whether the event is that of the change
	failed string                 // key of a refused change: there is no event of it
	// explains reports whether the response is that of the moment after an event. It
	// is nil for an acknowledged change, and where the response does not tell.
	explains func(l *timeline, seq int64) bool

	history string // of a response of the feed; empty: another response
	waited  int64  // of an empty response of the feed after a wait: the event after which it was asked; 0: another response
}

// wakeTimeout is how long an acknowledged event may keep a waiting reader without
// a response. The service takes 250 ms; only a reader that is forgotten waits that
// long.
const wakeTimeout = 20 * time.Second

// writeTimes are the times of the requests that write, by request id. They are
// shared by all ledgers.
type writeTimes struct {
	mu           sync.Mutex
	called, done map[string]time.Duration
}

func newWriteTimes() *writeTimes {
	return &writeTimes{called: make(map[string]time.Duration), done: make(map[string]time.Duration)}
}

func (w *writeTimes) call(id string, at time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.called[id] = at
}

func (w *writeTimes) finish(id string, at time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done[id] = at
}

func (w *writeTimes) of(id string) (called, done time.Duration, acknowledged bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	done, acknowledged = w.done[id]
	return w.called[id], done, acknowledged
}

// ledger checks the responses to one merchant in one history of the database. The
// events give the order of all changes, so it need not search for one: it goes
// through the responses by the time of their end, and takes each for as early as
// possible. That is exact: an earlier moment forbids nothing that a later one
// allows. A response must not show less than any response did that ended before
// its request began, and nothing whose request had not begun when it ended.
//
// TestHistory searches for the order of concurrent requests instead, and needs no
// look into the database; it judges single orders only.
type ledger struct {
	*timeline
	times *writeTimes

	mu        sync.Mutex
	unchecked []observed       // by the time of their end
	newestFed map[string]int64 // newest event that a response of the feed showed, by history

	begun   []time.Duration // begun[i]: when the last of the requests began that made events up to i+1
	floor   []known         // ascending in both
	history string          // of the feed; empty: not seen yet
	// past are the histories of the feed before the database was replaced, each with
	// the events that it had, up to the last one that a client has seen.
	past map[string]*timeline
}

// known says that at a time an event was known to have happened, and all before.
type known struct {
	done time.Duration
	seq  int64
}

func newLedger(times *writeTimes) *ledger {
	return &ledger{timeline: newTimeline(), times: times, past: make(map[string]*timeline), newestFed: make(map[string]int64)}
}

// start makes the events so far the least that any response must show.
func (l *ledger) start() { l.floor = []known{{0, l.newest()}} }

// note takes a response to be checked. now is called under the lock, so responses
// are sorted by the time of their end.
func (l *ledger) note(o observed, now func() time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	o.done = now()
	l.unchecked = append(l.unchecked, o)
}

// fed notes that a client has seen the newest event of a history, in a response that
// may be checked or not.
func (l *ledger) fed(history string, newest int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.newestFed[history] = max(l.newestFed[history], newest)
}

// close makes the history of the feed a past one. Events that no client has seen do
// not count: their numbers may be given out again.
func (l *ledger) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.history != "" {
		seen := min(l.newest(), l.newestFed[l.history])
		l.past[l.history] = &timeline{events: l.events[:seen]}
	}
}

// take returns the responses that ended before a time.
func (l *ledger) take(before time.Duration) []observed {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := sort.Search(len(l.unchecked), func(i int) bool { return l.unchecked[i].done >= before })
	taken := l.unchecked[:n]
	l.unchecked = slices.Clone(l.unchecked[n:])
	return taken
}

// add adds the next event of the table.
func (l *ledger) add(e committed) error {
	if err := l.append(e); err != nil {
		return err
	}
	called, _, _ := l.times.of(e.key())
	if last := len(l.begun) - 1; last >= 0 {
		called = max(called, l.begun[last])
	}
	l.begun = append(l.begun, called)
	return nil
}

// check judges a response that ended before the events of the ledger were read.
// It returns what is wrong, empty if nothing is.
func (l *ledger) check(o observed) string {
	if problem := l.checkFeed(o); problem != "" {
		return problem
	}
	if seq, ok := l.byRequest[o.failed]; ok {
		return fmt.Sprintf("%s: refused, but event %d is of it", o.what, seq)
	}
	least := l.least(o.called)
	switch {
	case o.wrote != "":
		return l.checkWrite(o, least)
	case o.explains == nil:
		return ""
	}
	for seq := least; seq == least || seq <= l.newest() && l.begun[seq-1] <= o.done; seq++ {
		if o.explains(l.timeline, seq) {
			l.know(o.done, seq)
			return ""
		}
	}
	return fmt.Sprintf("%s: not what any moment shows from event %d on, of %d", o.what, least, l.newest())
}

func (l *ledger) checkWrite(o observed, least int64) string {
	seq, ok := l.byRequest[o.wrote]
	switch {
	case !ok:
		return fmt.Sprintf("%s: acknowledged, but there is no event of it up to %d", o.what, l.newest())
	case seq <= least:
		return fmt.Sprintf("%s: event %d, but %d was known before the request", o.what, seq, least)
	}
	if !o.right(l.event(seq)) {
		return fmt.Sprintf("%s: event %d is of another change: %+v", o.what, seq, l.event(seq))
	}
	l.know(o.done, seq)
	return ""
}

// checkFeed compares the history of a response of the feed, and sees that no
// waiting reader was forgotten.
func (l *ledger) checkFeed(o observed) string {
	if o.history == "" {
		return ""
	}
	if l.history == "" {
		if !l.mayBe(o.history) {
			return fmt.Sprintf("%s: the history is %s, as it was with other events", o.what, o.history)
		}
		l.history = o.history
	}
	if o.history != l.history {
		return fmt.Sprintf("%s: the history is %s, of the same database it was %s", o.what, o.history, l.history)
	}
	if next := o.waited + 1; o.waited > 0 && next <= l.newest() {
		_, done, acknowledged := l.times.of(l.event(next).key())
		if acknowledged && done+wakeTimeout < o.done {
			return fmt.Sprintf("%s: no events at %v, but event %d was acknowledged at %v", o.what, o.done, next, done)
		}
	}
	return ""
}

// mayBe reports whether the feed may have a history: one that no client has seen, or
// one that goes on from all that clients have seen of it.
func (l *ledger) mayBe(history string) bool {
	before, seen := l.past[history]
	return !seen || l.extends(before)
}

// least returns the number of the last event that was known before a time.
func (l *ledger) least(called time.Duration) int64 {
	n := sort.Search(len(l.floor), func(i int) bool { return l.floor[i].done >= called })
	if n == 0 {
		return 0
	}
	return l.floor[n-1].seq
}

// know remembers that an event was known at a time.
func (l *ledger) know(done time.Duration, seq int64) {
	if last := len(l.floor) - 1; last < 0 || seq > l.floor[last].seq {
		l.floor = append(l.floor, known{done, seq})
	}
}
