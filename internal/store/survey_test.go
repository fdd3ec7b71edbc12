package store

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/order"
	"merchantorders/internal/store/migrations"
)

func TestSurvey(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, db *DB) {
		want := Survey{SchemaVersion: newestSchema(t), Orders: make(map[order.State]int64)}
		for _, state := range order.States() {
			want.Orders[state] = 0
		}
		survey := func(when string) {
			t.Helper()
			got, err := db.Survey(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: survey (-want +got):\n%s", when, diff)
			}
		}
		survey("empty")
		for merchant := range int64(3) {
			if err := addTestMerchant(t.Context(), db, 1+merchant); err != nil {
				t.Fatal(err)
			}
		}
		// Merchant 1 has a canceled order that is older than all others, and merchant 3
		// has none.
		batch := append(testBatch(1, "A", 3), testBatch(2, "B", 2)...)
		batch[0].Order.State, batch[0].Order.CreatedAt = order.Canceled, testTime.AddDate(0, 0, -9)
		batch[1].Order.CreatedAt = testTime.AddDate(0, 0, -2)
		batch[4].Order.CreatedAt = testTime.AddDate(0, 0, -3)
		results, err := db.ImportOrders(t.Context(), batch, order.Cause{Actor: order.ActorOperator, At: testTime})
		if err != nil {
			t.Fatal(err)
		}
		want.Orders[order.Registered], want.Orders[order.Canceled] = 4, 1
		want.OldestNew = batch[4].Order.CreatedAt
		survey("with orders")
		if err := transitionTest(t.Context(), db, 2, results[4].LegacyID, order.InProcessing); err != nil {
			t.Fatal(err)
		}
		want.Orders[order.Registered], want.Orders[order.InProcessing] = 3, 1
		want.OldestNew = batch[1].Order.CreatedAt
		survey("after a transition")

		canceled, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := db.Survey(canceled); err == nil {
			t.Error("a survey outlives its context")
		}
	})
}

// newestSchema returns the version of the schema that this program knows.
func newestSchema(t *testing.T) int64 {
	t.Helper()
	steps, err := migrations.SQLite.Steps()
	if err != nil {
		t.Fatal(err)
	}
	return steps[len(steps)-1].Version
}
