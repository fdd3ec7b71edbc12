package store

import (
	"cmp"
	"context"
	"slices"

	"merchantorders/internal/order"
	"merchantorders/internal/store/sqldb"
)

// searchKey is the key of an order in the results of a search.
type searchKey struct {
	at, legacyID, merchantID int64
}

// searchSort is an order of results.
type searchSort struct {
	ascending bool
}

// compare is negative if a comes before b.
func (s searchSort) compare(a, b searchKey) int {
	n := cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.legacyID, b.legacyID))
	if s.ascending {
		return n
	}
	return -n
}

var searchSorts = map[order.SearchSort]searchSort{order.SortExpires: {ascending: true}}

// keySource yields the keys of orders that may match, in the order of the results.
type keySource interface {
	// next returns the next key; false if there is none.
	next(ctx context.Context) (searchKey, bool, error)
}

// keyStream yields keys in the order of the results, a chunk at a time.
type keyStream struct {
	// fetch returns up to limit keys after a key. nil: buffer has all keys.
	fetch func(ctx context.Context, after searchKey, limit int) ([]searchKey, error)

	after  searchKey // the last key that was fetched
	limit  int       // of the next chunk
	buffer []searchKey
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
	compare func(a, b searchKey) int
	last    searchKey
	begun   bool
}

// next returns the next key; false if there is none.
func (m *mergedStream) next(ctx context.Context) (searchKey, bool, error) {
	for {
		var first *keyStream
		for _, s := range m.streams {
			if err := s.fill(ctx); err != nil {
				return searchKey{}, false, err
			}
			if len(s.buffer) > 0 && (first == nil || m.compare(s.buffer[0], first.buffer[0]) < 0) {
				first = s
			}
		}
		if first == nil {
			return searchKey{}, false, nil
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
func (s *search) indexStream(text string, args ...any) *keyStream {
	return &keyStream{
		after: s.start(),
		limit: s.Limit + 1,
		fetch: func(ctx context.Context, after searchKey, limit int) ([]searchKey, error) {
			all := append(slices.Clone(args), after.at, after.legacyID, limit)
			return sqldb.All(ctx, s.q, text, all, scanKey)
		},
	}
}

func scanKey(rows sqldb.Rows) (searchKey, error) {
	var key searchKey
	err := rows.Scan(&key.at, &key.legacyID, &key.merchantID)
	return key, err
}
