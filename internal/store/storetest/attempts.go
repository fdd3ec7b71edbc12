package storetest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
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
func under(key, request string) order.Attempt {
	return order.Attempt{
		Key: key, Request: sha256.Sum256([]byte(request)),
		Answer: func(done order.Changed, refusal error) ([]byte, error) {
			return fmt.Appendf(nil, "%s: revision %d, %v\x00\xff", request, done.Revision, refusal), nil
		},
	}
}

// wantRepeated sees that an attempt was made before, with an answer.
func (f *fixture) wantRepeated(err error, answer string) {
	f.Helper()
	var repeated *order.Repeated
	if !errors.As(err, &repeated) || string(repeated.Answer) != answer {
		f.Errorf("error %v (%+v), want the answer %q again", err, repeated, answer)
	}
}

const acceptedAnswer = "accept: revision 2, <nil>\x00\xff"

func testGivenAgain(f *fixture) {
	key := order.NumberKey(f.create(minimal(alpha, "R")))
	done, err := service(f.a, noon).Accept(f.Context(), alpha, key, under("k", "accept"))
	if err != nil || done.Revision != 2 || done.State != order.InProcessing {
		f.Fatalf("%+v, error %v", done, err)
	}
	before := f.tables.rows()
	for _, store := range []Store{f.a, f.b} {
		_, err := service(store, noon.Add(time.Hour)).Accept(f.Context(), alpha, key, under("k", "accept"))
		f.wantRepeated(err, acceptedAnswer)
		// Also for a change that could not even find its order.
		err = service(store, noon).Refuse(f.Context(), alpha, under("k", "accept"), order.ErrNotFound)
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
	_, err := s.Accept(f.Context(), alpha, order.ReferenceKey("LATER"), under("missing", "accept"))
	if !errors.Is(err, order.ErrNotFound) {
		f.Fatalf("error %v", err)
	}
	_, err = s.Reject(f.Context(), alpha, order.NumberKey(number), "whim", under("reason", "reject"))
	if !errors.Is(err, order.ErrReason) {
		f.Fatalf("error %v", err)
	}
	if err := s.Refuse(f.Context(), alpha, under("form", "nonsense"), order.ErrRange); !errors.Is(err, order.ErrRange) {
		f.Fatalf("error %v", err)
	}
	// Now that it is there the first answer still holds.
	f.create(minimal(alpha, "LATER"))
	_, err = service(f.b, noon).Accept(f.Context(), alpha, order.ReferenceKey("LATER"), under("missing", "accept"))
	f.wantRepeated(err, "accept: revision 0, order not found\x00\xff")
	_, err = service(f.b, noon).Reject(f.Context(), alpha, order.NumberKey(number), "whim", under("reason", "reject"))
	f.wantRepeated(err, "reject: revision 0, reason is not allowed\x00\xff")
	f.wantRepeated(service(f.b, noon).Refuse(f.Context(), alpha, under("form", "nonsense"), order.ErrRange),
		"nonsense: revision 0, the range ends before it begins\x00\xff")
}

func testOtherRequest(f *fixture) {
	first, second := f.create(minimal(alpha, "R-1")), f.create(minimal(alpha, "R-2"))
	if _, err := service(f.a, noon).Accept(f.Context(), alpha, order.NumberKey(first), under("k", "accept")); err != nil {
		f.Fatal(err)
	}
	before := f.tables.rows()
	for _, number := range []int64{first, second, 999} {
		_, err := service(f.b, noon).Reject(f.Context(), alpha, order.NumberKey(number), "", under("k", "reject"))
		if !errors.Is(err, order.ErrKeyReused) {
			f.Errorf("reject of %d under the same key: error %v", number, err)
		}
	}
	f.wantUnchanged(before)
}

func testKeysOfMerchants(f *fixture) {
	for _, merchant := range []int64{alpha, beta} {
		number := f.create(minimal(merchant, fmt.Sprintf("M%d", merchant)))
		done, err := service(f.a, noon).Accept(f.Context(), merchant, order.NumberKey(number), under("k", fmt.Sprint(merchant)))
		if err != nil || done.Revision != 2 {
			f.Errorf("merchant %d: %+v, error %v", merchant, done, err)
		}
	}
}

func testNotKept(f *fixture) {
	number := f.create(minimal(alpha, "R"))
	before := f.tables.rows()
	unkept := under("k", "accept")
	unkept.Answer = func(order.Changed, error) ([]byte, error) { return nil, nil }
	if _, err := service(f.a, noon).Accept(f.Context(), alpha, order.NumberKey(999), unkept); !errors.Is(err, order.ErrNotFound) {
		f.Errorf("error %v", err)
	}
	f.wantUnchanged(before)
	// Without its answer a change is not made.
	fault := errors.New("no answer")
	for _, answer := range []func(order.Changed, error) ([]byte, error){
		unkept.Answer,
		func(order.Changed, error) ([]byte, error) { return nil, fault },
	} {
		unkept.Answer = answer
		if _, err := service(f.a, noon).Accept(f.Context(), alpha, order.NumberKey(number), unkept); err == nil {
			f.Error("a change without an answer was made")
		}
	}
	f.wantUnchanged(before)
	if _, err := service(f.b, noon).Accept(f.Context(), alpha, order.NumberKey(number), under("k", "accept")); err != nil {
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
				_, err := service(store, noon).Accept(f.Context(), alpha, order.NumberKey(number), under(key, "accept"))
				var repeated *order.Repeated
				switch {
				case err == nil:
					made.Store(i, true)
				case errors.As(err, &repeated):
					again.Store(string(repeated.Answer), true)
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
		if got := f.order(f.b, alpha, order.NumberKey(number)); count != 1 || got.Revision != 2 {
			f.Errorf("%d attempts made the change, the revision is %d", count, got.Revision)
		}
	}
}

// testManyKeys has the same keys used on different orders at once, so that those
// who wait for a key and those who wait for an order meet.
func testManyKeys(f *fixture) {
	const orders = 6
	for _, outcome := range f.add(f.a, numbered(alpha, "R", orders)...) {
		if outcome.Verdict != order.Created {
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
				_, err := service(store, noon).Accept(f.Context(), alpha, order.NumberKey(n), under(key, fmt.Sprint(n)))
				var repeated *order.Repeated
				if err != nil && !errors.As(err, &repeated) && !errors.Is(err, order.ErrKeyReused) && !errors.Is(err, order.ErrCannotAccept) {
					f.Errorf("accept of %d under %s: %v", n, key, err)
				}
			}
		})
	}
	group.Wait()
}

