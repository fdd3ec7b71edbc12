package pageindex

import (
	"context"

	"merchantorders/internal/order"
)

// Source reads one merchant's data for an index. Each method sees the data as
// of one version, but two calls may see different ones.
type Source interface {
	// Version returns the merchant's data version, the zero version before the
	// first event.
	Version(ctx context.Context) (order.DataVersion, error)
	// DayCounts returns the counts of all days, in the order of days, and the
	// version they have.
	DayCounts(ctx context.Context) ([]DayCount, order.DataVersion, error)
	// Deltas returns what the events from a number on change, in the order of
	// their numbers. Without keys, StartOfDay stands for the key of an order.
	Deltas(ctx context.Context, from int64, keys bool) ([]Delta, error)
	// Keys returns the keys and states of orders to split a bucket by, at most
	// r.Limit, and the version they have.
	Keys(ctx context.Context, r SplitRange) (Keys, error)
}

// deltasAfter reads the deltas after a known version up to the newest one. It
// reports false if the history that the source has now does not contain that
// version.
func deltasAfter(ctx context.Context, source Source, known order.DataVersion, keys bool) ([]Delta, bool, error) {
	// The known event itself comes first, so that its mark can be compared. There
	// is none before the first event, and nothing that could differ.
	deltas, err := source.Deltas(ctx, max(known.Event, 1), keys)
	if err != nil || known.Event == 0 {
		return deltas, true, err
	}
	if len(deltas) == 0 || deltas[0].Version != known {
		return nil, false, nil
	}
	return deltas[1:], true, nil
}
