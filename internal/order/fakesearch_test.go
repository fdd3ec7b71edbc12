package order_test

import (
	"context"
	"slices"
	"time"

	"merchantorders/internal/order"
)

// Search records the search and finds nothing.
func (s *fakeStore) Search(_ context.Context, search order.Search) (order.SearchPage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.searched = search
	return order.SearchPage{}, nil
}

func (s *fakeStore) OrderMerchant(_ context.Context, reference string) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.orders {
		if o.head.Reference == reference {
			return o.head.MerchantID, nil
		}
	}
	return 0, order.ErrNotFound
}

func (s *fakeStore) FileEntries(context.Context, int64, int64) ([]order.FileEntry, error) {
	return nil, nil
}

func (s *fakeStore) Overview(context.Context, order.OverviewQuery, time.Time) (order.Overview, error) {
	return order.Overview{}, nil
}

// DueOrders returns orders of any state, so that the service has to look again.
func (s *fakeStore) DueOrders(ctx context.Context, now time.Time, after order.Due, limit int) ([]order.Due, error) {
	unlock, err := s.begin(ctx, "DueOrders")
	if err != nil {
		return nil, err
	}
	defer unlock()
	var due []order.Due
	for _, o := range s.orders {
		if !o.head.ExpiresAt.IsZero() && o.head.LegacyID > after.LegacyID {
			due = append(due, order.Due{MerchantID: o.head.MerchantID, LegacyID: o.head.LegacyID, ExpiresAt: o.head.ExpiresAt})
		}
	}
	slices.SortFunc(due, func(a, b order.Due) int { return int(a.LegacyID - b.LegacyID) })
	return due[:min(len(due), limit)], nil
}
