package e2e

import (
	"testing"

	"merchantorders/internal/testenv"
)

// TestDelete withdraws invoice files through each version (spec 4.4): the
// response has what is left, both versions show it at once, and what was deleted
// is gone for good.
// Proves decision 6 (deleted files), spec 2.1, spec 4.3, spec 4.4.
func TestDelete(t *testing.T) {
	on(t, backends, func(t *testing.T, s *service) {
		inEachVersion(t, func(t *testing.T, v version) {
			o := s.addOne(t)
			a := s.uploaded(t, v, o, "a.pdf", "a")
			b := s.uploaded(t, v, o, "b.pdf", "b")
			c := s.uploaded(t, v, o, "c.pdf", "c")
			left := []entry{a, b, c}
			for _, gone := range []int{1, 1, 0} { // b, c, a
				e := left[gone]
				left = append(left[:gone:gone], left[gone+1:]...)
				want := "[]"
				for i, rest := range left {
					text := `{"id":` + asJSON(t, rest.id) + `,"url":` + asJSON(t, rest.url) + `,"created_at":"` + rest.created + `"}`
					if i == 0 {
						want = "[" + text + "]"
					} else {
						want = want[:len(want)-1] + "," + text + "]"
					}
				}
				s.do(t, remove(v.invoice(o, e.id))).want(t, 200, `{"message":"success","invoices":`+want+`}`)
				testenv.Equal(t, "files shown", len(left), len(s.entries(t, o)))
				testenv.Equal(t, "status of the deleted file", 404, s.do(t, get(s.path(t, e.url))).status)
				for _, again := range versions {
					s.do(t, remove(again.invoice(o, e.id))).wantRefusal(t, again, invoiceNotFound, o)
				}
				for _, rest := range left {
					s.do(t, get(s.path(t, rest.url))).ok(t)
				}
			}
		})
	})
}

// TestDeleteRefusals has the refusals of a delete (spec 7.1, decision 5).
// Proves decision 5 (ids, numbers beyond 64 bits), decision 6 (order of checks), spec 7.1,
// spec 7.2.
func TestDeleteRefusals(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, s *service) {
		other := s.another(t)
		o, sibling, foreign := s.addOne(t), s.addOne(t), other.addOne(t)
		stored := s.uploaded(t, v1, o, "a.pdf", "a")
		siblings := s.uploaded(t, v1, sibling, "a.pdf", "b")
		foreigns := other.uploaded(t, v1, foreign, "a.pdf", "c")
		missing := placed{number: 999_999_999, reference: "missing"}
		inEachVersion(t, func(t *testing.T, v version) {
			id := "/" + asJSON(t, stored.id)
			tests := []struct {
				name, path string
				want       refusal
			}{
				{"unknown invoice", v.invoices(o) + "/999999999", invoiceNotFound},
				{"invoice beyond 64 bits", v.invoices(o) + "/9223372036854775808", invoiceNotFound},
				{"another order's invoice", v.invoice(o, siblings.id), invoiceNotFound},
				{"another order's invoice, the other way", v.invoice(sibling, stored.id), invoiceNotFound},
				{"another merchant's invoice", v.invoice(o, foreigns.id), invoiceNotFound},
				{"another merchant's order", v.invoice(foreign, foreigns.id), invoiceNotFound},
				{"own invoice of another merchant's order", v.invoice(foreign, stored.id), invoiceNotFound},
				{"missing order", v.invoice(missing, stored.id), invoiceNotFound},
				{"id 0", v.invoices(o) + "/0", invalidParams},
				{"id with a zero before it", v.invoices(o) + "/0" + id[1:], invalidParams},
				{"id a word", v.invoices(o) + "/abc", invalidParams},
				{"id with NUL", v.invoices(o) + id + "%00", invalidParams},
				{"id with a slash", v.invoices(o) + "/1%2F2", invalidParams},
				{"bad id of a missing order", v.invoices(missing) + "/abc", invalidParams},
			}
			for _, test := range tests {
				t.Run(test.name, func(t *testing.T) {
					s.do(t, remove(test.path)).wantRefusal(t, v, test.want, o)
				})
			}
		})
		for _, name := range []string{"abc", "0", "-1", "1.5", "+1", "007", "%00", "%FF", "1%2F2", o.reference} {
			t.Run("v1 order id "+name, func(t *testing.T) {
				s.do(t, remove("/api/orders/"+name+"/invoices/1")).wantRefusal(t, v1, invalidParams, placed{})
			})
		}
		t.Run("v1 order id beyond 64 bits", func(t *testing.T) {
			s.do(t, remove("/api/orders/99999999999999999999/invoices/1")).wantRefusal(t, v1, invoiceNotFound, placed{})
		})
		for _, name := range []string{"%00", "%FF", "a%2Fb", "%CE%A9", "-a", "a%20b"} {
			t.Run("v2 order reference "+name, func(t *testing.T) {
				s.do(t, remove("/v2/orders/"+name+"/invoices/1")).wantRefusal(t, v2, invoiceNotFound, placed{})
			})
		}
		if got := s.entries(t, o); len(got) != 1 || got[0] != stored {
			t.Errorf("one of them has changed the order: %v", got)
		}
		if got := other.entries(t, foreign); len(got) != 1 || got[0] != foreigns {
			t.Errorf("one of them has changed the other merchant's order: %v", got)
		}
	})
}
