package storetest

import (
	"fmt"
	"slices"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

var auditSubjects = []subject{
	{"audit log/selected", testAuditSelected},
}

// testAuditSelected reads the audit log of two merchants with every kind of filter, in
// pages of every size: the pages together are what the filter selects of all entries.
func testAuditSelected(f *fixture) {
	for i := range 3 {
		cause := order.Cause{By: order.Caller{Actor: order.ActorOperator, TokenID: int64(i), Address: "192.0.2.1"}, At: noon.AddDate(0, 0, i)}
		batch := []order.Incoming{incoming(minimal(alpha, fmt.Sprintf("A-%d", i))), incoming(minimal(beta, fmt.Sprintf("B-%d", i)))}
		testenv.Of(f.a.ImportOrders(f.Context(), batch, cause)).Must(f)
		testenv.NoError(f, inOrder(f.Context(), f.b, alpha, order.ByReference("A-0"), func(tx order.Tx, o order.LockedOrder) error {
			return tx.Transition(f.Context(), o, order.States()[i+1], cause)
		}))
	}
	all := f.auditLog(order.AuditQuery{Limit: 1000})
	if len(all) < 9 || !slices.IsSortedFunc(all, func(a, b order.AuditEntry) int { return b.At.Compare(a.At) }) {
		f.Fatalf("entries %+v", all)
	}
	merchant, nobody := alpha, int64(77)
	day := noon.AddDate(0, 0, 1)
	for name, test := range map[string]struct {
		query order.AuditQuery
		want  int
	}{
		"all":                   {order.AuditQuery{}, len(all)},
		"merchant":              {order.AuditQuery{MerchantID: &merchant, Action: "order.created"}, 3},
		"merchant and day":      {order.AuditQuery{MerchantID: &merchant, From: day, To: day.Add(time.Second)}, 2},
		"no such merchant":      {order.AuditQuery{MerchantID: &nobody}, 0},
		"order":                 {order.AuditQuery{Reference: "A-0"}, 4},
		"no such order":         {order.AuditQuery{Reference: "A-77"}, 0},
		"order of another":      {order.AuditQuery{Reference: "B-0", MerchantID: &merchant}, 0},
		"token":                 {order.AuditQuery{TokenID: 2}, 3},
		"action":                {order.AuditQuery{Action: "order.state_changed"}, 3},
		"from":                  {order.AuditQuery{From: day}, 6},
		"to":                    {order.AuditQuery{To: day, Action: "order.created"}, 2},
		"order and first day":   {order.AuditQuery{Reference: "A-0", To: day}, 2},
		"everything, but later": {order.AuditQuery{From: noon.AddDate(1, 0, 0)}, 0},
	} {
		for _, limit := range []int{1, 2, 1000} {
			test.query.Limit = limit
			testenv.Equal(f, fmt.Sprintf("%s, limit %d: entries", name, limit), test.want, len(f.auditLog(test.query)))
		}
	}
}

// auditLog reads all pages of the audit log.
func (f *fixture) auditLog(query order.AuditQuery) []order.AuditEntry {
	f.Helper()
	var all []order.AuditEntry
	for {
		page := testenv.Of(f.b.AuditLog(f.Context(), query)).Must(f)
		if all = append(all, page.Entries...); page.Next == nil {
			return all
		}
		query.After = page.Next
	}
}
