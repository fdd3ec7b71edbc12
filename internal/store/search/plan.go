package search

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

// Due returns the keys of registered orders with a deadline before a time, the earliest
// first, after a key.
func Due(ctx context.Context, q sqldb.Querier, before int64, after Key, limit int) ([]Key, error) {
	return sqldb.All(ctx, q, selectOfDeadlines, []any{before, after.At, after.LegacyID, limit}, scanKey)
}

// plan chooses where the keys of the results come from: the words of orders if the
// search has a text, else an index in the order of the results.
func (r *reader) plan(ctx context.Context) error {
	switch {
	case r.LegacyID != 0:
		streams, err := r.single(ctx, r.LegacyID)
		r.keys = r.merged(streams)
		return err
	case len(r.terms) > 0:
		walk, err := newWordWalk(ctx, r)
		r.keys, r.walk = walk, walk
		return err
	}
	r.keys = r.merged(r.scan())
	return nil
}

// scanAfter makes all orders after a key the source of the next keys.
func (r *reader) scanAfter(key Key) {
	r.After = &order.SearchCursor{At: key.At, LegacyID: key.LegacyID}
	r.keys, r.walk = r.merged(r.scan()), nil
}

func (r *reader) merged(streams []*keyStream) *mergedStream {
	return &mergedStream{reader: r, streams: streams}
}

// single returns a stream of one order.
func (r *reader) single(ctx context.Context, legacyID int64) ([]*keyStream, error) {
	key, ok, err := r.orders.Key(ctx, legacyID)
	if !ok {
		return nil, err
	}
	stream := &keyStream{buffer: []Key{key}}
	if r.After != nil {
		stream.buffer = nil // it was on the first page
	}
	return []*keyStream{stream}, nil
}

// scan returns streams of all orders, or of those with the wanted states.
func (r *reader) scan() []*keyStream {
	switch {
	case r.Sort == order.SortUpdated:
		return []*keyStream{r.indexStream(selectOfUpdates)}
	case r.Sort == order.SortExpires:
		before := maxTime
		if !r.ExpiresBefore.IsZero() {
			before = r.ExpiresBefore.Unix()
		}
		return []*keyStream{r.indexStream(selectOfDeadlines, before)}
	case r.MerchantID != 0 && len(r.States) == 0:
		return []*keyStream{r.indexStream(selectOfMerchant, r.MerchantID)}
	}
	states := r.States
	if len(states) == 0 {
		states = order.States()
	}
	var streams []*keyStream
	for _, state := range states {
		text := selectOfState + sqldb.Literal(state) + ` AND `
		if r.MerchantID != 0 {
			streams = append(streams, r.indexStream(text+ofMerchant, r.MerchantID))
		} else {
			streams = append(streams, r.indexStream(text+byCreation))
		}
	}
	return streams
}

// maxTime is later than every stored time.
const maxTime int64 = 1<<63 - 1
