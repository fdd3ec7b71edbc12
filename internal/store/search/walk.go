package search

import (
	"context"
	"database/sql"
	"math"
	"slices"

	"merchantorders/internal/store/sqldb"
)

const (
	// maxStateKeys is how many orders of a state are read at a time, to compare their keys
	// with those of words.
	maxStateKeys = 600
	// perState is how many orders with a word are read at a time for one in a wanted state.
	perState = 8
	// maxPeriods is how many periods are read at a time, at most periodGrowth times as
	// many as before.
	maxPeriods, periodGrowth = 256, 4
	// fewKeys is how many orders are read rather than the words of another term.
	fewKeys = ReadLimit
)

const (
	// The first and the last period of some. Each is a seek of its own.
	selectPeriods = `SELECT (SELECT MIN(block) FROM order_words WHERE block >= $1 AND block <= $2),
		(SELECT MAX(block) FROM order_words WHERE block >= $1 AND block <= $2)`
	// Dialect.InList comes between selectMatches and its end.
	selectMatches    = `SELECT created_at, legacy_id, merchant_id FROM order_words WHERE block `
	selectMatchesEnd = ` AND word >= $2 AND word < $3 LIMIT $4+0`
)

// wordWalk yields the keys of orders that have all terms of a search, or that may have
// them, newest first. If few orders have a term, it finds them in all periods at once.
// Otherwise it reads the words of a few periods at a time, of more periods the fewer
// orders are found, and of a part of a period if it has too many. It implements keySource.
type wordWalk struct {
	*reader
	terms    []walkTerm // those that find most orders last
	maxWords int        // how many words may be read; more, if some had to be read again

	after     Key   // every key up to it was found
	block     int64 // the next period
	lastBlock int64 // the oldest period
	fullBlock int64 // up to it there is a period with many words
	size      int   // how many periods are read next; 0: none was read
	termWords int   // the most words of a term that were read of the last periods
	slices    wordSlices
	buffer    []Key
	found     int  // all keys in buffer so far
	ended     bool // all was read
	common    bool // there are too many words of every term
}

// walkTerm is a term of a search.
type walkTerm struct {
	term
	// named are the keys of orders that no period need have: of the one with the legacy id.
	named []Key
	// manyTexts is whether limits.texts texts or more of the period begin with a prefix.
	manyTexts bool
}

// newWordWalk returns the keys of orders that have the terms of a search.
func newWordWalk(ctx context.Context, r *reader) (*wordWalk, error) {
	w := &wordWalk{reader: r, maxWords: r.limits.words, after: r.start(), lastBlock: -1, fullBlock: math.MinInt64}
	w.block = periodBlock(w.after.At)
	if r.from != math.MinInt64 {
		w.lastBlock = periodBlock(r.from)
	}
	for _, term := range r.terms {
		walked := walkTerm{term: term}
		if term.LegacyID != 0 {
			key, ok, err := r.orders.Key(ctx, term.LegacyID)
			if err != nil {
				return nil, err
			}
			if ok {
				walked.named = []Key{key}
			}
		}
		w.terms = append(w.terms, walked)
	}
	return w, nil
}

// next implements keySource.
func (w *wordWalk) next(ctx context.Context) (Key, bool, error) {
	for len(w.buffer) == 0 {
		if w.ended || w.common || w.words >= w.maxWords || !w.worthwhile() {
			return Key{}, false, nil
		}
		if err := w.advance(ctx); err != nil {
			return Key{}, false, err
		}
	}
	key := w.buffer[0]
	w.buffer = w.buffer[1:]
	return key, true, nil
}

// worthwhile reports whether the page fills before too many words are read, as far as
// one can tell. A merchant may have few of the orders with a word; then its orders are
// fewer than these words.
func (w *wordWalk) worthwhile() bool {
	words := w.words - (w.maxWords - w.limits.words) // without what was read again
	return w.MerchantID == 0 || words < w.limits.termWords/2 || w.found*w.limits.words >= words*w.Limit
}

