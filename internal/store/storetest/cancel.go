package storetest

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
	"merchantorders/internal/token"
)

var cancelSubjects = []subject{
	{"cancel/before the call", testCanceledBefore},
	{"cancel/while another writes", testCanceledWhileWaiting},
	{"cancel/at any time, importing", testCanceledImport},
	{"cancel/at any time, listing", testCanceledList},
}

// calls is every method of a store.
func calls(store Store) map[string]func(context.Context) error {
	key, invoice := order.ByLegacyID(1), order.StoredInvoice{MerchantID: alpha, OrderLegacyID: 1, ID: 1}
	return map[string]func(context.Context) error{
		"Order":        func(ctx context.Context) error { return errorOf(store.Order(ctx, alpha, key)) },
		"List":         func(ctx context.Context) error { return errorOf(store.List(ctx, alpha, order.NewFilter())) },
		"Sums":         func(ctx context.Context) error { return errorOf(store.Sums(ctx, alpha, order.NewFilter(), 1)) },
		"InvoiceFile":  func(ctx context.Context) error { return errorOf(store.InvoiceFile(ctx, alpha, "R", "a.pdf")) },
		"Events":       func(ctx context.Context) error { return errorOf(store.Events(ctx, alpha, 0, 10)) },
		"OrderEvents":  func(ctx context.Context) error { return errorOf(store.OrderEvents(ctx, alpha, key, 0, 10)) },
		"DataVersions": func(ctx context.Context) error { return errorOf(store.DataVersions(ctx, []int64{alpha})) },
		"InTx":         func(ctx context.Context) error { return transitionTo(ctx, store, alpha, 1, order.Canceled, noon) },
		"ImportOrders": func(ctx context.Context) error {
			return errorOf(store.ImportOrders(ctx, []order.Incoming{incoming(minimal(alpha, "NEW"))}, order.Cause{By: order.Caller{Actor: order.ActorOperator}, At: noon}))
		},
		"ExpiredReservations": func(ctx context.Context) error { return errorOf(store.ExpiredReservations(ctx, noon, 1)) },
		"ExpireReservation":   func(ctx context.Context) error { return errorOf(store.ExpireReservation(ctx, invoice, noon)) },
		"DeletedInvoices":     func(ctx context.Context) error { return errorOf(store.DeletedInvoices(ctx, noon, 1)) },
		"MarkPurged":          func(ctx context.Context) error { return store.MarkPurged(ctx, invoice, noon) },
		"AddMerchant": func(ctx context.Context) error {
			return addMerchant(ctx, store, order.Merchant{ID: 9, Name: "Nine", CreatedAt: noon})
		},
		"Merchants": func(ctx context.Context) error { return errorOf(store.Merchants(ctx, order.MerchantFilter{})) },
		"Grant":     func(ctx context.Context) error { return errorOf(store.Grant(ctx, token.Hash{1})) },
		"AddToken": func(ctx context.Context) error {
			return errorOf(addToken(ctx, store, token.Hash{1}, token.Token{MerchantID: alpha, CreatedAt: noon}))
		},
		"Tokens": func(ctx context.Context) error { return errorOf(store.Tokens(ctx, token.Filter{}, noon)) },
		"ReplaceToken": func(ctx context.Context) error {
			return errorOf(registry(store, noon).Rotate(ctx, order.Command(), token.Rotation{ID: 1}, order.Options[token.Created]{}))
		},
		"RevokeToken": func(ctx context.Context) error { return revokeToken(ctx, store, 1, noon) },
		"TouchTokens": func(ctx context.Context) error { return store.RecordTokenUse(ctx, map[int64]token.Use{1: {At: noon}}) },
		"Ping":        func(ctx context.Context) error { return store.Ping(ctx) },
	}
}

