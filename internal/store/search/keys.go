package search

import (
	"cmp"
	"context"
	"slices"

	"merchantorders/internal/order"
	"merchantorders/internal/store/sqldb"
)

// Key is the key of an order in the results of a search.
type Key struct {
	At                   int64 // by which the results are sorted
	LegacyID, MerchantID int64
}

// compare is negative if a comes before b in the results: the newest comes first, and of
// deadlines the earliest.
func (r *reader) compare(a, b Key) int {
	n := cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.LegacyID, b.LegacyID))
	if r.Sort == order.SortExpires {
		return n
	}
	return -n
}

// keySource yields the keys of orders that may match, in the order of the results.
type keySource interface {
	// next returns the next key; false if there is none.
	next(ctx context.Context) (Key, bool, error)
}

// keyStream yields keys in the order of the results, a chunk at a time.
type keyStream struct {
	text   string // of the statement; empty: buffer has all keys
	args   []any  // without the key after which it begins, and the limit
	after  Key    // the last key that was read
	limit  int    // of the next chunk
	buffer []Key
}

// maxChunk is how many keys a stream reads at a time; the first chunk is smaller.
const maxChunk = 200

// mergedStream yields the keys of several streams, each once.
type mergedStream struct {
	*reader
	streams []*keyStream
	last    Key
	begun   bool
}

// fill makes every buffer hold the next key, unless its stream has none.
func (m *mergedStream) fill(ctx context.Context) error {
	var empty []*keyStream
	for _, s := range m.streams {
		if len(s.buffer) == 0 && s.text != "" {
			empty = append(empty, s)
		}
	}
	err := m.q.QueryMany(ctx, func(yield func(string, []any) bool) {
		for _, s := range empty {
			if !yield(s.text, append(slices.Clone(s.args), s.after.At, s.after.LegacyID, s.limit)) {
				return
			}
		}
	}, func(n int, rows sqldb.Rows) error {
		key, err := scanKey(rows)
		empty[n].buffer = append(empty[n].buffer, key)
		return err
	})
	for _, s := range empty {
		if read := len(s.buffer); read < s.limit {
			s.text = ""
		} else {
			s.after = s.buffer[read-1]
		}
		s.limit = min(4*s.limit, maxChunk)
	}
	return err
}

// next returns the next key; false if there is none.
func (m *mergedStream) next(ctx context.Context) (Key, bool, error) {
	for {
		if err := m.fill(ctx); err != nil {
			return Key{}, false, err
		}
		var first *keyStream
		for _, s := range m.streams {
			if len(s.buffer) > 0 && (first == nil || m.compare(s.buffer[0], first.buffer[0]) < 0) {
				first = s
			}
		}
		if first == nil {
			return Key{}, false, nil
		}
		key := first.buffer[0]
		first.buffer = first.buffer[1:]
		if m.begun && key == m.last {
			continue // its state changed in between
		}
		m.last, m.begun = key, true
		return key, true, nil
	}
}

// indexStream returns a stream of the keys that a statement reads. Its last three
// arguments are the key after which it begins, and the limit.
func (r *reader) indexStream(text string, args ...any) *keyStream {
	return &keyStream{text: text, args: args, after: r.start(), limit: r.Limit + 1}
}

func scanKey(rows sqldb.Rows) (Key, error) {
	var key Key
	err := rows.Scan(&key.At, &key.LegacyID, &key.MerchantID)
	return key, err
}