// advance reads the keys of the next periods, or of a part of one.
func (w *wordWalk) advance(ctx context.Context) error {
	if w.slices.length > 0 {
		return w.advanceSlice(ctx)
	}
	blocks, err := w.periods(ctx)
	if err != nil {
		return err
	}
	for few := w.size == 0; ; few = false {
		end := int64(math.MinInt64)
		last := len(blocks) == 0 || blocks[len(blocks)-1] == w.lastBlock
		if !last {
			end = periodStart(blocks[len(blocks)-1])
		}
		keys, ok, err := w.readWords(ctx, wordRange{blocks: blocks, from: end, few: few})
		if err != nil {
			return err
		}
		if ok {
			if err := w.take(ctx, keys, end); err != nil {
				return err
			}
			if w.ended = last; !last {
				w.after, w.block = Key{At: end}, blocks[len(blocks)-1]+1
				w.size = w.nextSize(len(blocks))
			}
			return nil
		}
		if few {
			blocks = blocks[:1]
			continue
		}
		if len(blocks) == 1 {
			if w.common = !w.dialect.RecursiveQueries; w.common {
				return nil
			}
			return w.beginSlices(ctx, blocks[0])
		}
		w.fullBlock = blocks[len(blocks)-1]
		blocks = blocks[:max(len(blocks)/periodGrowth, 1)]
	}
}

// take makes the keys of periods that begin at end the next ones.
func (w *wordWalk) take(ctx context.Context, keys []Key, end int64) error {
	keys = slices.DeleteFunc(keys, func(key Key) bool {
		return w.compare(key, w.after) <= 0 || w.MerchantID != 0 && key.MerchantID != w.MerchantID
	})
	slices.SortFunc(keys, w.compare)
	keys, err := w.ofStates(ctx, slices.Compact(keys), end)
	w.buffer = keys
	w.found += len(keys)
	return err
}

// nextSize returns how many periods to read after some that filled the buffer: enough
// for another page, but not too many words of a term.
func (w *wordWalk) nextSize(periods int) int {
	switch {
	case w.block <= w.fullBlock:
		return periods
	case w.termWords == 0:
		return min(periods*periodGrowth, maxPeriods)
	case w.size == 0:
		return 1 // The newest period has only begun.
	}
	size := min(periods*periodGrowth, periods*w.limits.rangeWords/w.termWords, maxPeriods)
	want := max(w.Limit, ReadLimit)
	if len(w.States) > 0 {
		want *= perState
	}
	if n := len(w.buffer); n > 0 {
		size = min(size, 1+periods*want/n)
	}
	return max(size, 1)
}

// periods returns the blocks of the next periods, of as many as possible if none was read
// yet. The first has words. None: no period is left.
func (w *wordWalk) periods(ctx context.Context) ([]int64, error) {
	var first, last sql.NullInt64
	err := w.q.QueryRow(ctx, selectPeriods, []any{w.block, w.lastBlock}, &first, &last)
	if err != nil || !first.Valid {
		return nil, err
	}
	w.lastBlock = last.Int64
	size := w.size
	if size == 0 {
		size = maxPeriods
	}
	var blocks []int64
	for block := first.Int64; block <= w.lastBlock && len(blocks) < size; block++ {
		blocks = append(blocks, block)
	}
	return blocks, nil
}

// wordRange is a part of the words.
type wordRange struct {
	blocks []int64
	from   int64 // creation of the oldest order
	// to is the creation of the newest order, if the range is a slice of a period, which
	// is the only block. Otherwise it is 0.
	to  int64
	few bool // it is of interest only if it has at most fewKeys words of a term
}

