package delivery

import (
	"context"
	"slices"
	"sync"
	"time"
)

const (
	// merchantShare: a merchant gets one more slot of a lane only while it has at most
	// this part of the free ones. So the last ones are for merchants that have none.
	merchantShare = 16
	// slowAfter is how long a delivery takes that is slow.
	slowAfter = time.Second
	// fastToRecover is how many deliveries must be fast until a slow endpoint is healthy.
	fastToRecover = 10
)

// lanes are those of a kind of endpoints.
type lanes struct{ healthy, slow lane }

// lane is a queue of endpoints with slots, of which a round takes one.
type lane struct {
	slots   int
	taken   int
	holders map[int64]int // taken slots by merchant
	queue   []Key
}

func newLane(slots int) lane { return lane{slots: slots, holders: make(map[int64]int)} }

// next takes a slot for the first queued endpoint whose merchant may have one.
func (l *lane) next() (key Key, ok bool) {
	free := l.slots - l.taken
	i := slices.IndexFunc(l.queue, func(key Key) bool { return l.holders[key.MerchantID] <= free/merchantShare })
	if free <= 0 || i < 0 {
		return Key{}, false
	}
	key = l.queue[i]
	l.queue = slices.Delete(l.queue, i, i+1)
	l.take(key)
	return key, true
}

func (l *lane) take(key Key) {
	l.taken++
	l.holders[key.MerchantID]++
}

func (l *lane) free(key Key) {
	l.taken--
	if l.holders[key.MerchantID]--; l.holders[key.MerchantID] == 0 {
		delete(l.holders, key.MerchantID)
	}
}

// slot is the place of an endpoint in a lane during a round.
type slot struct {
	key  Key
	lane *lane
}

// enqueue adds a pending endpoint to the queue of its lane. The caller holds mu.
func (w *Worker) enqueue(key Key) {
	l := &w.lanes[key.Kind].healthy
	if slow := &w.lanes[key.Kind].slow; w.slow[key] > 0 && slow.slots > 0 {
		l = slow
	}
	l.queue = append(l.queue, key)
}

// start starts the queued endpoints that the lanes allow. Their rounds begin nothing
// after the end of ctx, and end with work.
func (w *Worker) start(ctx, work context.Context, running *sync.WaitGroup) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, lanes := range w.lanes {
		for _, l := range []*lane{&lanes.healthy, &lanes.slow} {
			for key, ok := l.next(); ok; key, ok = l.next() {
				slot := &slot{key, l}
				running.Go(func() {
					more := w.round(ctx, work, slot)
					w.ended(slot, more)
				})
			}
		}
	}
}

// demote moves a round that waits for a slow endpoint out of the healthy lane. The other
// lane may then have more than its slots, but not for longer than a request lasts.
func (w *Worker) demote(slot *slot) {
	w.mu.Lock()
	if lanes := w.lanes[slot.key.Kind]; slot.lane == &lanes.healthy && lanes.slow.slots > 0 {
		slot.lane.free(slot.key)
		slot.lane = &lanes.slow
		slot.lane.take(slot.key)
	}
	w.mu.Unlock()
	w.wake()
}

// ended records the end of a round. more says that the endpoint has more events.
func (w *Worker) ended(slot *slot, more bool) {
	key := slot.key
	w.mu.Lock()
	slot.lane.free(key)
	slot.lane = nil
	if again := w.pending[key]; more {
		w.enqueue(key) // behind the others
	} else {
		delete(w.pending, key)
		if again {
			w.changed[key.MerchantID] = true
		}
	}
	w.mu.Unlock()
	w.wake()
}
