package storetest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

var idempotencySubjects = []subject{
	{"idempotency/replay", testReplay},
	{"idempotency/a refusal is recorded", testRefusalRecorded},
	{"idempotency/no record without an order", testNoOrderNoRecord},
	{"idempotency/count", testCountRecords},
	{"idempotency/another request", testOtherRequest},
	{"idempotency/another merchant", testKeysOfMerchants},
	{"idempotency/what is not recorded", testNotRecorded},
	{"idempotency/concurrent requests", testConcurrentRequests},
	{"idempotency/many keys at once", testManyKeys},
	{"idempotency/bulk changes", testBulkKeys},
	{"idempotency/in use", testKeyInUse},
	{"idempotency/retention", testRetention},
	{"idempotency/old records are deleted", testDeleteOldRecords},
	{"idempotency/keys and responses of all kinds", testOddKeys},
	{"idempotency/If-Match", testIfMatch},
}

// under returns the options of a write with an idempotency key. The response
// contains the result.
func under(key, request string) order.Options[order.WriteResult] {
	return order.Options[order.WriteResult]{
		Key: order.Key{Text: key, Digest: sha256.Sum256([]byte(request))},
		Record: func(done order.WriteResult, refusal error) ([]byte, error) {
			return fmt.Appendf(nil, "%s: revision %d, %v\x00\xff", request, count(done.Revision), refusal), nil
		},
	}
}

// wantReplay checks that err replays a response.
func (f *fixture) wantReplay(err error, response string) {
	f.Helper()
	var repeated *order.ReplayError
	if !errors.As(err, &repeated) || string(repeated.Response) != response {
		f.Errorf("error %v (%+v), want a replay of %q", err, repeated, response)
	}
}

const acceptedResponse = "accept: revision 2, <nil>\x00\xff"

func testReplay(f *fixture) {
	key := order.ByLegacyID(f.create(minimal(alpha, "R")))
	done, err := service(f.a, noon).Accept(f.Context(), order.CommandFor(alpha), key, under("k", "accept"))
	if err != nil || count(done.Revision) != 2 || done.State != order.InProcessing {
		f.Fatalf("%+v, error %v", done, err)
	}
	before := f.tables.rows()
	for _, store := range []Store{f.a, f.b} {
		_, err := service(store, noon.Add(time.Hour)).Accept(f.Context(), order.CommandFor(alpha), key, under("k", "accept"))
		f.wantReplay(err, acceptedResponse)
		// Also for a request that is refused because of its form.
		err = service(store, noon).Refuse(f.Context(), order.CommandFor(alpha), under("k", "accept").Key, order.ErrInvalidRange)
		f.wantReplay(err, acceptedResponse)
	}
	f.wantUnchanged(before)
	testenv.Of(service(f.b, noon).Accept(f.Context(), order.CommandFor(alpha), key, under("another", "accept"))).WantError(f, "under another key", order.ErrCannotAccept)
}

func (f *fixture) wantUnchanged(before map[string][]string) {
	f.Helper()
	testenv.Equal(f, "tables", fmt.Sprint(f.tables.rows()), fmt.Sprint(before))
}

func testRefusalRecorded(f *fixture) {
	number := f.create(minimal(alpha, "R"))
	_, err := service(f.a, noon).Reject(f.Context(), order.CommandFor(alpha), order.ByLegacyID(number), "whim", under("reason", "reject"))
	if !errors.Is(err, order.ErrInvalidReason) {
		f.Fatalf("error %v", err)
	}
	_, err = service(f.b, noon).Reject(f.Context(), order.CommandFor(alpha), order.ByLegacyID(number), "whim", under("reason", "reject"))
	f.wantReplay(err, "reject: revision 0, "+order.ErrInvalidReason.Error()+"\x00\xff")
}

