package storetest

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

var correctionSubjects = []subject{
	{"corrections/with and without a transition", testCorrections},
	{"corrections/refused", testCorrectionRefused},
	{"corrections/the merchant's own data", testMerchantData},
	{"corrections/warnings of deadlines", testDeadlineWarnings},
}

func testCorrections(f *fixture) {
	imported := rich(alpha, "R")
	number := f.create(imported)
	s, later := service(f.a, noon.Add(time.Minute)), service(f.b, noon.Add(time.Hour))
	phone := "+30 210 0000000"
	correction := order.Correction{
		Phone: order.To(&phone), ExpiresAt: order.To(noon.Add(50 * time.Hour)), DispatchUntil: order.To(time.Time{}),
		Shipping: order.AddressCorrection{LastName: order.To("Άλλος"), Street: order.To("Οδός"), Region: order.To("")},
		Carrier:  order.CarrierCorrection{ShipmentIDs: order.To([]int64{7, 8}), TrackingCodes: order.To("Ω-1"), Comments: order.To[*string](nil)},
	}
	want := asRead(imported, number, "Alpha Shop")
	expect := func(when string, result order.WriteResult, err error, at time.Time, fields int, changes int64) {
		f.Helper()
		want.Revision = changes + 1
		if changes > 0 {
			want.UpdatedAt = at
		}
		got := f.order(f.b, alpha, order.ByLegacyID(number))
		if diff := cmp.Diff(want, got); diff != "" || err != nil || len(result.Corrected) != fields ||
			count(result.Revision) != want.Revision || result.State != want.State {
			f.Errorf("%s: %+v, error %v (-want +got):\n%s", when, result, err, diff)
		}
	}

	result, err := s.ChangeOrder(f.Context(), requester(order.ActorOperator), alpha, order.ByReference("R"), order.Update{Correction: correction}, order.Options[order.WriteResult]{})
	changed := correction.Apply(&want)
	expect("alone", result, err, noon.Add(time.Minute), len(changed), 1)
	testenv.NoError(f, inOrder(f.Context(), f.a, alpha, order.ByReference("R"), func(_ order.Tx, locked order.LockedOrder) error {
		testenv.Equal(f, "the column of the deadline", want.ExpiresAt, locked.ExpiresAt)
		return nil
	}))

	before := f.tables.rows()
	result, err = later.ChangeOrder(f.Context(), order.Command(), alpha, order.ByReference("R"), order.Update{Correction: correction}, order.Options[order.WriteResult]{})
	expect("the same again", result, err, noon.Add(time.Minute), 0, 1)
	f.wantUnchanged(before)

	second := order.Correction{Carrier: order.CarrierCorrection{Name: order.To("Other Courier"), TrackingCodes: order.To("Ω-1")}}
	result, err = later.ChangeOrder(f.Context(), order.Command(), alpha, order.ByReference("R"),
		order.Update{To: order.Canceled, Reason: "customer-request", Correction: second}, order.Options[order.WriteResult]{})
	second.Apply(&want)
	want.State = order.Canceled
	expect("with a transition", result, err, noon.Add(time.Hour), 1, 3)

	events, err := f.a.OrderEvents(f.Context(), alpha, order.ByReference("R"), 0, 10)
	if err != nil || len(events) != 4 {
		f.Fatalf("%d events, error %v", len(events), err)
	}
	types := []order.EventType{events[1].Type, events[2].Type, events[3].Type}
	testenv.Equal(f, "events", []order.EventType{order.OrderUpdated, order.OrderUpdated, order.OrderStateChanged}, types)
	if last := events[3]; last.Reason != "customer-request" || events[1].By.RequestID != requester(order.ActorOperator).RequestID || events[1].From != 0 {
		f.Errorf("events %+v", events)
	}

	testenv.Equal(f, "the document again", order.Unchanged, f.add(f.a, incoming(imported))[0].Status)
}

