package e2e

import (
	"net/url"
	"strings"
	"testing"

	"merchantorders/internal/testenv"
)

// TestListDates has the date filters of decision 3: UTC, whole days, both ends
// inclusive, each end may stand alone, and params show the range in force.
// Proves decision 3 (dates, time zone, params; a date with a time), spec 2.2, spec 2.4.
func TestListDates(t *testing.T) {
	created := map[string]string{
		"before-1970": "1969-12-31T23:59:59Z",
		"eve":         "2026-04-30T23:59:59Z",
		"start":       "2026-05-01T00:00:00Z",
		"offset":      "2026-05-02T01:30:00+02:00", // 2026-05-01 23:30:00 UTC
		"end":         "2026-05-01T23:59:59Z",
		"next":        "2026-05-02T00:00:00Z",
		"leap":        "2028-02-29T12:00:00Z",
		"far":         "2099-12-31T23:59:59Z",
	}
	everything := []string{"far", "leap", "next", "end", "offset", "start", "eve", "before-1970"}
	tests := []struct {
		query    string
		want     []string
		from, to string
	}{
		{"", everything, "1970-01-01", "<today>"},
		{"FROM=2026-05-01&TO=2026-05-01", []string{"end", "offset", "start"}, "2026-05-01", "2026-05-01"},
		{"FROM=2026-04-30&TO=2026-05-02", []string{"next", "end", "offset", "start", "eve"}, "2026-04-30", "2026-05-02"},
		{"TO=2026-04-30", []string{"eve", "before-1970"}, "1970-01-01", "2026-04-30"},
		{"FROM=2026-05-02", []string{"far", "leap", "next"}, "2026-05-02", "<today>"},
		{"FROM=2098-01-01", []string{"far"}, "2098-01-01", "2098-01-01"},
		{"FROM=2100-01-01", []string{}, "2100-01-01", "2100-01-01"},
		{"FROM=0001-01-01", everything, "0001-01-01", "<today>"},
		{"TO=1969-12-31", []string{"before-1970"}, "1969-12-31", "1969-12-31"},
		{"TO=2098-01-01", everything[1:], "1970-01-01", "2098-01-01"},
		{"FROM=&TO=", everything, "1970-01-01", "<today>"},

		{"FROM=2026-05-01T15:00:00.250Z&TO=2026-05-02T01:00:00%2B02:00", []string{"end", "offset", "start"}, "2026-05-01", "2026-05-01"},
		{"FROM=2026-04-30T23:30:00-01:00&TO=2026-05-01T00:00:00.1234567", []string{"end", "offset", "start"}, "2026-05-01", "2026-05-01"},
		{"FROM=2026-05-01T15:00Z&TO=2026-05-02T01:00%2B02:00", []string{"end", "offset", "start"}, "2026-05-01", "2026-05-01"},
		{"FROM=2026-04-30T23:30-01:00&TO=2026-05-01+00:00", []string{"end", "offset", "start"}, "2026-05-01", "2026-05-01"},
		{"FROM=2026-04-30T23:30-01&TO=2026-05-02+01:00:00++0200", []string{"end", "offset", "start"}, "2026-05-01", "2026-05-01"},
		{"FROM=2026-05-01+02:30:00%2B02&TO=2026-05-02+01:00:00.5+%2B02:00", []string{"end", "offset", "start"}, "2026-05-01", "2026-05-01"},
		{"FROM=2026-05-01T15:00:00", []string{"far", "leap", "next", "end", "offset", "start"}, "2026-05-01", "<today>"},
		{"FROM=2026-05-01%2015:00:00&TO=2026-05-01%2016:00:00", []string{"end", "offset", "start"}, "2026-05-01", "2026-05-01"},
		{"TO=2026-04-30T00:00:00", []string{"eve", "before-1970"}, "1970-01-01", "2026-04-30"},
	}
	onBothDatabases(t, func(t *testing.T, s *service) {
		names := make(map[string]string)
		for name, at := range created {
			names[s.addOne(t, document{"createdAt": at}).reference] = name
		}
		inEachVersion(t, func(t *testing.T, v version) {
			for _, test := range tests {
				t.Run(test.query, func(t *testing.T) {
					total := asJSON(t, len(test.want))
					a := v.wantParams(t, s, test.query, "1", "10", total, "null", test.from, test.to)
					got := v.references(t, a.body)
					for i, reference := range got {
						got[i] = names[reference]
					}
					testenv.Equal(t, "orders", test.want, got)
				})
			}
		})
	})
}