// testNoOrderNoRecord checks that a refusal that found no order keeps no record: the
// key is free for the next request.
func testNoOrderNoRecord(f *fixture) {
	number := f.create(minimal(alpha, "R"))
	before := f.tables.rows()
	s := service(f.a, noon)
	for name, refused := range map[string]struct {
		err, want error
	}{
		"form":                      {s.Refuse(f.Context(), order.CommandFor(alpha), under("k", "nonsense").Key, order.ErrInvalidRange), order.ErrInvalidRange},
		"accept":                    {errorOf(s.Accept(f.Context(), order.CommandFor(alpha), order.ByReference("LATER"), under("k", "accept"))), order.ErrNotFound},
		"accept of no identifier":   {errorOf(s.Accept(f.Context(), order.CommandFor(alpha), order.ByLegacyID(0), under("k", "accept"))), order.ErrNotFound},
		"upload":                    {errorOf(s.Upload(f.Context(), order.CommandFor(alpha), order.ByLegacyID(999), "a.pdf", order.Content{Size: 1}, under("k", "upload"))), order.ErrNotFound},
		"delete":                    {errorOf(s.DeleteInvoice(f.Context(), order.CommandFor(alpha), order.ByLegacyID(999), 1, under("k", "delete"))), order.ErrInvoiceNotFound},
		"order of another merchant": {errorOf(s.Accept(f.Context(), order.CommandFor(beta), order.ByLegacyID(number), under("k", "accept"))), order.ErrNotFound},
	} {
		testenv.Equal(f, name, refused.want, refused.err)
	}
	f.wantUnchanged(before)
	testenv.Of(service(f.b, noon).Accept(f.Context(), order.CommandFor(alpha), order.ByLegacyID(number), under("k", "accept"))).Must(f)
}

func errorOf[T any](_ T, err error) error { return err }

// testCountRecords counts records, which end after a time.
func testCountRecords(f *fixture) {
	for _, merchant := range []int64{alpha, beta, alpha} {
		f.record(merchant, fmt.Sprint("k-", len(f.tables.rows()["idempotency_keys"])), noon)
	}
	for _, want := range []struct {
		merchant int64
		limit, n int
	}{{alpha, 9, 2}, {alpha, 1, 1}, {beta, 9, 1}, {999, 9, 0}} {
		if n, err := f.b.CountIdempotencyRecords(f.Context(), want.merchant, false, want.limit); err != nil || n != want.n {
			f.Errorf("%+v: counted %d, error %v", want, n, err)
		}
	}
}

// record creates the record of a refused request.
func (f *fixture) record(merchantID int64, key string, at time.Time) {
	f.Helper()
	f.recordOptions(merchantID, under(key, "r"), at)
}

func (f *fixture) recordOptions(merchantID int64, options order.Options[order.WriteResult], at time.Time) {
	f.Helper()
	reference := fmt.Sprintf("RECORD-%d", merchantID)
	f.add(f.a, incoming(minimal(merchantID, reference)))
	_, err := service(f.a, at).Reject(f.Context(), order.CommandFor(merchantID), order.ByReference(reference), "whim", options)
	if !errors.Is(err, order.ErrInvalidReason) {
		f.Fatalf("%q: %v", options.Key.Text, err)
	}
}

func testOtherRequest(f *fixture) {
	first, second := f.create(minimal(alpha, "R-1")), f.create(minimal(alpha, "R-2"))
	testenv.Of(service(f.a, noon).Accept(f.Context(), order.CommandFor(alpha), order.ByLegacyID(first), under("k", "accept"))).Must(f)
	before := f.tables.rows()
	for _, number := range []int64{first, second, 999} {
		_, err := service(f.b, noon).Reject(f.Context(), order.CommandFor(alpha), order.ByLegacyID(number), "", under("k", "reject"))
		testenv.Equal(f, fmt.Sprintf("reject of %d under the same key", number), order.ErrIdempotencyKeyReused, err)
	}
	f.wantUnchanged(before)
}

func testKeysOfMerchants(f *fixture) {
	for _, merchant := range []int64{alpha, beta} {
		number := f.create(minimal(merchant, fmt.Sprintf("M%d", merchant)))
		testenv.Equal(f, fmt.Sprintf("changes of merchant %d", merchant), 2, count(testenv.Of(service(f.a, noon).Accept(f.Context(), order.CommandFor(merchant), order.ByLegacyID(number), under("k", fmt.Sprint(merchant)))).Must(f).Revision))
	}
}