func testCorrectionRefused(f *fixture) {
	f.create(minimal(alpha, "R"))
	before := f.tables.rows()
	change := order.Update{To: order.Completed, Correction: order.Correction{Carrier: order.CarrierCorrection{Name: order.To("X")}}}
	_, err := service(f.a, noon).ChangeOrder(f.Context(), order.Command(), alpha, order.ByReference("R"), change, order.Options[order.WriteResult]{})
	refused, ok := errors.AsType[*order.TransitionError](err)
	if !ok || refused.From != order.Registered || !errors.Is(err, order.ErrInvalidTransition) {
		f.Errorf("error %v", err)
	}
	change.To = 0
	for _, id := range []order.Identifier{order.ByReference("S"), order.ByLegacyID(0)} {
		testenv.Of(service(f.a, noon).ChangeOrder(f.Context(), order.Command(), alpha, id, change, order.Options[order.WriteResult]{})).WantError(f, fmt.Sprintf("%+v", id), order.ErrNotFound)
	}
	testenv.Of(service(f.a, noon).ChangeOrder(f.Context(), order.Command(), beta, order.ByReference("R"), change, order.Options[order.WriteResult]{})).WantError(f, "of another merchant", order.ErrNotFound)
	f.wantUnchanged(before)
}

// testMerchantData changes a merchant's own data of an order: the merchant's search finds
// it, and an import of the same document and corrections leave it as it is.
func testMerchantData(f *fixture) {
	imported := rich(alpha, "R")
	f.create(imported)
	f.create(minimal(alpha, "other"))
	s := service(f.a, noon.Add(time.Minute))
	update := func(reference, note string, fields ...string) {
		f.Helper()
		before := f.order(f.b, alpha, order.ByReference("R"))
		change := order.MerchantDataUpdate{Reference: order.To(&reference), Note: order.To(&note)}
		_, err := s.UpdateMerchantData(f.Context(), order.CommandFor(alpha), order.ByReference("R"), change, order.Options[order.WriteResult]{})
		after := f.order(f.b, alpha, order.ByReference("R"))
		if before.MerchantData = after.MerchantData; len(fields) > 0 {
			before.Revision++
		}
		testenv.NoError(f, err)
		testenv.Equal(f, "the rest of the order", before, after)
		events := testenv.Of(f.b.OrderEvents(f.Context(), alpha, order.ByReference("R"), 0, 10)).Must(f)
		if last := events[len(events)-1]; len(fields) > 0 && (last.Type != order.OrderUpdated || !cmp.Equal(fields, last.Fields)) {
			f.Errorf("event %+v, want the fields %q", last, fields)
		}
	}
	find := func(text, want string) {
		f.Helper()
		search := order.Search{MerchantID: alpha, Text: text, From: order.NoDay, To: order.NoDay, Limit: 10}
		for _, search.MerchantData = range []bool{true, false} {
			page := testenv.Of(f.b.Search(f.Context(), search)).Must(f)
			got := ""
			for _, o := range page.Orders {
				got += o.Reference
			}
			if search.MerchantData && got != want || !search.MerchantData && got != "" {
				f.Errorf("a search for %s, of the merchant itself %t, finds %q, want %q", text, search.MerchantData, got, want)
			}
		}
	}
	find("2027/0815", "")
	update("2027/0815-Ά", "Καλέστε πρώτα, 4711", "merchantReference", "merchantNote")
	before := f.tables.rows()
	update("2027/0815-Ά", "Καλέστε πρώτα, 4711")
	f.wantUnchanged(before)
	own := *f.order(f.a, alpha, order.ByReference("R")).MerchantData.Reference
	for number, want := range map[string]int{own: 1, "2027/0815": 0, strings.ToLower(own): 0, "": 0} {
		orders, version, err := f.b.ByMerchantReference(f.Context(), alpha, number, 9)
		if others, _, _ := f.b.ByMerchantReference(f.Context(), beta, number, 9); err != nil || len(orders) != want || len(others) > 0 || want > 0 && orders[0].Reference != "R" {
			f.Errorf("orders with the number %q: %+v, of another merchant %+v, error %v", number, orders, others, err)
		}
		if number != "" {
			testenv.Equal(f, "version", testenv.Of(f.b.List(f.Context(), alpha, order.NewFilter())).Must(f).Version, version)
		}
	}
	for _, text := range []string{"2027/0815", "2027/0815-α", "καλεστε", "4711", "ΠΡΩΤΑ 2027/0815-"} {
		find(text, "R")
	}
	testenv.Equal(f, "the document again", order.Unchanged, f.add(f.a, incoming(imported))[0].Status)
	_, err := s.ChangeOrder(f.Context(), order.Command(), alpha, order.ByReference("R"),
		order.Update{Correction: order.Correction{Phone: order.To[*string](nil)}}, order.Options[order.WriteResult]{})
	testenv.NoError(f, err)
	if data := f.order(f.a, alpha, order.ByReference("R")).MerchantData; *data.Reference != "2027/0815-Ά" || *data.Note != "Καλέστε πρώτα, 4711" {
		f.Errorf("after an import and a correction: %+v", data)
	}
	update("", "Καλέστε πρώτα, 4711", "merchantReference")
	find("2027/0815", "")
	find("4711", "R")
	testenv.NoError(f, inOrder(f.Context(), f.a, alpha, order.ByReference("R"), func(tx order.Tx, locked order.LockedOrder) error {
		_, err := tx.EraseOrder(f.Context(), locked, order.Cause{By: order.Command(), At: noon})
		return err
	}))
	find("4711", "")
	testenv.Equal(f, "after the erasure", order.MerchantData{}, f.order(f.a, alpha, order.ByReference("R")).MerchantData)
}

