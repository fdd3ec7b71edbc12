package order_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// TestCancelExpired cancels registered orders at the second of their deadline and not
// before, whatever else happens to the others.
// Proves decision 2 (--cancel-expired).
func TestCancelExpired(t *testing.T) {
	t.Parallel()
	var orders []order.Order
	for id := range int64(120) { // more than a batch
		o := numbered(id+1, order.Registered)
		o.ExpiresAt = noonUTC
		if id%5 == 0 {
			o.ExpiresAt = noonUTC.Add(time.Second)
		}
		orders = append(orders, o)
	}
	db := newDatabase(t, orders...)
	s, other := newService(db, nil), newService(db.DB, nil)
	locks, reads := 0, 0
	db.fail = func(operation string) error {
		switch operation {
		case "DueOrders":
			// Merchants answer after the orders were read, before they are canceled.
			if reads++; reads > 1 {
				return nil
			}
			for i := 1; i < len(orders); i += 5 {
				if _, err := other.Accept(t.Context(), order.CommandFor(merchant), order.ByLegacyID(orders[i].LegacyID), order.Options[order.WriteResult]{}); err != nil {
					t.Error(err)
				}
			}
		case "LockOrder":
			if locks++; locks == 5 { // of the third order, each transaction runs twice
				return errBroken
			}
		}
		return nil
	}
	db.rerun = true
	if n, err := s.CancelExpired(t.Context()); n != 71 || !errors.Is(err, errBroken) {
		t.Errorf("canceled %d orders, error %v", n, err)
	}
	if n, err := s.CancelExpired(t.Context()); n != 1 || err != nil || s.CanceledByDeadline() != 72 {
		t.Errorf("canceled %d orders then, %d in all, error %v", n, s.CanceledByDeadline(), err)
	}
	for i, o := range orders {
		want := order.Canceled
		switch i % 5 {
		case 0:
			want = order.Registered
		case 1:
			want = order.InProcessing
		}
		testenv.Equal(t, fmt.Sprintf("order %d is in state", o.LegacyID), want, db.order(t, o.LegacyID).State)
	}
}

func TestSearchIsChecked(t *testing.T) {
	t.Parallel()
	s := newService(newDatabase(t), nil)
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
		testenv.Of(s.Search(t.Context(), test.search)).WantError(t, fmt.Sprintf("%+v", test.search), test.want)
	}
}
