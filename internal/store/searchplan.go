package store

import (
	"context"
	"database/sql"
	"errors"

	"merchantorders/internal/order"
	"merchantorders/internal/store/orderwords"
	"merchantorders/internal/store/sqldb"
)

// Statements of the streams of a search. Each reads one range of one index.
const (
	byCreation = `(created_at, legacy_id) < ($1, $2) ORDER BY created_at DESC, legacy_id DESC LIMIT $3+0`

	selectOfState   = `SELECT created_at, legacy_id, merchant_id FROM orders WHERE state = ` // and a literal
	selectOfUpdates = `SELECT updated_at, legacy_id, merchant_id FROM orders WHERE updated_at IS NOT NULL
		AND (updated_at, legacy_id) < ($1, $2) ORDER BY updated_at DESC, legacy_id DESC LIMIT $3+0`
	selectOfDeadlines = `SELECT expires_at, legacy_id, merchant_id FROM orders WHERE state = 1 AND expires_at IS NOT NULL
		AND expires_at < $1 AND (expires_at, legacy_id) > ($2, $3) ORDER BY expires_at, legacy_id LIMIT $4+0`

	ofMerchant       = `merchant_id = $1 AND (created_at, legacy_id) < ($2, $3) ORDER BY created_at DESC, legacy_id DESC LIMIT $4+0`
	selectOfMerchant = `SELECT created_at, legacy_id, merchant_id FROM orders WHERE ` + ofMerchant

	selectOfWord = `SELECT created_at, legacy_id, merchant_id FROM order_words WHERE block = $1 AND word = $2
		AND (created_at, legacy_id) < ($3, $4) ORDER BY created_at DESC, legacy_id DESC LIMIT $5+0`
	selectMatches = `SELECT created_at, legacy_id, merchant_id FROM order_words
		WHERE block = $1 AND word >= $2 AND word < $3 ORDER BY block, word LIMIT $4+0`
	selectNextWord = `SELECT word FROM order_words WHERE block = $1 AND word >= $2 AND word < $3 ORDER BY block, word LIMIT 1`
	selectBlock    = `SELECT MIN(block) FROM order_words WHERE block > $1`
)

// streams returns where the keys of the results come from: few orders that may match
// if the search has a rare word, or an index in the order of the results.
func (s *search) streams(ctx context.Context) ([]*keyStream, error) {
	if s.LegacyID != 0 {
		return s.single(ctx, s.LegacyID)
	}
	if len(s.terms) > 0 {
		blocks, err := wordBlocks(ctx, s.q)
		if err != nil {
			return nil, err
		}
		for _, plan := range []func(context.Context, orderwords.Term, []int64) ([]*keyStream, error){s.rare, s.words} {
			for _, term := range s.terms {
				if streams, err := plan(ctx, term, blocks); err != nil || streams != nil {
					return streams, err
				}
			}
		}
	}
	return s.scan(), nil
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
		text := selectOfState + literal(state) + ` AND `
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

// wordBlocks returns the blocks that have words. It reads one row for each.
func wordBlocks(ctx context.Context, q sqldb.Querier) ([]int64, error) {
	var blocks []int64
	for last := int64(-1); ; {
		var block sql.NullInt64
		if err := q.QueryRow(ctx, selectBlock, []any{last}, &block); err != nil || !block.Valid {
			return blocks, err
		}
		last = block.Int64
		blocks = append(blocks, last)
	}
}

// rare returns a stream of all orders that have a term; nil if there are more than
// maxMatches.
func (s *search) rare(ctx context.Context, term orderwords.Term, blocks []int64) ([]*keyStream, error) {
	keys := []searchKey{}
	if term.LegacyID != 0 {
		key, ok, err := s.keyOf(ctx, term.LegacyID)
		if err != nil {
			return nil, err
		}
		if ok {
			keys = append(keys, key)
		}
	}
	for _, prefix := range term.Prefixes {
		for _, block := range blocks {
			args := []any{block, prefix, orderwords.End(prefix), maxMatches + 1 - len(keys)}
			err := sqldb.Each(ctx, s.q, selectMatches, args, func(rows sqldb.Rows) error {
				var key searchKey
				err := rows.Scan(&key.at, &key.legacyID, &key.merchantID)
				keys = append(keys, key)
				return err
			})
			if err != nil || len(keys) > maxMatches {
				return nil, err
			}
		}
	}
	return []*keyStream{s.sortedStream(keys)}, nil
}

// words returns a stream for each word that begins with a prefix of a term, and each
// block; nil if there are more than maxWholeWords.
func (s *search) words(ctx context.Context, term orderwords.Term, blocks []int64) ([]*keyStream, error) {
	streams := []*keyStream{}
	if term.LegacyID != 0 {
		key, ok, err := s.keyOf(ctx, term.LegacyID)
		if err != nil {
			return nil, err
		}
		if ok {
			streams = append(streams, s.sortedStream([]searchKey{key}))
		}
	}
	for _, prefix := range term.Prefixes {
		words, err := s.wholeWords(ctx, prefix, blocks)
		if err != nil || words == nil {
			return nil, err
		}
		for word := range words {
			for _, block := range blocks {
				streams = append(streams, s.indexStream(selectOfWord, block, word))
			}
		}
	}
	return streams, nil
}

// wholeWords returns the words that begin with a prefix; nil if there are more than
// maxWholeWords.
func (s *search) wholeWords(ctx context.Context, prefix string, blocks []int64) (map[string]bool, error) {
	words := make(map[string]bool)
	for _, block := range blocks {
		for from := prefix; ; {
			var word string
			err := s.q.QueryRow(ctx, selectNextWord, []any{block, from, orderwords.End(prefix)}, &word)
			if errors.Is(err, sql.ErrNoRows) {
				break
			}
			if err != nil {
				return nil, err
			}
			if words[word] = true; len(words) > maxWholeWords {
				return nil, nil
			}
			from = word + "\x01" // no word has a control character
		}
	}
	return words, nil
}
