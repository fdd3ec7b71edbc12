package storetest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"time"

	"merchantorders/internal/order"
)

var attemptSubjects = []subject{
	{"attempts/given again", testGivenAgain},
	{"attempts/a refusal is kept", testRefusalKept},
	{"attempts/another request", testOtherRequest},
	{"attempts/another merchant", testKeysOfMerchants},
	{"attempts/what is not kept", testNotKept},
	{"attempts/one of many", testOneOfManyAttempts},
	{"attempts/many keys at once", testManyKeys},
	{"attempts/under way", testKeyHeld},
	{"attempts/a day", testAnswerLife},
	{"attempts/forgotten", testForgotten},
	{"attempts/keys and answers of all kinds", testOddKeys},
	{"attempts/only as the client knows it", testOnlyAsKnown},
}

// under is an attempt with a key. Its answer says what came of it.
func under(key, request string) order.WriteOptions {
	return order.WriteOptions{
		IdempotencyKey: key, RequestDigest: sha256.Sum256([]byte(request)),
		Response: func(done order.WriteResult, refusal error) ([]byte, error) {
			return fmt.Appendf(nil, "%s: revision %d, %v\x00\xff", request, done.Revision, refusal), nil
		},
	}
}

// wantRepeated sees that an attempt was made before, with an answer.
func (f *fixture) wantRepeated(err error, answer string) {
	f.Helper()
	var repeated *order.ReplayError
	if !errors.As(err, &repeated) || string(repeated.Response) != answer {
		f.Errorf("error %v (%+v), want the answer %q again", err, repeated, answer)
	}
}

const acceptedAnswer = "accept: revision 2, <nil>\x00\xff"

func testGivenAgain(f *fixture) {
	key := order.ByLegacyID(f.create(minimal(alpha, "R")))
	done, err := service(f.a, noon).Accept(f.Context(), alpha, key, under("k", "accept"))
	if err != nil || done.Revision != 2 || done.State != order.InProcessing {
		f.Fatalf("%+v, error %v", done, err)
	}
	before := f.tables.rows()
	for _, store := range []Store{f.a, f.b} {
		_, err := service(store, noon.Add(time.Hour)).Accept(f.Context(), alpha, key, under("k", "accept"))
		f.wantRepeated(err, acceptedAnswer)
		// Also for a change that could not even find its order.
		err = service(store, noon).RecordRefusal(f.Context(), alpha, under("k", "accept"), order.ErrNotFound)
		f.wantRepeated(err, acceptedAnswer)
	}
	f.wantUnchanged(before)
	if _, err := service(f.b, noon).Accept(f.Context(), alpha, key, under("another", "accept")); !errors.Is(err, order.ErrCannotAccept) {
		f.Errorf("under another key: error %v", err)
	}
}

func (f *fixture) wantUnchanged(before map[string][]string) {
	f.Helper()
	if after := f.tables.rows(); fmt.Sprint(before) != fmt.Sprint(after) {
		f.Errorf("the tables changed from\n%v\nto\n%v", before, after)
	}
}

func testRefusalKept(f *fixture) {
	number := f.create(minimal(alpha, "R"))
	s := service(f.a, noon)
	_, err := s.Accept(f.Context(), alpha, order.ByReference("LATER"), under("missing", "accept"))
	if !errors.Is(err, order.ErrNotFound) {
		f.Fatalf("error %v", err)
	}
	_, err = s.Reject(f.Context(), alpha, order.ByLegacyID(number), "whim", under("reason", "reject"))
	if !errors.Is(err, order.ErrInvalidReason) {
		f.Fatalf("error %v", err)
	}
	if err := s.RecordRefusal(f.Context(), alpha, under("form", "nonsense"), order.ErrInvalidRange); !errors.Is(err, order.ErrInvalidRange) {
		f.Fatalf("error %v", err)
	}
	// Now that it is there the first answer still holds.
	f.create(minimal(alpha, "LATER"))
	_, err = service(f.b, noon).Accept(f.Context(), alpha, order.ByReference("LATER"), under("missing", "accept"))
	f.wantRepeated(err, "accept: revision 0, "+order.ErrNotFound.Error()+"\x00\xff")
	_, err = service(f.b, noon).Reject(f.Context(), alpha, order.ByLegacyID(number), "whim", under("reason", "reject"))
	f.wantRepeated(err, "reject: revision 0, "+order.ErrInvalidReason.Error()+"\x00\xff")
	f.wantRepeated(service(f.b, noon).RecordRefusal(f.Context(), alpha, under("form", "nonsense"), order.ErrInvalidRange),
		"nonsense: revision 0, "+order.ErrInvalidRange.Error()+"\x00\xff")
}

func testOtherRequest(f *fixture) {
	first, second := f.create(minimal(alpha, "R-1")), f.create(minimal(alpha, "R-2"))
	if _, err := service(f.a, noon).Accept(f.Context(), alpha, order.ByLegacyID(first), under("k", "accept")); err != nil {
		f.Fatal(err)
	}
	before := f.tables.rows()
	for _, number := range []int64{first, second, 999} {
		_, err := service(f.b, noon).Reject(f.Context(), alpha, order.ByLegacyID(number), "", under("k", "reject"))
		if !errors.Is(err, order.ErrIdempotencyKeyReused) {
			f.Errorf("reject of %d under the same key: error %v", number, err)
		}
	}
	f.wantUnchanged(before)
}

