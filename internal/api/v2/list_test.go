package v2

import (
	"errors"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/api/orderapi"
	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

func parseQuery(query string) (orderapi.List, error) {
	r := httptest.NewRequest("GET", "/v2/orders", nil)
	r.URL.RawQuery = query
	return listParams.Parse(&web.Request{Request: r})
}

func day(text string) order.Day {
	d, ok := order.ParseDay(text)
	if !ok {
		panic(text)
	}
	return d
}

func TestParseListParams(t *testing.T) {
	t.Parallel()
	filter := func(change func(*order.Filter)) order.Filter {
		f := order.NewFilter()
		change(&f)
		return f
	}
	plain := order.NewFilter()
	page3 := filter(func(f *order.Filter) { f.Page = 3 })
	size := func(n int64) order.Filter { return filter(func(f *order.Filter) { f.PageSize = n }) }
	type row struct {
		query string
		want  order.Filter
		state string // empty: null
	}
	tests := []row{
		{"", plain, ""},
		{"page=3", page3, ""},
		{"itemsPerPage=25", size(25), ""},
		{"itemsPerPage=100", size(100), ""},
		{"itemsPerPage=101", size(100), ""},
		{"itemsPerPage=9223372036854775807", size(100), ""},
		{"page=9223372036854775807", filter(func(f *order.Filter) { f.Page = 9223372036854775807 }), ""},
		{"dateFrom=2026-05-01", filter(func(f *order.Filter) { f.From = day("2026-05-01") }), ""},
		{"dateTo=2026-05-01", filter(func(f *order.Filter) { f.To = day("2026-05-01") }), ""},
		{"dateFrom=2026-05-01&dateTo=2026-05-01", filter(func(f *order.Filter) { f.From, f.To = day("2026-05-01"), day("2026-05-01") }), ""},
		{"page=&itemsPerPage=&state=&dateFrom=&dateTo=", plain, ""},
		{"items_per_page=25", size(25), ""},
		{"itemsPerPage=25&items_per_page=x", size(25), ""},
		{"date_from=2026-05-01T15:00:00.5Z", filter(func(f *order.Filter) { f.From = day("2026-05-01") }), ""},
		{"date_to=2026-05-01&dateTo=", filter(func(f *order.Filter) { f.To = day("2026-05-01") }), ""},
		{"period=x&page=3&x=1&x=2", page3, ""},
	}
	for _, state := range order.States() {
		want := filter(func(f *order.Filter) { f.AnyState, f.States = false, []order.State{state} })
		tests = append(tests, row{"state=" + state.String(), want, state.String()}, row{"status=" + state.String(), want, state.String()})
	}
	for _, test := range tests {
		t.Run(test.query, func(t *testing.T) {
			t.Parallel()
			got, err := parseQuery(test.query)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got.Filter); diff != "" {
				t.Errorf("filter (-want +got):\n%s", diff)
			}
			if (got.State == nil) != (test.state == "") || got.State != nil && *got.State != test.state {
				t.Errorf("state %v, want %q", got.State, test.state)
			}
		})
	}
}

// badQueries are queries that are refused, by parameter in the message.
var badQueries = map[string]string{
	"page=0": "page", "page=-1": "page", "page=1.5": "page", "page=01": "page", "page=%2B1": "page",
	"page=1e3": "page", "page=x": "page", "page=9223372036854775808": "page", "page=1&page=1": "page",
	"itemsPerPage=0": "itemsPerPage", "itemsPerPage=-5": "itemsPerPage", "itemsPerPage=2.0": "itemsPerPage",
	"itemsPerPage=1&itemsPerPage=1": "itemsPerPage",
	"state=O":                       "state", "state=Registered": "state", "state=unknown": "state", "state=accepted": "state",
	"state=registered,canceled": "state", "state=registered&state=canceled": "state", "state=%00": "state", "state=%FF": "state",
	"dateFrom=2026-02-30": "dateFrom", "date_from=x": "date_from", "status=O": "status", "items_per_page=0": "items_per_page",
	"dateFrom=01/05/2026": "dateFrom", "dateFrom=2026-5-1": "dateFrom", "dateTo=2027-02-29": "dateTo",
	"dateTo=2026-05-01&dateTo=": "dateTo", "dateFrom=2026-05-02&dateTo=2026-05-01": "dateFrom",
	"page=%zz": "query",
}