func testNotRecorded(f *fixture) {
	number := f.create(minimal(alpha, "R"))
	before := f.tables.rows()
	unkept := under("k", "accept")
	unkept.Record = func(order.WriteResult, error) ([]byte, error) { return nil, nil }
	testenv.Of(service(f.a, noon).Accept(f.Context(), order.CommandFor(alpha), order.ByLegacyID(999), unkept)).WantError(f, "error", order.ErrNotFound)
	f.wantUnchanged(before)
	// A change is rolled back if its response cannot be encoded.
	fault := errors.New("no response")
	for _, answer := range []func(order.WriteResult, error) ([]byte, error){
		unkept.Record,
		func(order.WriteResult, error) ([]byte, error) { return nil, fault },
	} {
		unkept.Record = answer
		if _, err := service(f.a, noon).Accept(f.Context(), order.CommandFor(alpha), order.ByLegacyID(number), unkept); err == nil {
			f.Error("a change without a response was made")
		}
	}
	f.wantUnchanged(before)
	testenv.Of(service(f.b, noon).Accept(f.Context(), order.CommandFor(alpha), order.ByLegacyID(number), under("k", "accept"))).Must(f)
}

func testConcurrentRequests(f *fixture) {
	for round := range 4 {
		number := f.create(minimal(alpha, fmt.Sprintf("R-%d", round)))
		key := fmt.Sprintf("k-%d", round)
		var made, again sync.Map
		var group sync.WaitGroup
		for i := range 24 {
			group.Go(func() {
				store := []Store{f.a, f.b}[i%2]
				_, err := service(store, noon).Accept(f.Context(), order.CommandFor(alpha), order.ByLegacyID(number), under(key, "accept"))
				var repeated *order.ReplayError
				switch {
				case err == nil:
					made.Store(i, true)
				case errors.As(err, &repeated):
					again.Store(string(repeated.Response), true)
				default:
					f.Errorf("attempt %d: error %v", i, err)
				}
			})
		}
		group.Wait()
		count := 0
		made.Range(func(any, any) bool { count++; return true })
		again.Range(func(response, _ any) bool {
			testenv.Equal(f, "the replayed response", acceptedResponse, response)
			return true
		})
		if got := f.order(f.b, alpha, order.ByLegacyID(number)); count != 1 || got.Revision != 2 {
			f.Errorf("%d attempts made the change, the revision is %d", count, got.Revision)
		}
	}
}

// testBulkKeys sends the same changes at the same time, each with its key. Then it
// erases one of the orders, and with it the records of its changes.
func testBulkKeys(f *fixture) {
	const orders, requests = 6, 8
	f.add(f.a, numbered(alpha, "R", orders)...)
	results := make([][]order.BatchResult, requests)
	testenv.Together(requests, func(i int, ready func()) {
		s := service([]Store{f.a, f.b}[i%2], noon)
		var batch []order.BatchChange
		for n, o := range numbered(alpha, "R", orders) {
			for _, code := range []string{"A", "B"} {
				batch = append(batch, order.BatchChange{
					MerchantID: alpha, Reference: o.Order.Reference,
					Update: order.Update{Correction: order.Correction{Carrier: order.CarrierCorrection{TrackingCodes: order.To(code)}}},
					Key:    order.Key{Text: "k", Line: int64(len(batch) + 1), Digest: sha256.Sum256(fmt.Append(nil, n, code))},
				})
			}
		}
		ready()
		var err error
		results[i], err = s.ChangeOrders(f.Context(), order.Command(), batch, func(change order.BatchChange, result order.BatchResult) ([]byte, error) {
			return fmt.Appendf(nil, "%s: revision %d", change.Reference, count(result.Revision)), nil
		})
		if err != nil {
			f.Errorf("request %d: %v", i, err)
		}
	})
	made := 0
	for _, lines := range results {
		for n, result := range lines {
			want := fmt.Sprintf("R-%d: revision %d", n/2, 2+n%2)
			if result.Err == nil && result.Changed {
				made++
			} else {
				f.wantReplay(result.Err, want)
			}
		}
	}
	if got := f.order(f.b, alpha, order.ByReference("R-1")); made != 2*orders || got.Revision != 3 || got.Carrier.TrackingCodes != "B" {
		f.Errorf("%d changes were made; R-1 has the revision %d and the code %q", made, got.Revision, got.Carrier.TrackingCodes)
	}
	testenv.NoError(f, inOrder(f.Context(), f.a, alpha, order.ByReference("R-1"), func(tx order.Tx, locked order.LockedOrder) error {
		_, err := tx.EraseOrder(f.Context(), locked, order.Cause{By: order.Caller{Actor: order.ActorOperator}, At: noon})
		return err
	}))
	testenv.Equal(f, "records left", 2*(orders-1), len(f.tables.rows()["idempotency_keys"]))
}