// TestListStatus has the status filter: every code and name of spec 3.1, the
// value shown in params, and letters that stand for no state.
// Proves decision 2 (set of states, code C), decision 3 (state), spec 2.2, spec 2.4, spec
// 3.1.
func TestListStatus(t *testing.T) {
	onSQLite(t, func(t *testing.T, s *service) {
		orders := everyState(t, s)
		for _, st := range states {
			t.Run(st.name, func(t *testing.T) {
				a := v2.wantParams(t, s, "state="+st.name, "1", "10", "1", `"`+st.name+`"`, "1970-01-01", "<today>")
				testenv.Equal(t, "orders", []string{orders[st].reference}, v2.references(t, a.body))
				testenv.Equal(t, "the state shown", st.name, textAt(t, a.body, "orders.0.state"))
			})
		}
		for letter := 'A'; letter <= 'Z'; letter++ {
			code := string(letter)
			want := []string{}
			for _, st := range states {
				if st.code == code {
					want = append([]string{orders[st].reference}, want...)
				}
			}
			t.Run("code "+code, func(t *testing.T) {
				a := v1.wantParams(t, s, "status="+code, "1", "10", asJSON(t, len(want)), `"`+code+`"`, "1970-01-01", "<today>")
				testenv.Equal(t, "orders", want, v1.references(t, a.body))
				for i := range want {
					testenv.Equal(t, "the status shown", code, textAt(t, a.body, "orders."+asJSON(t, i)+".status"))
				}
			})
		}
	})
}

// TestListRefusals has the queries that are 400. All days that are none are in
// order.TestInvalidDay.
// Proves decision 2 (set of states, code C), decision 3, decision 5 (ids, numbers beyond
// 64 bits; word codes).
func TestListRefusals(t *testing.T) {
	var both, only1, only2 []string
	for _, name := range []string{"page", "SIZE"} {
		for _, value := range []string{"0", "-1", "1.5", "abc", "01", " 1", "null", "1\x00", "9223372036854775808"} {
			both = append(both, name+"="+url.QueryEscape(value))
		}
	}
	for _, name := range []string{"FROM", "TO"} {
		for _, value := range []string{
			"2026-02-30", "2026-5-1", "2026-05-01 ", "tomorrow", "2026-05-01T25:00:00", "2026-02-30T10:00:00", "2026-05-01T", "2026-05-01T15", "2026-05-01T15:00ZZ",
			"2026-05-01T15:00.5", "2026-05-01T15:0", "2026-05-01T15:00:", "2026-05-01T15:00:00+2", "2026-05-01T15:00:00  +02", "2026-05-01T15:00:00+24", "2026-05-01T15:00:00+24:00", "2026-05-01T15:00:00,5", "2026-05-01t15:00:00",
		} {
			both = append(both, name+"="+url.QueryEscape(value))
		}
	}
	both = append(both, "page=1;SIZE=5", "%zz=1", "page=%zz", "page=1&x=%",
		"FROM=2026-05-02&TO=2026-05-01", "FROM=2027-01-01&TO=2026-12-31",
		"page=1&page=1", "page=1&page=2", "page=&page=1", "SIZE=5&SIZE=5", "STATUS=&STATUS=", "FROM=2026-05-01&FROM=2026-05-01",
		"TO=2026-05-01&TO=2026-05-02",
		"STATUS=%00", "STATUS=%FF", "STATUS=*", "STATUS=OG", "STATUS=1", "STATUS=%20", "STATUS=%CE%9F", // a Greek O
	)
	only1 = append(only1, "status=o", "status=g", "status=registered", "status=O%20", "status=O,G", "status=O&status=G",
		"itemsPerPage=0", "itemsPerPage=abc", "itemsPerPage=5&itemsPerPage=5",
		"state=registered", "dateFrom=nonsense", "dateTo=nonsense", "state=O&state=O", "dateFrom=2026-05-02&date_to=2026-05-01")
	only2 = append(only2, "state=O", "state=Registered", "state=REGISTERED", "state=accepted", "state=rejected", "state=cancelled", "state=unknown",
		"state=registered%20", "state=registered,completed", "state=registered&state=completed", "state=pickup-point",
		"items_per_page=abc", "status=O", "status=nonsense", "date_from=nonsense", "date_to=nonsense", "status=registered&status=registered")
	onSQLite(t, func(t *testing.T, s *service) {
		inEachVersion(t, func(t *testing.T, v version) {
			queries := map[string][]string{"v1": append(only1, both...), "v2": append(only2, both...)}[v.name]
			for _, query := range queries {
				query = v.inWords(query)
				t.Run(query, func(t *testing.T) {
					s.do(t, get(v.prefix+"/orders?"+query)).wantRefusal(t, v, invalidQuery, placed{})
				})
			}
		})
	})
}