// readWords returns the keys of orders of a range, and of the named ones that are not
// older, that have all terms, or some and are few. It returns false if there are too
// many words.
func (w *wordWalk) readWords(ctx context.Context, of wordRange) ([]Key, bool, error) {
	var found []Key
	var read, common []walkTerm
	before := w.words
	w.termWords = 0
	for i, term := range w.terms {
		keys, whole, err := w.matchesOf(ctx, term, of)
		if err != nil {
			return nil, false, err
		}
		if !whole {
			common = append(common, term)
			continue
		}
		w.termWords = max(w.termWords, len(keys))
		for _, key := range term.named {
			if key.At >= of.from && w.compare(key, w.after) > 0 {
				keys = append(keys, key)
			}
		}
		if read = append(read, term); len(read) == 1 {
			found = keys
		} else {
			found = intersect(found, keys)
		}
		if len(found) <= fewKeys {
			w.terms = slices.Concat(read, w.terms[i+1:], common)
			return found, true, nil
		}
	}
	w.terms = append(read, common...)
	ok := len(read) > 0 && (len(common) == 0 || len(of.blocks) <= 1)
	if !ok {
		w.maxWords += w.words - before // a part of the range is read again
	}
	return found, ok, nil
}

// ofStates removes keys of orders that are in none of the wanted states, unless they
// are few. It reads the newest orders with these states only. It changes keys.
func (w *wordWalk) ofStates(ctx context.Context, keys []Key, end int64) ([]Key, error) {
	if len(w.States) == 0 || len(keys) <= fewKeys {
		return keys, nil
	}
	in := make(map[int64]bool)
	read := make([]int, len(w.States))
	err := w.q.QueryMany(ctx, func(yield func(string, []any) bool) {
		args := []any{keys[len(keys)-1].At, w.after.At, w.after.LegacyID, maxStateKeys}
		for _, state := range w.States {
			if !yield(selectOfState+sqldb.Literal(state)+` AND `+byRange, args) {
				return
			}
		}
	}, func(n int, rows sqldb.Rows) error {
		key, err := scanKey(rows)
		if read[n]++; read[n] == maxStateKeys {
			end = max(end, key.At+1)
		}
		in[key.LegacyID] = true
		w.words++
		return err
	})
	return slices.DeleteFunc(keys, func(key Key) bool { return key.At >= end && !in[key.LegacyID] }), err
}

// intersect returns those of the keys in a that are in b. It changes a.
func intersect(a, b []Key) []Key {
	in := make(map[int64]bool, len(b))
	for _, key := range b {
		in[key.LegacyID] = true
	}
	return slices.DeleteFunc(a, func(key Key) bool { return !in[key.LegacyID] })
}

// matchesOf returns the keys of the words of a range that a term finds, and false if
// there are too many.
func (w *wordWalk) matchesOf(ctx context.Context, term walkTerm, of wordRange) (keys []Key, whole bool, err error) {
	switch {
	case len(of.blocks) == 0:
		return nil, true, nil
	case of.to != 0 && term.manyTexts:
		return nil, false, nil
	}
	most := w.limits.termWords
	switch {
	case of.few:
		most = fewKeys + 1
	case of.to != 0 || len(of.blocks) > 1:
		most = w.limits.rangeWords
	}
	err = w.q.QueryMany(ctx, func(yield func(string, []any) bool) {
		for _, prefix := range term.Prefixes {
			limit := most - len(keys) // most, if all queries are sent before the first is read
			text, args := selectMatches+w.dialect.InList+selectMatchesEnd, []any{of.blocks, prefix, endOf(prefix), limit}
			if of.to != 0 {
				text, args = selectSlice, []any{of.blocks[0], prefix, endOf(prefix), w.limits.texts, of.from, of.to, limit}
			}
			if limit <= 0 || !yield(text, args) {
				return
			}
		}
	}, func(_ int, rows sqldb.Rows) error {
		key, err := scanKey(rows)
		keys = append(keys, key)
		return err
	})
	w.words += min(len(keys), most)
	return keys, len(keys) < most, err
}
