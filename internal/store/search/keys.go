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

// sorting is an order of results.
type sorting struct {
	ascending bool
}

// compare is negative if a comes before b.
func (s sorting) compare(a, b Key) int {
	n := cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.LegacyID, b.LegacyID))
	if s.ascending {
		return n
	}
	return -n
}

var sortings = map[order.SearchSort]sorting{order.SortExpires: {ascending: true}}

// keySource yields the keys of orders that may match, in the order of the results.
type keySource interface {
	// next returns the next key; false if there is none.
	next(ctx context.Context) (Key, bool, error)
}

// keyStream yields keys in the order of the results, a chunk at a time.
type keyStream struct {
	// fetch returns up to limit keys after a key. nil: buffer has all keys.
	fetch func(ctx context.Context, after Key, limit int) ([]Key, error)

	after  Key // the last key that was fetched
	limit  int // of the next chunk
	buffer []Key
}

// maxChunk is how many keys a stream reads at a time; the first chunk is smaller.
const maxChunk = 200

// fill makes the buffer hold the next key, unless there is none.
func (s *keyStream) fill(ctx context.Context) error {
	if len(s.buffer) > 0 || s.fetch == nil {
		return nil
	}
	keys, err := s.fetch(ctx, s.after, s.limit)
	if err != nil {
		return err
	}
	if len(keys) < s.limit {
		s.fetch = nil
	} else {
		s.after = keys[len(keys)-1]
	}
	s.buffer, s.limit = keys, min(4*s.limit, maxChunk)
	return nil
}

// mergedStream yields the keys of several streams, each once.
type mergedStream struct {
	streams []*keyStream
	compare func(a, b Key) int
	last    Key
	begun   bool
}

// next returns the next key; false if there is none.
func (m *mergedStream) next(ctx context.Context) (Key, bool, error) {
	for {
		var first *keyStream
		for _, s := range m.streams {
			if err := s.fill(ctx); err != nil {
				return Key{}, false, err
			}
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
	return &keyStream{
		after: r.start(),
		limit: r.Limit + 1,
		fetch: func(ctx context.Context, after Key, limit int) ([]Key, error) {
			all := append(slices.Clone(args), after.At, after.LegacyID, limit)
			return sqldb.All(ctx, r.q, text, all, scanKey)
		},
	}
}

func scanKey(rows sqldb.Rows) (Key, error) {
	var key Key
	err := rows.Scan(&key.At, &key.LegacyID, &key.MerchantID)
	return key, err
}
