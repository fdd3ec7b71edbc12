package store

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"merchantorders/internal/delivery"
	"merchantorders/internal/delivery/webhook"
	"merchantorders/internal/order"
	"merchantorders/internal/store/migrations"
	"merchantorders/internal/testenv"
)

func TestSurvey(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, db *DB) {
		want := Survey{
			SchemaVersion: newestSchema(t), Orders: make(map[order.State]int64),
			Webhooks:       map[delivery.State]int64{delivery.Active: 0, delivery.Disabled: 0, delivery.Failed: 0, delivery.Failing: 0},
			MarketWebhooks: map[delivery.State]int64{delivery.Active: 0, delivery.Disabled: 0, delivery.Failed: 0, delivery.Failing: 0},
			Runs:           map[NightlyJob]NightlyRun{},
		}
		for _, state := range order.States() {
			want.Orders[state] = 0
		}
		survey := func(when string) {
			t.Helper()
			testenv.Of(db.Survey(t.Context(), testTime.Add(48*time.Hour))).Want(t, fmt.Sprintf("%s: survey", when), want)
		}
		survey("empty")
		want.Merchants = 3
		for merchant := range int64(3) {
			testenv.NoError(t, addTestMerchant(t.Context(), db, 1+merchant))
		}
		// Merchant 1 has a canceled order that is older than all others, and merchant 3
		// has none.
		batch := append(testBatch(1, "A", 3), testBatch(2, "B", 2)...)
		batch[0].Order.State, batch[0].Order.CreatedAt = order.Canceled, testTime.AddDate(0, 0, -9)
		batch[1].Order.CreatedAt = testTime.AddDate(0, 0, -2)
		batch[4].Order.CreatedAt = testTime.AddDate(0, 0, -3)
		batch[3].Order.CreatedAt = testTime.Add(25 * time.Hour)
		results := testenv.Of(db.ImportOrders(t.Context(), batch, order.Cause{By: order.Caller{Actor: order.ActorOperator}, At: testTime})).Must(t)
		want.Orders[order.Registered], want.Orders[order.Canceled] = 4, 1
		want.OldestNew, want.Overdue = batch[4].Order.CreatedAt, 4
		want.LateMerchants = 2
		survey("with orders")
		testenv.NoError(t, transitionTest(t.Context(), db, 2, results[4].LegacyID, order.InProcessing))
		want.Orders[order.Registered], want.Orders[order.InProcessing] = 3, 1
		want.OldestNew, want.Overdue = batch[1].Order.CreatedAt, 3
		want.LateMerchants = 1
		survey("after a transition")

		// The webhooks of merchant 1 have their first event, those of merchant 2 none.
		addTestWebhook(t, db, 1, delivery.Active, 1)
		addTestWebhook(t, db, 1, delivery.Failing, 1)
		addTestWebhook(t, db, 2, delivery.Active, 3)
		addTestWebhook(t, db, 2, delivery.Failed, 0)
		want.Webhooks[delivery.Active], want.Webhooks[delivery.Failing], want.Webhooks[delivery.Failed] = 2, 1, 1
		want.OldestUndelivered, want.LateWebhooks = testTime, 2
		survey("with webhooks")

		testenv.NoError(t, db.InTx(t.Context(), func(tx order.Tx) error {
			merchant, err := tx.LockMerchant(t.Context(), 1)
			merchant.SuspendedAt = testTime
			return errors.Join(err, tx.UpdateMerchant(t.Context(), merchant, order.AuditEntry{MerchantID: 1, At: testTime, Action: order.MerchantSuspended}))
		}))
		want.Merchants, want.LateMerchants, want.OldestUndelivered, want.LateWebhooks = 2, 0, time.Time{}, 0
		survey("with a suspended merchant")

		if db.dialect.Feed.End != "" { // a cluster has no such webhooks
			addTestWebhook(t, db, delivery.Marketplace, delivery.Active, 0)
			addTestWebhook(t, db, delivery.Marketplace, delivery.Failed, 0)
			want.Webhooks[delivery.Active]++
			want.Webhooks[delivery.Failed]++
			want.MarketWebhooks[delivery.Active], want.MarketWebhooks[delivery.Failed] = 1, 1
			want.OldestUndelivered, want.OldestMarketUndelivered, want.LateWebhooks = testTime, testTime, 1
			testenv.Eventually(t, "no transaction of another test holds the events back", func() bool {
				got, err := db.Survey(t.Context(), testTime.Add(48*time.Hour))
				return err != nil || got.LateWebhooks == 1
			})
			survey("with a webhook of the marketplace")
			testenv.NoError(t, db.inTx(t.Context(), "webhook", func(tx *tx) error {
				_, err := tx.Exec(t.Context(), `UPDATE webhooks SET event_position = (SELECT MAX(position) FROM events), event_merchant = 9,
					held = '[{"MerchantID":1,"Event":9},{"MerchantID":1,"Event":1}]' WHERE merchant_id = 0`)
				return err
			}))
			survey("with a held merchant")
		}

		for _, step := range []struct {
			job       NightlyJob
			at        time.Time
			succeeded bool
			want      NightlyRun
		}{
			{NightlyCheck, testTime, false, NightlyRun{Failed: true}},
			{NightlyBackup, testTime, true, NightlyRun{LastSuccess: testTime}},
			{NightlyBackup, testTime.Add(time.Hour), false, NightlyRun{LastSuccess: testTime, Failed: true}},
			{NightlyBackup, testTime.Add(2 * time.Hour), true, NightlyRun{LastSuccess: testTime.Add(2 * time.Hour)}},
		} {
			testenv.NoError(t, db.RecordRun(t.Context(), step.job, step.at, step.succeeded))
			want.Runs[step.job] = step.want
			survey(fmt.Sprintf("after %s at %s: %t", step.job, step.at, step.succeeded))
		}

		canceled, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := db.Survey(canceled, testTime); err == nil {
			t.Error("a survey outlives its context")
		}
	})
}

// addTestWebhook adds a webhook that has acknowledged some events.
func addTestWebhook(t *testing.T, db *DB, merchantID int64, state delivery.State, acknowledged int64) {
	t.Helper()
	testenv.NoError(t, db.InWebhookTx(t.Context(), func(tx webhook.Tx) error {
		_, err := tx.Add(t.Context(), webhook.Endpoint{
			Cursor: delivery.Cursor{Key: delivery.Key{MerchantID: merchantID}, CreatedAt: testTime, State: state, Acknowledged: order.MarketCursor{Seq: acknowledged}},
			URL:    "https://a.example.com", Secret: "whsec_",
		})
		return err
	}))
}

// newestSchema returns the version of the schema that this program knows.
func newestSchema(t *testing.T) int64 {
	t.Helper()
	steps := testenv.Of(migrations.SQLite.Steps()).Must(t)
	return steps[len(steps)-1].Version
}