// hold takes a key with a place for a file, as an upload does.
func (f *fixture) hold(store Store, key order.Key, attempt order.Attempt, name string, at time.Time) (int64, error) {
	var id int64
	err := store.InTx(f.Context(), func(tx order.Tx) error {
		if err := tx.TakeKey(f.Context(), alpha, attempt.Key, attempt.Request, at); err != nil {
			return err
		}
		head, err := tx.LockOrder(f.Context(), alpha, key)
		if err != nil {
			return err
		}
		if id, err = tx.ReserveInvoice(f.Context(), head, fileNamed(name, at)); err != nil {
			return err
		}
		return tx.HoldKey(f.Context(), head, attempt.Key, id)
	})
	return id, err
}

func testKeyHeld(f *fixture) {
	number := f.create(minimal(alpha, "R"))
	key, attempt := order.NumberKey(number), under("k", "upload")
	stored := order.StoredInvoice{MerchantID: alpha, OrderNumber: number, Reference: "R"}
	giveBack := map[string]func(id int64) error{
		"released": func(id int64) error {
			return inOrder(f.Context(), f.a, alpha, key, func(tx order.Tx, head order.Head) error {
				return tx.ReleaseInvoice(f.Context(), head, id)
			})
		},
		"abandoned": func(id int64) error {
			taken := stored
			taken.ID = id
			_, err := f.a.AbandonReservation(f.Context(), taken, noon)
			return err
		},
	}
	for name, end := range giveBack {
		id, err := f.hold(f.a, key, attempt, name+".pdf", noon)
		if err != nil {
			f.Fatalf("%s: %v", name, err)
		}
		for _, store := range []Store{f.a, f.b} {
			if _, err := f.hold(store, key, attempt, "again.pdf", noon); !errors.Is(err, order.ErrKeyRunning) {
				f.Errorf("while it is under way: error %v", err)
			}
			if _, err := f.hold(store, key, under("k", "other"), "other.pdf", noon); !errors.Is(err, order.ErrKeyReused) {
				f.Errorf("another request meanwhile: error %v", err)
			}
		}
		if err := end(id); err != nil {
			f.Fatalf("%s: %v", name, err)
		}
	}
	// Neither has left the key stuck.
	id, err := f.hold(f.b, key, attempt, "a.pdf", noon)
	if err != nil {
		f.Fatal(err)
	}
	err = inOrder(f.Context(), f.a, alpha, key, func(tx order.Tx, head order.Head) error {
		return errors.Join(
			tx.ActivateInvoice(f.Context(), head, id),
			tx.KeepAnswer(f.Context(), alpha, "k", attempt.Request, []byte("stored")),
			tx.Append(f.Context(), head, order.Event{Type: order.InvoiceUploaded, Actor: order.Merchant, At: noon, InvoiceID: id}),
		)
	})
	if err != nil {
		f.Fatal(err)
	}
	_, err = f.hold(f.b, key, attempt, "again.pdf", noon)
	f.wantRepeated(err, "stored")
	// Withdrawn, the file is another matter: the answer stays.
	if _, err := service(f.a, noon).DeleteInvoice(f.Context(), alpha, key, id, order.Attempt{}); err != nil {
		f.Fatal(err)
	}
	_, err = f.hold(f.b, key, attempt, "again.pdf", noon)
	f.wantRepeated(err, "stored")
}