// testDeadlineWarnings lets two instances warn at once: each deadline within the time has
// one event, also one that a correction has moved.
func testDeadlineWarnings(f *fixture) {
	const left = 6 * time.Hour
	document := func(i int, merchantID int64, expiresIn time.Duration) order.Order {
		o := dated(merchantID, fmt.Sprintf("W-%03d", i), noon, order.Registered)
		if expiresIn != 0 {
			o.ExpiresAt = noon.Add(expiresIn)
		}
		return o
	}
	var near []order.Incoming
	for i := range 150 { // more than two batches, in another order than the references
		near = append(near, incoming(document(i, []int64{alpha, beta}[i%2], left-time.Duration(i%7)*time.Minute)))
	}
	f.add(f.a, near...)
	answered := document(901, alpha, time.Hour)
	answered.State = order.InProcessing
	for _, o := range []order.Order{answered, document(902, alpha, 0), document(903, alpha, -time.Second), document(904, alpha, left+time.Second)} {
		f.create(o)
	}
	warn := func(at time.Time, want int) {
		f.Helper()
		var group sync.WaitGroup
		var warned atomic.Int64
		for _, store := range []Store{f.a, f.b} {
			group.Go(func() {
				n, err := service(store, at).WarnOfDeadlines(f.Context(), left)
				if err != nil {
					f.Error(err)
				}
				warned.Add(int64(n))
			})
		}
		group.Wait()
		testenv.Equal(f, fmt.Sprintf("warnings at %s", at), int64(want), warned.Load())
	}
	correct := func(at time.Time, correction order.Correction) {
		f.Helper()
		testenv.Of(service(f.b, at).ChangeOrder(f.Context(), order.Command(), alpha, order.ByReference("W-000"), order.Update{Correction: correction}, order.Options[order.WriteResult]{})).Must(f)
	}
	warn(noon, 150)
	warn(noon, 0)
	correct(noon, order.Correction{DispatchUntil: order.To(noon.Add(time.Hour))})
	warn(noon, 0)
	moved := noon.Add(left + time.Hour)
	correct(noon, order.Correction{ExpiresAt: order.To(moved)})
	warn(noon, 0)
	warn(noon.Add(time.Second), 1) // W-904
	warn(noon.Add(time.Hour), 1)

	events := testenv.Of(f.a.OrderEvents(f.Context(), alpha, order.ByReference("W-000"), 0, 10)).Must(f)
	got := ""
	for _, e := range events {
		got += e.Type.String() + " "
		if e.Type == order.DeadlineNear {
			got += fmt.Sprintf("of %s by %s ", e.ExpiresAt.Sub(noon), e.By.Actor)
		}
	}
	testenv.Equal(f, "events", "order.created order.deadline_near of 6h0m0s by system order.updated order.updated order.deadline_near of 7h0m0s by system ", got)
	if o := f.order(f.a, alpha, order.ByReference("W-002")); o.Revision != 1 || !o.UpdatedAt.IsZero() {
		f.Errorf("a warning has changed the order: %+v", o)
	}
}
