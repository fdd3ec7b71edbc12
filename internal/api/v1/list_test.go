package v1

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
	r := httptest.NewRequest("GET", "/api/orders", nil)
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
	states := func(s ...order.State) order.Filter {
		return filter(func(f *order.Filter) { f.AnyState, f.States = false, s })
	}
	from := filter(func(f *order.Filter) { f.From = day("2026-05-01") })
	to := filter(func(f *order.Filter) { f.To = day("2026-05-01") })
	tests := []struct {
		query  string
		want   order.Filter
		status string // empty: null
	}{
		{"", plain, ""},
		{"page=3", page3, ""},
		{"items_per_page=25", size(25), ""},
		{"itemsPerPage=25", size(25), ""},
		{"itemsPerPage=25&items_per_page=7", size(7), ""},
		{"items_per_page=7&itemsPerPage=25", size(7), ""},
		{"items_per_page=&itemsPerPage=25", size(25), ""},
		{"items_per_page=100", size(100), ""},
		{"items_per_page=101", size(100), ""},
		{"items_per_page=9223372036854775807", size(100), ""},
		{"page=9223372036854775807", filter(func(f *order.Filter) { f.Page = 9223372036854775807 }), ""},
		{"status=O", states(order.Registered), "O"},
		{"status=C", states(order.Completed, order.DeliveredToCustomer, order.ReturnCanceled), "C"},
		{"status=E", states(), "E"},
		{"status=K", states(), "K"},
		{"date_from=2026-05-01", from, ""},
		{"date_to=2026-05-01", to, ""},
		{"date_from=2026-05-01T15:00:00", from, ""},
		{"date_from=2026-05-01+15%3A00%3A00", from, ""},
		{"date_to=2026-05-01%2023:59:59", to, ""},
		{"date_from=2026-05-01T15:00:00.5Z", from, ""},
		{"dateFrom=2026-05-01", from, ""},
		{"dateTo=2026-05-01", to, ""},
		{"date_to=2026-05-01&dateTo=x", to, ""},
		{"state=O", states(order.Registered), "O"},
		{"state=registered&status=O", states(order.Registered), "O"},
		{"items_per_page=7&itemsPerPage=x", size(7), ""},
		{"date_from=2026-05-01&date_to=2026-05-01", filter(func(f *order.Filter) { f.From, f.To = day("2026-05-01"), day("2026-05-01") }), ""},
		{"date_from=0000-01-01&date_to=9999-12-31", filter(func(f *order.Filter) { f.From, f.To = day("0000-01-01"), day("9999-12-31") }), ""},
		{"page=&items_per_page=&status=&date_from=&date_to=", plain, ""},
		{"period=A&time_from=01/01/2026&time_to=&page=3&x=1&x=2", page3, ""},
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
			if status := textOf(got.State); status != test.status || (got.State == nil) != (test.status == "") {
				t.Errorf("status %q, want %q", status, test.status)
			}
		})
	}
}

// badQueries are queries that are refused, by parameter in the message.
var badQueries = map[string]string{
	"page=0": "page", "page=-1": "page", "page=1.5": "page", "page=01": "page", "page=%2B1": "page",
	"page=1e3": "page", "page=x": "page", "page=+1": "page", "page=9223372036854775808": "page",
	"page=99999999999999999999999": "page", "page=1&page=1": "page", "page=1&page=": "page", "page=%D9%A3": "page",
	"items_per_page=0": "items_per_page", "items_per_page=-5": "items_per_page", "items_per_page=2.0": "items_per_page",
	"items_per_page=ten": "items_per_page", "items_per_page=1&items_per_page=2": "items_per_page",
	"itemsPerPage=0": "itemsPerPage", "itemsPerPage=1&itemsPerPage=1": "itemsPerPage",
	"status=CC": "status", "status=c": "status", "status=1": "status", "status=%CE%91": "status", "status=registered": "status",
	"status=+": "status", "status=O&status=O": "status", "status=%00": "status", "status=%FF": "status",
	"date_from=2026-02-30": "date_from", "date_from=2026-13-01": "date_from", "date_from=20260501": "date_from",
	"date_from=01/05/2026": "date_from", "date_from=2026-5-1": "date_from", "date_from=2026-05-01T": "date_from",
	"date_from=2026-05-01T15:00": "date_from", "date_from=2026-05-01T25:00:00": "date_from",
	"state=registered": "state", "state=O&state=O": "state", "dateFrom=x": "dateFrom", "dateFrom=2026-05-02&date_to=2026-05-01": "dateFrom",
	"date_from=2026-05-01T9:00:00": "date_from", "date_from=today": "date_from", "date_from=-0001-01-01": "date_from",
	"date_from=2026-05-01&date_from=2026-05-02": "date_from", "date_to=2027-02-29": "date_to",
	"date_from=2026-05-02&date_to=2026-05-01":                   "date_from",
	"date_from=2026-05-02T00:00:00&date_to=2026-05-01T23:59:59": "date_from",
	"page=%zz": "query", "a=1;b=2": "query",
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
	f.Add("status=C&page=3&items_per_page=2&date_from=2026-11-01T00:00:00&date_to=2026-11-20")
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
			t.Errorf("any state is %v, status %v", filter.AnyState, params.State)
		}
		if params.State != nil && !strings.Contains(query, *params.State) && !strings.Contains(query, "%") {
			t.Errorf("status %q is not in the query", *params.State)
		}
	})
}

