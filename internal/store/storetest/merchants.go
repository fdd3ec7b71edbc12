package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/order"
)

var merchantSubjects = []subject{
	{"merchants/added twice", testMerchantTwice},
	{"merchants/added by several at once", testMerchantAtOnce},
}

func addMerchant(ctx context.Context, store order.Store, merchant order.Merchant) error {
	return store.InTx(ctx, func(tx order.Tx) error { return tx.AddMerchant(ctx, merchant) })
}

func testMerchantTwice(f *fixture) {
	first := order.Merchant{ID: 1, Name: "Ένα ' \" -- Shop", CreatedAt: noon}
	later := first
	later.CreatedAt = noon.AddDate(1, 0, 0)
	for _, merchant := range []order.Merchant{first, first, later} {
		if err := addMerchant(f.Context(), f.b, merchant); err != nil {
			f.Errorf("add %+v: %v", merchant, err)
		}
	}
	renamed := first
	renamed.Name = "another"
	if err := addMerchant(f.Context(), f.a, renamed); !errors.Is(err, order.ErrMerchantExists) {
		f.Errorf("another name: %v, want %v", err, order.ErrMerchantExists)
	}
	want := []order.Merchant{
		first, {ID: alpha, Name: "Alpha Shop", CreatedAt: noon}, {ID: beta, Name: "Beta Shop", CreatedAt: noon},
	}
	got, err := f.a.Merchants(f.Context())
	if err != nil {
		f.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		f.Errorf("merchants (-want +got):\n%s", diff)
	}
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
	if added.Load() != 4 {
		f.Errorf("%d of 8 agree with what is stored, want the 4 of one name", added.Load())
	}
}
