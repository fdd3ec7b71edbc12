package webhook

import (
	"context"
	"slices"
	"sync"
	"time"
)

const (
	// maxHealthy is how many endpoints a Sender delivers to at once, and maxSlow how many
	// of those that were slow or have failed.
	maxHealthy = 128
	maxSlow    = 32
	// maxMails is how many e-mails a Sender sends at once. All go to one server.
	maxMails = 4
	// merchantShare: a merchant gets one more slot of a lane only while it has at most
	// this part of the free ones. So the last ones are for merchants that have none.
	merchantShare = 16
	// slowAfter is how long a delivery takes that is slow.
	slowAfter = time.Second
	// fastToRecover is how many deliveries must be fast until a slow endpoint is healthy.
	fastToRecover = 10
)

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
func (s *Sender) enqueue(key Key) {
	l := &s.healthy
	if key.Mail {
		l = &s.mails
	} else if s.slow[key] > 0 {
		l = &s.unhealthy
	}
	l.queue = append(l.queue, key)
}

// start starts the queued endpoints that the lanes allow. Their rounds begin nothing
// after the end of ctx, and end with work.
func (s *Sender) start(ctx, work context.Context, running *sync.WaitGroup) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range []*lane{&s.healthy, &s.unhealthy, &s.mails} {
		for key, ok := l.next(); ok; key, ok = l.next() {
			slot := &slot{key, l}
			running.Go(func() {
				more := s.round(ctx, work, slot)
				s.ended(slot, more)
			})
		}
	}
}

// demote moves a round that waits for a slow endpoint out of the healthy lane. The other
// lane may then have more than its slots, but not for longer than a request lasts.
func (s *Sender) demote(slot *slot) {
	s.mu.Lock()
	if slot.lane == &s.healthy {
		slot.lane.free(slot.key)
		slot.lane = &s.unhealthy
		slot.lane.take(slot.key)
	}
	s.mu.Unlock()
	s.wake()
}

// ended records the end of a round. more says that the endpoint has more events.
func (s *Sender) ended(slot *slot, more bool) {
	key := slot.key
	s.mu.Lock()
	slot.lane.free(key)
	slot.lane = nil
	if again := s.pending[key]; more {
		s.enqueue(key) // behind the others
	} else {
		delete(s.pending, key)
		if again {
			s.changed[key.MerchantID] = true
		}
	}
	s.mu.Unlock()
	s.wake()
}