func testKeysOfMerchants(f *fixture) {
	for _, merchant := range []int64{alpha, beta} {
		number := f.create(minimal(merchant, fmt.Sprintf("M%d", merchant)))
		done, err := service(f.a, noon).Accept(f.Context(), merchant, order.ByLegacyID(number), under("k", fmt.Sprint(merchant)))
		if err != nil || done.Revision != 2 {
			f.Errorf("merchant %d: %+v, error %v", merchant, done, err)
		}
	}
}

func testNotKept(f *fixture) {
	number := f.create(minimal(alpha, "R"))
	before := f.tables.rows()
	unkept := under("k", "accept")
	unkept.Response = func(order.WriteResult, error) ([]byte, error) { return nil, nil }
	if _, err := service(f.a, noon).Accept(f.Context(), alpha, order.ByLegacyID(999), unkept); !errors.Is(err, order.ErrNotFound) {
		f.Errorf("error %v", err)
	}
	f.wantUnchanged(before)
	// Without its answer a change is not made.
	fault := errors.New("no answer")
	for _, answer := range []func(order.WriteResult, error) ([]byte, error){
		unkept.Response,
		func(order.WriteResult, error) ([]byte, error) { return nil, fault },
	} {
		unkept.Response = answer
		if _, err := service(f.a, noon).Accept(f.Context(), alpha, order.ByLegacyID(number), unkept); err == nil {
			f.Error("a change without an answer was made")
		}
	}
	f.wantUnchanged(before)
	if _, err := service(f.b, noon).Accept(f.Context(), alpha, order.ByLegacyID(number), under("k", "accept")); err != nil {
		f.Errorf("the key is not free: %v", err)
	}
}

func testOneOfManyAttempts(f *fixture) {
	for round := range 4 {
		number := f.create(minimal(alpha, fmt.Sprintf("R-%d", round)))
		key := fmt.Sprintf("k-%d", round)
		var made, again sync.Map
		var group sync.WaitGroup
		for i := range 24 {
			group.Go(func() {
				store := []Store{f.a, f.b}[i%2]
				_, err := service(store, noon).Accept(f.Context(), alpha, order.ByLegacyID(number), under(key, "accept"))
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
		again.Range(func(answer, _ any) bool {
			if answer != acceptedAnswer {
				f.Errorf("the answer again is %q", answer)
			}
			return true
		})
		if got := f.order(f.b, alpha, order.ByLegacyID(number)); count != 1 || got.Revision != 2 {
			f.Errorf("%d attempts made the change, the revision is %d", count, got.Revision)
		}
	}
}

// testManyKeys has the same keys used on different orders at once, so that those
// who wait for a key and those who wait for an order meet.
func testManyKeys(f *fixture) {
	const orders = 6
	for _, outcome := range f.add(f.a, numbered(alpha, "R", orders)...) {
		if outcome.Status != order.Created {
			f.Fatal(outcome.Reason)
		}
	}
	var group sync.WaitGroup
	for worker := range 8 {
		group.Go(func() {
			dice, store := newDice(uint64(worker)), []Store{f.a, f.b}[worker%2]
			for range 20 {
				n := 1 + dice.Int64N(orders)
				key := fmt.Sprintf("k-%d", dice.IntN(4))
				_, err := service(store, noon).Accept(f.Context(), alpha, order.ByLegacyID(n), under(key, fmt.Sprint(n)))
				var repeated *order.ReplayError
				if err != nil && !errors.As(err, &repeated) && !errors.Is(err, order.ErrIdempotencyKeyReused) && !errors.Is(err, order.ErrCannotAccept) {
					f.Errorf("accept of %d under %s: %v", n, key, err)
				}
			}
		})
	}
	group.Wait()
}

// testOnlyAsKnown has many who know the same revision of an order change it at
// once: one does, and the others are told.
func testOnlyAsKnown(f *fixture) {
	number := f.create(minimal(alpha, "R"))
	key := order.ByLegacyID(number)
	var ids []int64
	for i := range order.MaxInvoices {
		ids = append(ids, f.upload(f.a, key, fmt.Sprintf("%d.pdf", i)))
	}
	known := f.order(f.a, alpha, key).Revision
	asKnown := order.WriteOptions{IfMatch: func(head order.LockedOrder) bool { return head.Revision == known }}
	changes := []func(context.Context, *order.Service) (order.WriteResult, error){
		func(ctx context.Context, s *order.Service) (order.WriteResult, error) {
			return s.Accept(ctx, alpha, key, asKnown)
		},
		func(ctx context.Context, s *order.Service) (order.WriteResult, error) {
			return s.Reject(ctx, alpha, key, "", asKnown)
		},
	}
	for _, id := range ids {
		changes = append(changes, func(ctx context.Context, s *order.Service) (order.WriteResult, error) {
			return s.DeleteInvoice(ctx, alpha, key, id, asKnown)
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
	if done, now := <-made, f.order(f.b, alpha, key).Revision; done.Revision != known+1 || now != known+1 {
		f.Errorf("revision %d, the change said %d, before it was %d", now, done.Revision, known)
	}
}
