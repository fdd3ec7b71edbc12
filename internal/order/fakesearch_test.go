package order_test

import (
	"context"

	"merchantorders/internal/order"
)

// Search records the search and finds nothing.
func (s *fakeStore) Search(_ context.Context, search order.Search) (order.SearchPage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.searched = search
	return order.SearchPage{}, nil
}
