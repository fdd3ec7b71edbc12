package store

import (
	"container/list"
	"sync"
)

const (
	// mostKeptSpans bounds the memory of the cache, in days and blocks of all
	// merchants together: 64 bytes each, and up to as much again in room to grow.
	mostKeptSpans = 150_000
	// merchantWeight is what a merchant costs beside them, in spans: most of it
	// the events that can be counted out again.
	merchantWeight = 40
)

// countCache keeps the day counts of the merchants asked for last. It never
// looks into the counts themselves: they have a lock of their own, which is
// held while the database is read.
type countCache struct {
	mu        sync.Mutex
	merchants map[int64]*list.Element // of *keptCounts
	recent    *list.List              // the merchant asked for last in front
	weight    int                     // of all that is kept, in spans
	most      int
	sizes     sizes // of counts that are made
}

// keptCounts are one merchant's in the cache.
type keptCounts struct {
	merchantID int64
	counts     *dayCounts
	weight     int
}

func newCountCache() *countCache {
	return &countCache{merchants: make(map[int64]*list.Element), recent: list.New(), most: mostKeptSpans, sizes: usualSizes}
}

// of returns the counts of a merchant, empty ones when they are not known.
func (k *countCache) of(merchantID int64) *dayCounts {
	k.mu.Lock()
	defer k.mu.Unlock()
	if element, ok := k.merchants[merchantID]; ok {
		k.recent.MoveToFront(element)
		return element.Value.(*keptCounts).counts
	}
	kept := &keptCounts{merchantID: merchantID, counts: newDayCounts(k.sizes), weight: merchantWeight}
	k.merchants[merchantID] = k.recent.PushFront(kept)
	k.weight += kept.weight
	k.makeRoom()
	return kept.counts
}

// grown notes how many spans a merchant's counts have now.
func (k *countCache) grown(merchantID int64, counts *dayCounts, spans int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	element, ok := k.merchants[merchantID]
	if !ok {
		return
	}
	kept := element.Value.(*keptCounts)
	if kept.counts != counts {
		return // let go of meanwhile, and another's now
	}
	k.weight += merchantWeight + spans - kept.weight
	kept.weight = merchantWeight + spans
	k.makeRoom()
}

// makeRoom lets go of the merchants asked for longest ago, but for the one
// asked for last. A list that is being read holds its own counts on.
func (k *countCache) makeRoom() {
	for k.weight > k.most && k.recent.Len() > 1 {
		gone := k.recent.Remove(k.recent.Back()).(*keptCounts)
		delete(k.merchants, gone.merchantID)
		k.weight -= gone.weight
	}
}
