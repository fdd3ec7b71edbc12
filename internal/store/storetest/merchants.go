package storetest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
	"merchantorders/internal/token"
)

var merchantSubjects = []subject{
	{"merchants/added twice", testMerchantTwice},
	{"merchants/added by several at once", testMerchantAtOnce},
	{"merchants/changed", testMerchantChanged},
	{"merchants/pages", testMerchantPages},
}

// merchantEntry is the audit entry of the changes of merchants.
var merchantEntry = order.AuditEntry{At: noon, Action: order.MerchantUpdated, By: requester(order.ActorOperator)}

func addMerchant(ctx context.Context, store order.Store, merchant order.Merchant) error {
	return store.InTx(ctx, func(tx order.Tx) error { return tx.AddMerchant(ctx, merchant, merchantEntry) })
}

func testMerchantTwice(f *fixture) {
	first := order.Merchant{ID: 1, Name: "Ένα ' \" -- Shop", CreatedAt: noon}
	later := first
	later.CreatedAt = noon.AddDate(1, 0, 0)
	for _, merchant := range []order.Merchant{first, first, later} {
		testenv.Equal(f, fmt.Sprintf("add %+v", merchant), nil, addMerchant(f.Context(), f.b, merchant))
	}
	renamed := first
	renamed.Name = "another"
	testenv.Equal(f, "another name", order.ErrMerchantExists, addMerchant(f.Context(), f.a, renamed))
	want := []order.Merchant{
		first, {ID: alpha, Name: "Alpha Shop", CreatedAt: noon}, {ID: beta, Name: "Beta Shop", CreatedAt: noon},
	}
	testenv.Of(f.a.Merchants(f.Context(), order.MerchantFilter{})).Want(f, "merchants", want)
}

func testMerchantAtOnce(f *fixture) {
	var added atomic.Int64
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			merchant := order.Merchant{ID: 7, Name: fmt.Sprintf("Shop %d", i/2%2), CreatedAt: noon}
			switch err := addMerchant(f.Context(), []Store{f.a, f.b}[i%2], merchant); {
			case err == nil:
				added.Add(1)
			case !errors.Is(err, order.ErrMerchantExists):
				f.Errorf("add: %v", err)
			}
		})
	}
	group.Wait()
	testenv.Equal(f, "additions that agree with what is stored", 4, added.Load())
}