func TestParseAction(t *testing.T) {
	t.Parallel()
	accept := action{accept: true}
	reject := action{}
	because := func(reason order.Reason) action { return action{reason: reason} }
	tests := []struct {
		body string
		want action
		err  error
	}{
		{`{"status":"G"}`, accept, nil},
		{` {"status" : "G"} ` + "\n", accept, nil},
		{`{"status":"\u0047"}`, accept, nil},
		{`{"status":"G","reason":"nonsense"}`, accept, nil},
		{`{"status":"G","reason":5}`, accept, nil},
		{`{"status":"G","notify_user":1,"details":{"a":[]}}`, accept, nil},
		{`{"status":"G","state":"D"}`, accept, nil},
		{`{"status":"D"}`, reject, nil},
		{`{"status":"D","reason":null}`, reject, nil},
		{`{"status":"D","reason":""}`, reject, nil},
		{`{"status":"D","reason":"damaged"}`, because("damaged"), nil},
		{`{"status":"D","reason":"nonsense"}`, because("nonsense"), nil},

		{`{"status":"D","reason":5}`, action{}, web.ErrInvalidPayload},
		{`{"status":"D","reason":["damaged"]}`, action{}, web.ErrInvalidPayload},
		{`{"status":"D","reason":false}`, action{}, web.ErrInvalidPayload},
		{``, action{}, web.ErrInvalidPayload},
		{`{}`, action{}, web.ErrInvalidPayload},
		{`null`, action{}, web.ErrInvalidPayload},
		{`[]`, action{}, web.ErrInvalidPayload},
		{`[{"status":"G"}]`, action{}, web.ErrInvalidPayload},
		{`"G"`, action{}, web.ErrInvalidPayload},
		{`{"status":"G"`, action{}, web.ErrInvalidPayload},
		{`{"status":"G"}x`, action{}, web.ErrInvalidPayload},
		{`{"status":"G"}{"status":"D"}`, action{}, web.ErrInvalidPayload},
		{`{"status":"G","status":"G"}`, action{}, web.ErrInvalidPayload},
		{`{"status":"D","reason":"damaged","reason":"damaged"}`, action{}, web.ErrInvalidPayload},
		{`{"status":"G","x":{"a":1,"a":2}}`, action{}, web.ErrInvalidPayload},
		{`{"STATUS":"G"}`, action{}, web.ErrInvalidPayload},
		{`{"Status":"G"}`, action{}, web.ErrInvalidPayload},
		{`{"\u017ftatus":"G"}`, action{}, web.ErrInvalidPayload},
		{`{"status":"D","REASON":"damaged"}`, action{}, web.ErrInvalidPayload},
		{`{"status":"G","Status":"D"}`, action{}, web.ErrInvalidPayload},
		{`{"status":"X","Reason":"x"}`, action{}, web.ErrInvalidPayload},
		{"{\"status\":\"G\",\"x\":\"\xff\"}", action{}, web.ErrInvalidPayload},
		{`{"status":"G","x":"\ud800"}`, action{}, web.ErrInvalidPayload},
		{`status=G`, action{}, web.ErrInvalidPayload},
		{strings.Repeat(`{"a":`, 20000) + "1" + strings.Repeat("}", 20000), action{}, web.ErrInvalidPayload},

		{`{"status":null}`, action{}, errInvalidAction},
		{`{"status":""}`, action{}, errInvalidAction},
		{`{"status":"g"}`, action{}, errInvalidAction},
		{`{"status":"C"}`, action{}, errInvalidAction},
		{`{"status":" G"}`, action{}, errInvalidAction},
		{`{"status":"G\u0000"}`, action{}, errInvalidAction},
		{`{"status":["G"]}`, action{}, errInvalidAction},
		{`{"status":1}`, action{}, errInvalidAction},
		{`{"status":{"status":"G"}}`, action{}, errInvalidAction},
		{`{"status":"X","reason":5}`, action{}, errInvalidAction},
	}
	for _, test := range tests {
		got, err := parseAction([]byte(test.body))
		if !errors.Is(err, test.err) {
			t.Errorf("parseAction(%.60s): error %v, want %v", test.body, err, test.err)
		}
		if err == nil && got != test.want {
			t.Errorf("parseAction(%.60s) = %+v, want %+v", test.body, got, test.want)
		}
	}
}
