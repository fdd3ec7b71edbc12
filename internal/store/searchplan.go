package store

import (
	"context"

	"merchantorders/internal/order"
	"merchantorders/internal/store/sqldb"
)

// Statements of the streams of a search. Each reads one range of one index.
const (
	byCreation = `(created_at, legacy_id) < ($1, $2) ORDER BY created_at DESC, legacy_id DESC LIMIT $3+0`
	byRange    = `created_at >= $1 AND (created_at, legacy_id) < ($2, $3) ORDER BY created_at DESC, legacy_id DESC LIMIT $4+0`

	selectOfState   = `SELECT created_at, legacy_id, merchant_id FROM orders WHERE state = ` // and a literal
	selectOfUpdates = `SELECT updated_at, legacy_id, merchant_id FROM orders WHERE updated_at IS NOT NULL
		AND (updated_at, legacy_id) < ($1, $2) ORDER BY updated_at DESC, legacy_id DESC LIMIT $3+0`
	ofMerchant       = `merchant_id = $1 AND (created_at, legacy_id) < ($2, $3) ORDER BY created_at DESC, legacy_id DESC LIMIT $4+0`
	selectOfMerchant = `SELECT created_at, legacy_id, merchant_id FROM orders WHERE ` + ofMerchant
)

// selectOfDeadlines reads registered orders, which its index has only.
var selectOfDeadlines = `SELECT expires_at, legacy_id, merchant_id FROM orders WHERE state = ` + sqldb.Literal(order.Registered) + ` AND expires_at IS NOT NULL
	AND expires_at < $1 AND (expires_at, legacy_id) > ($2, $3) ORDER BY expires_at, legacy_id LIMIT $4+0`

// plan chooses where the keys of the results come from: the words of orders if the
// search has a text, else an index in the order of the results.
func (s *search) plan(ctx context.Context) error {
	switch {
	case s.LegacyID != 0:
		streams, err := s.single(ctx, s.LegacyID)
		s.keys = s.merged(streams)
		return err
	case len(s.terms) > 0:
		walk, err := newWordWalk(ctx, s)
		s.keys, s.walk = walk, walk
		return err
	}
	s.keys = s.merged(s.scan())
	return nil
}

// scanAfter makes all orders after a key the source of the next keys.
func (s *search) scanAfter(key searchKey) {
	s.After = &order.SearchCursor{At: key.at, LegacyID: key.legacyID}
	s.keys, s.walk = s.merged(s.scan()), nil
}

func (s *search) merged(streams []*keyStream) *mergedStream {
	return &mergedStream{streams: streams, compare: s.sort.compare}
}

// single returns a stream of one order.
func (s *search) single(ctx context.Context, legacyID int64) ([]*keyStream, error) {
	key, ok, err := s.keyOf(ctx, legacyID)
	if !ok {
		return nil, err
	}
	stream := &keyStream{buffer: []searchKey{key}}
	if s.After != nil {
		stream.buffer = nil // it was on the first page
	}
	return []*keyStream{stream}, nil
}

// scan returns streams of all orders, or of those with the wanted states.
func (s *search) scan() []*keyStream {
	switch {
	case s.Sort == order.SortUpdated:
		return []*keyStream{s.indexStream(selectOfUpdates)}
	case s.Sort == order.SortExpires:
		before := maxTime
		if !s.ExpiresBefore.IsZero() {
			before = s.ExpiresBefore.Unix()
		}
		return []*keyStream{s.indexStream(selectOfDeadlines, before)}
	case s.MerchantID != 0 && len(s.States) == 0:
		return []*keyStream{s.indexStream(selectOfMerchant, s.MerchantID)}
	}
	states := s.States
	if len(states) == 0 {
		states = order.States()
	}
	var streams []*keyStream
	for _, state := range states {
		text := selectOfState + sqldb.Literal(state) + ` AND `
		if s.MerchantID != 0 {
			streams = append(streams, s.indexStream(text+ofMerchant, s.MerchantID))
		} else {
			streams = append(streams, s.indexStream(text+byCreation))
		}
	}
	return streams
}

// maxTime is later than every stored time.
const maxTime int64 = 1<<63 - 1
