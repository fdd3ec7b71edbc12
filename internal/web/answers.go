package web

import (
	"bytes"
	"container/list"
	"hash/maphash"
	"strconv"
	"sync"
	"time"

	"merchantorders/internal/order"
)

// answerKey names an answer: what was asked for, and whose it is.
type answerKey struct {
	route       string // pattern
	merchantID  int64
	path, query string
}

// readyAnswer is an answer as it goes out. It is not changed once it is kept.
type readyAnswer struct {
	event  int64     // of the merchant, when the answer was made
	day    order.Day // on which alone it is good; NoDay: on any
	tag    []string  // the entity tag, as a header's values
	links  []string
	length []string // Content-Length
	body   []byte   // nil: it was not made, since the client had it
}

// atLeast reports whether an answer is as good as another one to the same
// request: it is newer, or of the same time and whole.
func (a *readyAnswer) atLeast(other readyAnswer) bool {
	return a.event > other.event || a.event == other.event && other.body == nil
}

// Sizes of what the answers take beside their bodies.
const (
	answerOverhead = 512     // bytes, about
	askedBefore    = 1 << 13 // requests that are remembered, 8 bytes each
)

// answers keeps answers, those asked for last, up to a size. It takes only what
// is asked for again within a while: a client that walks through all orders
// once would otherwise push out what others poll.
type answers struct {
	seed maphash.Seed

	mu     sync.Mutex
	kept   map[answerKey]*list.Element // of *element
	recent *list.List                  // the answer given last in front
	size   int
	most   int
	asked  [askedBefore]uint64 // hashes of keys, each in its place
	// making are the answers that were kept, are old, and that somebody makes
	// anew; the channel is closed when that is done.
	making map[answerKey]chan struct{}
}

type element struct {
	key    answerKey
	answer *readyAnswer
}

func newAnswers(most int) *answers {
	return &answers{seed: maphash.MakeSeed(), kept: make(map[answerKey]*list.Element), recent: list.New(), most: most, making: make(map[answerKey]chan struct{})}
}

// get returns the answer to a request, nil when there is none that is good. now
// is asked where it depends on the day.
func (k *answers) get(key answerKey, event int64, now func() time.Time) *readyAnswer {
	k.mu.Lock()
	defer k.mu.Unlock()
	found, ok := k.kept[key]
	if !ok {
		return nil
	}
	answer := found.Value.(*element).answer
	if answer.event != event || answer.day != order.NoDay && answer.day != order.DayOf(now()) {
		return nil
	}
	k.recent.MoveToFront(found)
	return answer
}

// turn is called for an answer that get has not. Where many ask for what has just
// become old, one of them makes it and the others wait: made by each of 16
// clients, a list of 100 that 200 changes a second make old took all the time
// there was. It returns what to call, once or more, when the answer is made, or
// else what to wait for.
func (k *answers) turn(key answerKey) (done func(), busy <-chan struct{}) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if other, ok := k.making[key]; ok {
		return nil, other
	}
	if _, ok := k.kept[key]; !ok {
		return func() {}, nil // not asked for again and again
	}
	mine := make(chan struct{})
	k.making[key] = mine
	return func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.making[key] == mine {
			delete(k.making, key)
			close(mine)
		}
	}, nil
}

// put keeps a copy of an answer, in place of an older one or if it is asked for
// again.
func (k *answers) put(key answerKey, made readyAnswer) {
	k.mu.Lock()
	defer k.mu.Unlock()
	found, ok := k.kept[key]
	switch {
	case ok && found.Value.(*element).answer.atLeast(made):
		return // somebody else was faster
	case ok:
		k.drop(found)
	case !k.again(key):
		return
	}
	answer := &made
	answer.body = bytes.Clone(made.body)
	k.kept[key] = k.recent.PushFront(&element{key, answer})
	k.size += sizeOf(key, answer)
	for k.size > k.most {
		k.drop(k.recent.Back())
	}
}

// again reports whether a key was asked for before, and remembers it.
func (k *answers) again(key answerKey) bool {
	hash := maphash.Comparable(k.seed, key)
	place := &k.asked[hash%askedBefore]
	before := *place == hash
	*place = hash
	return before
}

func (k *answers) drop(e *list.Element) {
	gone := k.recent.Remove(e).(*element)
	delete(k.kept, gone.key)
	k.size -= sizeOf(gone.key, gone.answer)
}

func sizeOf(key answerKey, answer *readyAnswer) int {
	return answerOverhead + len(key.path) + len(key.query) + len(answer.body)
}

// lengthOf is the Content-Length of a body.
func lengthOf(body []byte) []string { return []string{strconv.Itoa(len(body))} }
