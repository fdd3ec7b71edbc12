package search

import (
	"context"
	"database/sql"
	"math"
)

// Many orders may have been created in one period. Then a search for a common word
// divides the period into slices of time. The words of a period are in the order of
// their texts, and those of one text in the order of time, so a slice is one range for
// each different text that begins with a prefix. The texts are found one after the
// other, each by the one before: a loose index scan.

// firstSlice is how many seconds the first slice of a period has, sliceGrowth how many
// times as long or short the next one may be.
const firstSlice, sliceGrowth = period / 1024, 8

// selectTexts are the different texts of a period that begin with a prefix, numbered.
const selectTexts = `WITH RECURSIVE texts (word, n) AS (
		SELECT (SELECT MIN(word) FROM order_words WHERE block = $1 AND word >= $2 AND word < $3), 1
		UNION ALL
		SELECT (SELECT MIN(word) FROM order_words WHERE block = $1 AND word > t.word AND word < $3), t.n + 1
			FROM texts t WHERE t.word IS NOT NULL AND t.n < $4
	) `

const (
	// selectSlice reads the words of a slice. SQLite does not change the order of the
	// tables of a CROSS JOIN.
	selectSlice = selectTexts + `SELECT o.created_at, o.legacy_id, o.merchant_id FROM texts t CROSS JOIN order_words o
		WHERE o.block = $1 AND o.word = t.word AND o.created_at >= $5 AND o.created_at <= $6 LIMIT $7+0`
	// selectNewest reads how many texts there are, and the newest time of any of them that
	// is not after another.
	selectNewest = selectTexts + `SELECT COUNT(t.word), MAX((
			SELECT MAX(created_at) FROM order_words WHERE block = $1 AND word = t.word AND created_at <= $5
		)) FROM texts t`
)

// wordSlices is how far the slices of a period are read.
type wordSlices struct {
	length int64 // seconds of the next slice; 0: whole periods are read
	block  int64 // of the period
	// next is the creation of the newest order that may be in the next slice, or noOrder.
	next int64
}

// noOrder is earlier than every time.
const noOrder = math.MinInt64

// beginSlices makes slices of a period the next ones to read.
func (w *wordWalk) beginSlices(ctx context.Context, block int64) error {
	w.slices = wordSlices{length: firstSlice, block: block}
	for i := range w.terms {
		w.terms[i].manyTexts = false
	}
	_, err := w.findNext(ctx, w.after.At)
	return err
}

// advanceSlice reads the keys of the next slice of a period, or ends the period. If the
// slice has too many words it makes the next one shorter.
func (w *wordWalk) advanceSlice(ctx context.Context) error {
	s, start := &w.slices, periodStart(w.slices.block)
	if s.next == noOrder || s.next < start {
		w.after, w.block, w.ended = Key{At: start}, s.block+1, s.block == w.lastBlock
		w.slices, w.size = wordSlices{}, 1
		return nil
	}
	to, from := s.next, max(start, s.next-s.length+1)
	keys, ok, err := w.readWords(ctx, wordRange{blocks: []int64{s.block}, from: from, to: to})
	if err != nil {
		return err
	}
	if !ok {
		w.common = s.length == 1
		s.length = max(s.length/sliceGrowth, 1)
		return nil
	}
	same, err := w.findNext(ctx, from-1)
	if err != nil {
		return err
	}
	if !same { // another transaction has added texts since they were counted
		s.next = to
		return nil
	}
	if err := w.take(ctx, keys, from); err != nil {
		return err
	}
	w.after = Key{At: from}
	s.length = w.nextLength()
	return nil
}

// nextLength returns the length of the slice after one that filled the buffer: enough
// for another page, but not too many words of a term.
func (w *wordWalk) nextLength() int64 {
	length := w.slices.length
	want, found := int64(max(w.Limit, ReadLimit)), int64(max(len(w.buffer), 1))
	next := min(length*want/found, length*sliceGrowth, period)
	if w.termWords > 0 {
		next = min(next, length*int64(w.limits.rangeWords)*3/4/int64(w.termWords))
	}
	return max(next, length/sliceGrowth, 1)
}

// findNext sets next to the newest time up to a limit at which an order of the period may
// have been created that has all terms with few texts. It returns false if a term has many
// texts by now, and sets common if all have.
func (w *wordWalk) findNext(ctx context.Context, limit int64) (same bool, err error) {
	w.slices.next, w.common, same = limit, true, true
	for i := range w.terms {
		term := &w.terms[i]
		if term.manyTexts {
			continue
		}
		newest := int64(noOrder)
		for _, prefix := range term.Prefixes {
			var texts int64
			var last sql.NullInt64
			if err := w.q.QueryRow(ctx, selectNewest, []any{w.slices.block, prefix, endOf(prefix), w.limits.texts, limit}, &texts, &last); err != nil {
				return false, err
			}
			if term.manyTexts = texts >= int64(w.limits.texts); term.manyTexts {
				break
			}
			if last.Valid {
				newest = max(newest, last.Int64)
			}
		}
		if term.manyTexts {
			same = false
			continue
		}
		for _, key := range term.named {
			if key.At <= limit {
				newest = max(newest, key.At)
			}
		}
		w.slices.next, w.common = min(w.slices.next, newest), false
	}
	return same, nil
}