func testAnswerLife(f *fixture) {
	number := f.create(minimal(alpha, "R"))
	accept := func(at time.Time, request string) error {
		_, err := service(f.a, at).Accept(f.Context(), alpha, order.NumberKey(number), under("k", request))
		return err
	}
	if err := accept(noon, "accept"); err != nil {
		f.Fatal(err)
	}
	last := noon.Add(order.AnswerLife - time.Second)
	f.wantRepeated(accept(last, "accept"), acceptedAnswer)
	if err := accept(last, "other"); !errors.Is(err, order.ErrKeyReused) {
		f.Errorf("error %v", err)
	}
	if err := accept(noon.Add(order.AnswerLife), "other"); !errors.Is(err, order.ErrCannotAccept) {
		f.Errorf("after a day: error %v, want it to run anew", err)
	}
	f.wantRepeated(accept(noon.Add(2*order.AnswerLife-time.Second), "other"),
		"other: revision 0, order cannot be accepted in its state\x00\xff")
}

func testForgotten(f *fixture) {
	keep := func(merchantID int64, key string, at time.Time) {
		if err := service(f.a, at).Refuse(f.Context(), merchantID, under(key, "r"), order.ErrRange); !errors.Is(err, order.ErrRange) {
			f.Fatal(err)
		}
	}
	for i := range 7 {
		for _, merchant := range []int64{alpha, beta} {
			keep(merchant, fmt.Sprintf("k-%d", i), noon.Add(time.Duration(i)*time.Hour))
		}
	}
	limit := noon.Add(3 * time.Hour)
	for _, want := range []int{3, 3, 2, 0} {
		if n, err := f.b.ForgetAnswers(f.Context(), limit, 3); err != nil || n != want {
			f.Fatalf("forgot %d, error %v; want %d", n, err, want)
		}
	}
	left := f.tables.rows()["idempotency_keys"]
	if len(left) != 6 || strings.Contains(strings.Join(left, "\n"), "k-3") {
		f.Errorf("left are %d:\n%s", len(left), strings.Join(left, "\n"))
	}
	if n, err := service(f.a, noon.Add(4*time.Hour+order.AnswerLife)).ForgetAnswers(f.Context()); err != nil || n != 2 {
		f.Errorf("the service forgot %d, error %v; want 2", n, err)
	}
}

func testOddKeys(f *fixture) {
	var printable strings.Builder
	for c := byte(' '); c <= '~'; c++ {
		printable.WriteByte(c)
	}
	keys := []string{"a", "A", "a ", "'; --", printable.String(), strings.Repeat("k", 255), strings.Repeat("k", 254), "%", "_"}
	every := make([]byte, 1<<16)
	for i := range every {
		every[i] = byte(i)
	}
	for i, key := range keys {
		attempt := under(key, fmt.Sprint(i))
		attempt.Answer = func(order.Changed, error) ([]byte, error) { return append(every, byte(i)), nil }
		if err := service(f.a, noon).Refuse(f.Context(), alpha, attempt, order.ErrRange); !errors.Is(err, order.ErrRange) {
			f.Fatalf("%q: %v", key, err)
		}
	}
	for i, key := range keys {
		err := service(f.b, noon).Refuse(f.Context(), alpha, under(key, fmt.Sprint(i)), order.ErrRange)
		var repeated *order.Repeated
		if !errors.As(err, &repeated) || !bytes.Equal(repeated.Answer, append(every, byte(i))) {
			f.Errorf("%q: error %v", key, err)
		}
	}
}

// testOnlyAsKnown has many who know the same revision of an order change it at
// once: one does, and the others are told.
func testOnlyAsKnown(f *fixture) {
	number := f.create(minimal(alpha, "R"))
	key := order.NumberKey(number)
	var ids []int64
	for i := range order.MaxInvoices {
		ids = append(ids, f.upload(f.a, key, fmt.Sprintf("%d.pdf", i)))
	}
	known := f.order(f.a, alpha, key).Revision
	asKnown := order.Attempt{Matches: func(head order.Head) bool { return head.Revision == known }}
	changes := []func(context.Context, *order.Service) (order.Changed, error){
		func(ctx context.Context, s *order.Service) (order.Changed, error) {
			return s.Accept(ctx, alpha, key, asKnown)
		},
		func(ctx context.Context, s *order.Service) (order.Changed, error) {
			return s.Reject(ctx, alpha, key, "", asKnown)
		},
	}
	for _, id := range ids {
		changes = append(changes, func(ctx context.Context, s *order.Service) (order.Changed, error) {
			return s.DeleteInvoice(ctx, alpha, key, id, asKnown)
		})
	}
	made := make(chan order.Changed, len(changes))
	var group sync.WaitGroup
	for i, change := range changes {
		group.Go(func() {
			done, err := change(f.Context(), service([]Store{f.a, f.b}[i%2], noon))
			switch {
			case err == nil:
				made <- done
			case !errors.Is(err, order.ErrChanged):
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