// TestListTolerates has what a list reads over or reads in another way.
// Proves decision 3 (names of the other version; empty and unknown parameters), spec 2.2,
// spec 2.4.
func TestListTolerates(t *testing.T) {
	tests := []struct{ version, query, size, page, status string }{
		{"both", "page=&SIZE=&STATUS=&FROM=&TO=", "10", "1", "null"},
		{"both", "period=A&time_from=1&time_to=2", "10", "1", "null"},
		{"both", "x=1&x=2&x", "10", "1", "null"},
		{"both", "Page=5&PAGE=abc", "10", "1", "null"},
		{"both", "&&", "10", "1", "null"},
		{"both", "page=%31&SIZE=%37", "7", "1", "null"},
		{"both", "sort=id&order=desc&token=abc", "10", "1", "null"},
		{"v1", "itemsPerPage=3", "3", "1", "null"},
		{"v1", "itemsPerPage=3&items_per_page=4", "4", "1", "null"},
		{"v1", "items_per_page=4&itemsPerPage=3", "4", "1", "null"},
		{"v1", "items_per_page=&itemsPerPage=3", "3", "1", "null"},
		{"v1", "itemsPerPage=500", "100", "1", "null"},
		{"v1", "items_per_page=5&itemsPerPage=abc", "5", "1", "null"},
		{"v1", "status=O&state=registered", "10", "1", `"O"`},
		{"v1", "state=O&status=", "10", "1", `"O"`},
		{"v1", "status=O&page=2", "10", "2", `"O"`},
		{"v2", "items_per_page=3", "3", "1", "null"},
		{"v2", "status=registered", "10", "1", `"registered"`},
		{"v2", "status=O&state=registered&items_per_page=abc&itemsPerPage=5", "5", "1", `"registered"`},
		{"v2", "state=registered&page=2", "10", "2", `"registered"`},
	}
	onSQLite(t, func(t *testing.T, s *service) {
		s.addOne(t)
		inEachVersion(t, func(t *testing.T, v version) {
			for _, test := range tests {
				if test.version == "both" || test.version == v.name {
					t.Run(test.query, func(t *testing.T) {
						v.wantParams(t, s, test.query, test.page, test.size, "1", test.status, "1970-01-01", "<today>")
					})
				}
			}
		})
	})
}

// TestLongQueries has the limit of 8 KiB on the query of every request with a token.
// Proves decision 3 (long and malformed queries).
func TestLongQueries(t *testing.T) {
	onSQLite(t, func(t *testing.T, s *service) {
		inEachVersion(t, func(t *testing.T, v version) {
			o := s.addOne(t)
			for _, path := range []string{v.prefix + "/orders", v.order(o), v2.prefix + "/events"} {
				longest := path + "?x=" + strings.Repeat("y", 8<<10-len("x="))
				s.do(t, get(longest)).ok(t)
				shown := v
				if strings.HasPrefix(path, v2.prefix) {
					shown = v2
				}
				s.do(t, get(longest+"y")).wantRefusal(t, shown, invalidQuery, o)
				s.do(t, get(longest+"y").as(noAuth)).wantRefusal(t, shown, unauthorized, o)
			}
		})
	})
}
