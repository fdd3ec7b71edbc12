package order_test

import (
	"errors"
	"testing"
	"time"

	"merchantorders/internal/order"
)

// TestCancelExpired cancels registered orders at the second of their deadline and not
// before, whatever else happens to the others.
func TestCancelExpired(t *testing.T) {
	t.Parallel()
	heads := make([]order.LockedOrder, 0, 120) // more than a batch
	for id := range int64(120) {
		head := order.LockedOrder{MerchantID: merchant, LegacyID: id + 1, State: order.Registered, ExpiresAt: noonUTC}
		switch id % 5 {
		case 0:
			head.ExpiresAt = noonUTC.Add(time.Second)
		case 1:
			head.State = order.InProcessing
		}
		heads = append(heads, head)
	}
	store := newFakeStore(heads...)
	s := newService(store, newFakeFiles())
	broken := errors.New("broken")
	locks := 0
	store.fail = func(operation string) error {
		if operation != "LockOrder" {
			return nil
		}
		if locks++; locks == 5 { // of the third order, each transaction runs twice
			return broken
		}
		return nil
	}
	store.rerun = true
	if n, err := s.CancelExpired(t.Context()); n != 71 || !errors.Is(err, broken) {
		t.Errorf("canceled %d orders, error %v", n, err)
	}
	if n, err := s.CancelExpired(t.Context()); n != 1 || err != nil || s.CanceledByDeadline() != 72 {
		t.Errorf("canceled %d orders then, %d in all, error %v", n, s.CanceledByDeadline(), err)
	}
	for i, head := range heads {
		want := head.State
		if i%5 > 1 {
			want = order.Canceled
		}
		if got := store.orders[head.LegacyID].head.State; got != want {
			t.Errorf("order %d is in state %v, want %v", head.LegacyID, got, want)
		}
	}
}

func TestSearchIsChecked(t *testing.T) {
	t.Parallel()
	store := newFakeStore()
	s := newService(store, newFakeFiles())
	for _, test := range []struct {
		search order.Search
		want   error
	}{
		{order.Search{From: 2, To: 1}, order.ErrInvalidRange},
		{order.Search{Name: "a", Sort: order.SortUpdated}, order.ErrInvalidSearch},
		{order.Search{Text: "\xff"}, order.ErrInvalidSearch},
		{order.Search{Email: string(make([]byte, order.MaxSearchText+1))}, order.ErrInvalidSearch},
		{order.Search{From: 1, To: 1, Limit: 1000, Name: "a"}, nil},
	} {
		if _, err := s.Search(t.Context(), test.search); !errors.Is(err, test.want) {
			t.Errorf("%+v: error %v, want %v", test.search, err, test.want)
		}
	}
	if store.searched.Limit != order.MaxSearchLimit {
		t.Errorf("limit %d", store.searched.Limit)
	}
}