// testMerchantChanged renames, limits, suspends and resumes a merchant. Each handle sees
// it at once, in the merchant and in the grants of its tokens.
func testMerchantChanged(f *fixture) {
	hash := token.Hash{1}
	f.addToken(f.a, hash, token.Token{MerchantID: alpha, Scopes: order.DefaultScopes, CreatedAt: noon})
	m := order.Merchant{ID: alpha, Name: "Alpha Shop", CreatedAt: noon}
	nonces := map[int64]bool{0: true}
	for i, change := range []func(){
		func() { m.Name = "Άλφα" },
		func() { m.RateLimit = order.RateLimit{PerSecond: 200, Burst: 500} },
		func() {
			m.Slip = order.Slip{Name: "Ά & Β", ReturnAddress: "Οδός 1\nΑθήνα", TrackingLink: "https://example.com/{code}"}
		},
		func() { m.SuspendedAt, m.SuspensionReason = noon.Add(time.Hour), "unpaid" },
		func() { m.Name = "Alpha Shop" }, // again: with a nonce of its own
		func() { m.SuspendedAt, m.SuspensionReason, m.RateLimit = time.Time{}, "", order.RateLimit{} },
	} {
		before, err := f.a.Grant(f.Context(), hash)
		testenv.NoError(f, err)
		renamed := m.Name
		change()
		err = []Store{f.a, f.b}[i%2].InTx(f.Context(), func(tx order.Tx) error {
			testenv.Of(tx.LockMerchant(f.Context(), 404)).WantError(f, "lock merchant 404", order.ErrMerchantNotFound)
			if _, err := tx.LockMerchant(f.Context(), alpha); err != nil {
				return err
			}
			return tx.UpdateMerchant(f.Context(), m, merchantEntry)
		})
		if err != nil {
			f.Fatalf("change %d: %v", i, err)
		}
		for _, store := range []Store{f.a, f.b} {
			testenv.Of(store.Merchant(f.Context(), alpha)).Want(f, fmt.Sprintf("change %d", i), m)
			grant, err := store.Grant(f.Context(), hash)
			if err != nil || grant.Suspended != m.Suspended() || grant.RateLimit != m.RateLimit {
				f.Errorf("change %d: granted %+v, error %v", i, grant, err)
			}
			if (grant.NameNonce != before.NameNonce) != (m.Name != renamed) || m.Name != renamed && store == f.a && nonces[grant.NameNonce] {
				f.Errorf("change %d: the nonce of the name %q was %d and is %d", i, m.Name, before.NameNonce, grant.NameNonce)
			}
			nonces[grant.NameNonce] = true
			versions, err := store.DataVersions(f.Context(), []int64{alpha, beta})
			if _, ok := versions[alpha]; err != nil || ok == m.Suspended() || len(versions) == 0 {
				f.Errorf("change %d: versions %v, error %v", i, versions, err)
			}
		}
	}
	testenv.Of(f.a.Merchant(f.Context(), 404)).WantError(f, "merchant 404", order.ErrMerchantNotFound)
	var entries int64
	f.tables.each(`SELECT COUNT(*) FROM audit WHERE merchant_id = 355 AND action = 'merchant.updated'`, func(rows *sql.Rows) error {
		return rows.Scan(&entries)
	})
	testenv.Equal(f, "audit entries of an addition and 6 changes", 7, entries)
}

// testMerchantPages reads lists of merchants page by page.
func testMerchantPages(f *fixture) {
	for id, name := range map[int64]string{3: "Ωμέγα", 4: "beta", 5: "Beta", 6: "Betamax", 7: "Beta", 8: "Be", 9: "Bf"} {
		f.addMerchant(id, name)
	}
	testenv.NoError(f, f.a.InTx(f.Context(), func(tx order.Tx) error {
		m := order.Merchant{ID: 7, Name: "Beta", CreatedAt: noon, SuspendedAt: noon, SuspensionReason: "x"}
		return tx.UpdateMerchant(f.Context(), m, merchantEntry)
	}))
	yes, no := true, false
	for _, test := range []struct {
		filter order.MerchantFilter
		want   []int64
	}{
		{order.MerchantFilter{}, []int64{3, 4, 5, 6, 7, 8, 9, alpha, beta}},
		{order.MerchantFilter{Suspended: &yes}, []int64{7}},
		{order.MerchantFilter{Suspended: &no}, []int64{3, 4, 5, 6, 8, 9, alpha, beta}},
		// By bytes, then by id: Beta, Beta, Beta Shop, Betamax.
		{order.MerchantFilter{NamePrefix: "Bet"}, []int64{5, 7, beta, 6}},
		{order.MerchantFilter{NamePrefix: "Beta", Suspended: &no}, []int64{5, beta, 6}},
		{order.MerchantFilter{NamePrefix: "Ω"}, []int64{3}},
		{order.MerchantFilter{NamePrefix: "%"}, nil},
		{order.MerchantFilter{IDs: []int64{beta, 7, 12345, 3}}, []int64{3, 7, beta}},
		{order.MerchantFilter{IDs: []int64{}}, nil},
	} {
		for limit := range 4 {
			var got []int64
			filter := test.filter
			filter.Limit = limit
			for {
				page := testenv.Of(f.b.Merchants(f.Context(), filter)).Must(f)
				for _, m := range page {
					got = append(got, m.ID)
				}
				if limit == 0 || len(page) < limit {
					break
				}
				filter.After = page[len(page)-1].ID
			}
			testenv.Equal(f, fmt.Sprintf("%+v by pages of %d", test.filter, limit), test.want, got)
		}
	}
}
