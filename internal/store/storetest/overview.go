package storetest

import (
	"fmt"
	"maps"
	"time"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

var overviewSubjects = []subject{
	{"overview/orders of all merchants", testOverviewCounts},
	{"overview/pages", testOverviewPages},
	{"overview/unanswered orders", testUnanswered},
}

// expectOverview compares the numbers of the overview.
func (f *fixture) expectOverview(when string, states map[order.State]int64, unanswered map[int64]int64) {
	f.Helper()
	o := testenv.Of(f.b.Overview(f.Context(), order.OverviewQuery{Limit: 100}, noon)).Must(f)
	maps.DeleteFunc(o.States, func(_ order.State, n int64) bool { return n == 0 })
	testenv.Equal(f, when+": states", states, o.States)
	got := make(map[int64]int64)
	for _, m := range o.Merchants {
		got[m.MerchantID] = m.Unanswered
	}
	testenv.Equal(f, when+": unanswered", unanswered, got)
}

// addCounted adds orders of two merchants and moves the first. It returns the numbers of
// the orders, by reference.
func (f *fixture) addCounted() map[string]int64 {
	numbers := make(map[string]int64)
	for _, o := range []order.Order{
		dated(alpha, "A-1", noon.AddDate(0, 0, -3), order.Registered), dated(alpha, "A-2", noon, order.Registered),
		dated(alpha, "A-3", noon, order.Completed), dated(beta, "B-1", noon, order.Registered), dated(beta, "B-2", noon, order.Canceled),
	} {
		numbers[o.Reference] = f.create(o)
	}
	f.moveCounted(numbers["A-1"], order.InProcessing)
	return numbers
}

func (f *fixture) moveCounted(number int64, to order.State) {
	f.Helper()
	testenv.NoError(f, transitionTo(f.Context(), f.a, alpha, number, to, noon))
}

func testOverviewCounts(f *fixture) {
	f.expectOverview("empty", map[order.State]int64{}, map[int64]int64{})
	f.addCounted()
	f.expectOverview("after an import and a transition", map[order.State]int64{
		order.Registered: 2, order.InProcessing: 1, order.Completed: 1, order.Canceled: 1,
	}, map[int64]int64{alpha: 1, beta: 1})
	testenv.NoError(f, inOrder(f.Context(), f.a, beta, order.ByReference("B-1"), func(tx order.Tx, o order.LockedOrder) error {
		_, err := tx.DeleteOrder(f.Context(), o, order.Cause{By: order.Caller{Actor: order.ActorSystem}, At: noon})
		return err
	}))
	f.expectOverview("after an order was deleted", map[order.State]int64{
		order.Registered: 1, order.InProcessing: 1, order.Completed: 1, order.Canceled: 1,
	}, map[int64]int64{alpha: 1})
}

// testOverviewPages reads the merchants a page at a time: those with the most first, and
// of two with as many the one with the lower id.
func testOverviewPages(f *fixture) {
	const gamma, delta = 12, 357
	f.addMerchant(gamma, "Gamma Shop")
	f.addMerchant(delta, "Delta Shop")
	for i, merchant := range []int64{alpha, beta, beta, gamma} {
		f.create(dated(merchant, fmt.Sprintf("P-%d", i), noon.AddDate(0, 0, -i), order.Registered))
	}
	want := []order.MerchantUnanswered{
		{MerchantID: beta, Name: "Beta Shop", Unanswered: 2, Oldest: noon.AddDate(0, 0, -2)},
		{MerchantID: gamma, Name: "Gamma Shop", Unanswered: 1, Oldest: noon.AddDate(0, 0, -3)},
		{MerchantID: alpha, Name: "Alpha Shop", Unanswered: 1, Oldest: noon},
	}
	for limit := 1; limit <= 4; limit++ {
		var got []order.MerchantUnanswered
		query, pages := order.OverviewQuery{Limit: limit}, 0
		for more := true; more; pages++ {
			o := testenv.Of(f.b.Overview(f.Context(), query, noon)).Must(f)
			got = append(got, o.Merchants...)
			query.After, more = o.Next, o.Next != nil
		}
		if diff := cmp.Diff(want, got); diff != "" || pages != (len(want)+limit-1)/limit {
			f.Errorf("limit %d: %d pages (-want +got):\n%s", limit, pages, diff)
		}
	}
}

// testUnanswered reads the unanswered orders in pages of every size: by deadline, and
// then by creation.
func testUnanswered(f *fixture) {
	for i, o := range []struct {
		deadline time.Duration // 0: none
		created  int           // days before noon
		state    order.State
	}{
		{0, 1, order.Registered}, {2 * time.Hour, 0, order.Registered}, {0, 2, order.Registered}, {time.Hour, 3, order.InProcessing},
		{time.Hour, 1, order.Registered}, {time.Hour, 2, order.Registered}, {0, 2, order.Registered}, {-time.Hour, 0, order.Registered},
		{0, 5, order.Canceled},
	} {
		document := dated(alpha, string(rune('A'+i)), noon.AddDate(0, 0, -o.created), o.state)
		if o.deadline != 0 {
			document.ExpiresAt = noon.Add(o.deadline)
		}
		f.create(document)
	}
	f.create(dated(beta, "foreign", noon, order.Registered))
	read := func(query order.UnansweredQuery) (got string) {
		f.Helper()
		for {
			page := testenv.Of(f.b.Unanswered(f.Context(), alpha, query)).Must(f)
			for _, o := range page.Orders {
				got += o.Reference
				whole := f.order(f.a, alpha, order.ByReference(o.Reference))
				if !o.ExpiresAt.Equal(whole.ExpiresAt) || !o.CreatedAt.Equal(whole.CreatedAt) {
					f.Errorf("%+v, want %+v", o, whole)
				}
			}
			if query.After = page.Next; page.Next == nil {
				return got
			}
			got += " "
		}
	}
	for limit, want := range map[int]string{1: "H F E B C G A", 2: "HF EB CG A", 4: "HFEB CGA", 7: "HFEBCGA", 100: "HFEBCGA"} {
		testenv.Equal(f, fmt.Sprintf("pages of %d", limit), want, read(order.UnansweredQuery{Limit: limit}))
	}
	testenv.Equal(f, "with a deadline before another", "HF E", read(order.UnansweredQuery{Limit: 2, ExpiresBefore: noon.Add(2 * time.Hour)}))
}
