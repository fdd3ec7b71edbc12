package store

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"merchantorders/internal/order"
	"merchantorders/internal/store/sqldb"
	"merchantorders/internal/testenv"
)

// TestDataVersionsOfMany reads the data versions of many merchants with one
// statement.
func TestDataVersionsOfMany(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, db *DB) {
		const merchants = 5000
		ids := make([]int64, merchants)
		testenv.NoError(t, db.sql.InTx(t.Context(), func(q sqldb.Querier) error {
			for i := range ids {
				ids[i] = int64(i + 1)
				if _, err := q.Exec(t.Context(), `INSERT INTO merchants (id, name, created_at, last_event, data_nonce) VALUES ($1, $2, 0, $3, 7)`,
					ids[i], fmt.Sprintf("Merchant %d", ids[i]), 10*ids[i]); err != nil {
					return err
				}
			}
			return nil
		}))
		recorded := &recorder{DB: db.sql}
		versions, err := New(recorded, Options{}).DataVersions(t.Context(), append(ids, merchants+1))
		if err != nil || len(versions) != merchants || len(recorded.statements()) != 1 {
			t.Errorf("%d versions with %d statements, error %v", len(versions), len(recorded.statements()), err)
		}
		for _, id := range ids {
			if want := (order.DataVersion{Event: 10 * id, Nonce: 7}); versions[id] != want {
				t.Fatalf("merchant %d: %v, want %v", id, versions[id], want)
			}
		}
	})
}

// TestOrdersOfPage reads the orders of a full page of events with one statement: each
// is that of Order, also one with an invoice, and one that is asked for twice. Those that
// do not exist, or belong to another merchant, are absent.
func TestOrdersOfPage(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, db *DB) {
		var at []order.Locator
		for merchant := range int64(2) {
			testenv.NoError(t, addTestMerchant(t.Context(), db, 1+merchant))
			batch := testBatch(1+merchant, fmt.Sprintf("M%d", merchant), order.MaxFeedLimit/2)
			results := testenv.Of(db.ImportOrders(t.Context(), batch, order.Cause{By: order.Caller{Actor: order.ActorOperator}, At: testTime})).Must(t)
			for _, result := range results {
				at = append(at, order.Locator{MerchantID: 1 + merchant, LegacyID: result.LegacyID})
			}
		}
		last := at[len(at)-1]
		testenv.NoError(t, db.InTx(t.Context(), func(tx order.Tx) error {
			o, err := tx.LockOrder(t.Context(), last.MerchantID, order.ByLegacyID(last.LegacyID))
			for _, name := range []string{"b.pdf", "a.pdf"} {
				id, reserveErr := tx.ReserveInvoice(t.Context(), o, order.Invoice{Name: name, CreatedAt: testTime})
				err = errors.Join(err, reserveErr, tx.ActivateInvoice(t.Context(), o, order.Invoice{ID: id}, order.Cause{At: testTime}))
			}
			return err
		}))
		recorded := &recorder{DB: db.sql}
		none := []order.Locator{{MerchantID: 1, LegacyID: last.LegacyID}, {MerchantID: 3, LegacyID: last.LegacyID}, {MerchantID: 1, LegacyID: 1 << 60}}
		orders, err := New(recorded, Options{}).Orders(t.Context(), slices.Concat(at, none, at[:1]))
		if ran := len(recorded.statements()); err != nil || len(orders) != len(at) || ran != 1 {
			t.Fatalf("%d orders with %d statements, error %v", len(orders), ran, err)
		}
		for _, key := range []order.Locator{at[0], at[order.MaxFeedLimit/2], last} {
			want := testenv.Of(db.Order(t.Context(), key.MerchantID, order.ByLegacyID(key.LegacyID))).Must(t)
			testenv.Equal(t, fmt.Sprint(key), want, orders[key])
		}
		if files := orders[last].Invoices; len(files) != 2 || files[0].Name != "b.pdf" {
			t.Errorf("invoices %+v", files)
		}
	})
}

// TestFeedEnds notes ends of feeds in the order in which their reads end. The highest
// of the newest history must stay known, and earlier histories must not come back.
func TestFeedEnds(t *testing.T) {
	t.Parallel()
	end := func(history string, event int64) order.Feed {
		return order.Feed{History: history, Version: order.DataVersion{Event: event, Nonce: 10 * event}}
	}
	var f feeds
	for _, read := range []order.Feed{end("a", 1), end("a", 3), end("b", 2), end("a", 4), end("c", 5), end("b", 6), end("c", 3)} {
		f.note(1, f.before(1), read, place{})
	}
	want := feedEnds{end("c", 5), []string{"b", "a"}}
	if got := f.before(1).feedEnds; !reflect.DeepEqual(got, want) || f.before(2).last.History != "" {
		t.Errorf("%+v, want %+v", got, want)
	}
	for n := range 2 * maxEarlierHistories {
		f.note(1, f.before(1), end(fmt.Sprint(n), 1), place{})
	}
	testenv.Equal(t, "earlier histories", maxEarlierHistories, len(f.before(1).earlier))
}