func testCanceledBefore(f *fixture) {
	f.create(minimal(alpha, "R"))
	f.upload(f.a, order.ByLegacyID(1), "a.pdf")
	before := f.tables.rows()
	canceled, cancel := context.WithCancel(f.Context())
	cancel()
	for name, call := range calls(f.a) {
		testenv.Equal(f, name, context.Canceled, call(canceled))
	}
	testenv.Equal(f, "tables", before, f.tables.rows())
}

// testCanceledWhileWaiting holds the rows that every change needs until the
// calls have come back, which they must do of their own accord.
func testCanceledWhileWaiting(f *fixture) {
	f.create(minimal(alpha, "R"))
	before := f.tables.rows()
	blocker := testenv.Of(f.tables.sql.BeginTx(f.Context(), nil)).Must(f)
	testenv.Of(blocker.ExecContext(f.Context(), "UPDATE merchants SET name = name")).Must(f)
	var group sync.WaitGroup
	for _, name := range []string{"InTx", "ImportOrders"} {
		group.Go(func() {
			ctx, cancel := context.WithTimeout(f.Context(), 100*time.Millisecond)
			defer cancel()
			testenv.Equal(f, name, context.DeadlineExceeded, calls(f.a)[name](ctx))
		})
		group.Go(func() {
			ctx, cancel := context.WithCancel(f.Context())
			time.AfterFunc(100*time.Millisecond, cancel)
			testenv.Equal(f, name, context.Canceled, calls(f.b)[name](ctx))
		})
	}
	group.Wait()
	testenv.NoError(f, blocker.Rollback())
	testenv.Equal(f, "tables", before, f.tables.rows())
	for _, name := range []string{"InTx", "ImportOrders"} {
		testenv.Equal(f, name+" afterwards", nil, calls(f.a)[name](f.Context()))
	}
}

// testCanceledImport ends batches at any time: each is there as a whole or
// not at all, and there if its call said so.
func testCanceledImport(f *fixture) {
	const size = 10
	dice := newDice(1)
	added, failed := 0, 0
	for i := range 60 {
		prefix := fmt.Sprintf("R-%d", i)
		ctx, cancel := context.WithTimeout(f.Context(), time.Duration(dice.IntN(1+500*i))*time.Microsecond)
		_, err := []Store{f.a, f.b}[i%2].ImportOrders(ctx, numbered(alpha, prefix, size), order.Cause{By: order.Caller{Actor: order.ActorOperator}, At: noon})
		cancel()
		// Counted in one statement: a canceled commit may still happen.
		there := 0
		f.tables.each("SELECT COUNT(*) FROM orders WHERE merchant_id = $1 AND reference LIKE $2", func(rows *sql.Rows) error {
			return rows.Scan(&there)
		}, alpha, prefix+"-%")
		if there != 0 && there != size || err == nil && there == 0 {
			f.Errorf("batch %d: error %v, and %d of its %d orders are there", i, err, there, size)
		}
		if err == nil {
			added++
		} else {
			failed++
		}
	}
	f.Logf("%d batches added, %d canceled", added, failed)
	// Run again it is complete, as an import that was killed is.
	for i := range 60 {
		f.add(f.a, numbered(alpha, fmt.Sprintf("R-%d", i), size)...)
	}
	testenv.Equal(f, "orders in all", 60*size, testenv.Of(f.b.List(f.Context(), alpha, order.NewFilter())).Must(f).Total)
}

// testCanceledList ends lists at any time; what they leave behind must
// not mislead the lists after them.
func testCanceledList(f *fixture) {
	b := newBook(f, 7, manyDays)
	for range 15 {
		b.grow(f.a, 20)
		for range 6 {
			end := time.Now().Add(time.Duration(b.IntN(1500)) * time.Microsecond)
			ctx, cancel := context.WithDeadline(f.Context(), end)
			_, err := f.b.List(ctx, alpha, b.filter(b.days))
			cancel()
			if err != nil && time.Now().Before(end) {
				f.Errorf("list: %v", err)
			}
		}
		b.compare(f, f.b, alpha, b.filter(b.days))
	}
}