func TestParseListParamsRefusals(t *testing.T) {
	t.Parallel()
	for query, name := range badQueries {
		t.Run(query, func(t *testing.T) {
			t.Parallel()
			_, err := parseQuery(query)
			var param *web.ParamError
			if !errors.As(err, &param) {
				t.Fatalf("error %v, want a *web.ParamError", err)
			}
			if param.Name != name {
				t.Errorf("error %q, want one of %s", err, name)
			}
		})
	}
}

func FuzzListParams(f *testing.F) {
	for query := range badQueries {
		f.Add(query)
	}
	f.Add("state=completed&page=3&itemsPerPage=2&dateFrom=2026-11-01&dateTo=2026-11-20")
	f.Fuzz(func(t *testing.T, query string) {
		params, err := parseQuery(query)
		if err != nil {
			var param *web.ParamError
			if !errors.As(err, &param) {
				t.Errorf("error %v is no *web.ParamError", err)
			}
			return
		}
		filter := params.Filter
		if filter.Page < 1 || filter.PageSize < 1 || filter.PageSize > order.MaxPageSize {
			t.Errorf("page %d, size %d", filter.Page, filter.PageSize)
		}
		if filter.Normalize() != nil {
			t.Error("the range is reversed")
		}
		if filter.AnyState != (params.State == nil) {
			t.Errorf("any state is %v, state %v", filter.AnyState, params.State)
		}
		if params.State != nil && (len(filter.States) != 1 || filter.States[0].String() != *params.State) {
			t.Errorf("states %v, state %q", filter.States, *params.State)
		}
	})
}

func TestParseRejection(t *testing.T) {
	t.Parallel()
	tests := []struct {
		body string
		want order.Reason
		err  error
	}{
		{``, "", nil},
		{`{}`, "", nil},
		{`{"status":"D"}`, "", nil},
		{`{"reason":"damaged"}`, "damaged", nil},
		{`{"status":"D","reason":"damaged","x":[1]}`, "damaged", nil},
		{`{"status":"D","reason":null}`, "", nil},
		{`{"reason":""}`, "", nil},
		{`{"reason":"nonsense"}`, "nonsense", nil},
		{`{"reasons":"nonsense","state":"G"}`, "", nil},

		{`{"REASON":"nonsense"}`, "", web.ErrInvalidPayload},
		{`{"status":"D","Reason":"damaged"}`, "", web.ErrInvalidPayload},
		{`{"STATUS":"D"}`, "", web.ErrInvalidPayload},
		{` `, "", web.ErrInvalidPayload},
		{`null`, "", web.ErrInvalidPayload},
		{`[]`, "", web.ErrInvalidPayload},
		{`"D"`, "", web.ErrInvalidPayload},
		{`{"status":"D"`, "", web.ErrInvalidPayload},
		{`{"status":"D"} D`, "", web.ErrInvalidPayload},
		{`{"status":"D","status":"D"}`, "", web.ErrInvalidPayload},
		{`{"reason":5}`, "", web.ErrInvalidPayload},
		{`{"status":"D","reason":{}}`, "", web.ErrInvalidPayload},
		{"{\"reason\":\"\xff\"}", "", web.ErrInvalidPayload},
		{`{"reason":"\udc00"}`, "", web.ErrInvalidPayload},
		{strings.Repeat("[", 100000), "", web.ErrInvalidPayload},

		{`{"status":"G"}`, "", errInvalidAction},
		{`{"status":null}`, "", errInvalidAction},
		{`{"status":""}`, "", errInvalidAction},
		{`{"status":"d"}`, "", errInvalidAction},
		{`{"status":4}`, "", errInvalidAction},
		{`{"status":"G","reason":5}`, "", errInvalidAction},
	}
	for _, test := range tests {
		got, err := parseRejection([]byte(test.body))
		if !errors.Is(err, test.err) {
			t.Errorf("parseRejection(%.60s): error %v, want %v", test.body, err, test.err)
		}
		if err == nil && got != test.want {
			t.Errorf("parseRejection(%.60s) = %q, want %q", test.body, got, test.want)
		}
	}
}