func testManyKeys(f *fixture) {
	const orders = 6
	for _, result := range f.add(f.a, numbered(alpha, "R", orders)...) {
		if result.Status != order.Created {
			f.Fatal(result.Reason)
		}
	}
	var group sync.WaitGroup
	for worker := range 8 {
		group.Go(func() {
			dice, store := newDice(uint64(worker)), []Store{f.a, f.b}[worker%2]
			for range 20 {
				n := 1 + dice.Int64N(orders)
				key := fmt.Sprintf("k-%d", dice.IntN(4))
				_, err := service(store, noon).Accept(f.Context(), order.CommandFor(alpha), order.ByLegacyID(n), under(key, fmt.Sprint(n)))
				var repeated *order.ReplayError
				if err != nil && !errors.As(err, &repeated) && !errors.Is(err, order.ErrIdempotencyKeyReused) && !errors.Is(err, order.ErrCannotAccept) {
					f.Errorf("accept of %d under %s: %v", n, key, err)
				}
			}
		})
	}
	group.Wait()
}

// testIfMatch has many who know the same revision of an order change it at
// once: one succeeds, and the others get an error.
func testIfMatch(f *fixture) {
	number := f.create(minimal(alpha, "R"))
	key := order.ByLegacyID(number)
	var ids []int64
	for i := range order.MaxInvoices {
		ids = append(ids, f.upload(f.a, key, fmt.Sprintf("%d.pdf", i)))
	}
	known := f.order(f.a, alpha, key).Revision
	asKnown := order.Options[order.WriteResult]{IfMatch: func(locked order.LockedOrder) bool { return count(locked.Revision) == known }}
	changes := []func(context.Context, *order.Service) (order.WriteResult, error){
		func(ctx context.Context, s *order.Service) (order.WriteResult, error) {
			return s.Accept(ctx, order.CommandFor(alpha), key, asKnown)
		},
		func(ctx context.Context, s *order.Service) (order.WriteResult, error) {
			return s.Reject(ctx, order.CommandFor(alpha), key, "", asKnown)
		},
	}
	for _, id := range ids {
		changes = append(changes, func(ctx context.Context, s *order.Service) (order.WriteResult, error) {
			return s.DeleteInvoice(ctx, order.CommandFor(alpha), key, id, asKnown)
		})
	}
	made := make(chan order.WriteResult, len(changes))
	var group sync.WaitGroup
	for i, change := range changes {
		group.Go(func() {
			done, err := change(f.Context(), service([]Store{f.a, f.b}[i%2], noon))
			switch {
			case err == nil:
				made <- done
			case !errors.Is(err, order.ErrPreconditionFailed):
				f.Errorf("change %d: error %v", i, err)
			}
		})
	}
	group.Wait()
	if len(made) != 1 {
		f.Fatalf("%d changes were made of what had changed", len(made))
	}
	if done, now := <-made, f.order(f.b, alpha, key).Revision; count(done.Revision) != known+1 || now != known+1 {
		f.Errorf("revision %d, the change said %d, before it was %d", now, count(done.Revision), known)
	}
}
