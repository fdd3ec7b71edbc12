package web_test

import (
	"errors"
	"net/http"
	"net/url"
	"testing"

	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

func query(raw string, names ...string) *web.Query {
	return web.ParseQuery(&web.Request{Request: &http.Request{URL: &url.URL{RawQuery: raw}}}, names...)
}

// wantParam checks that an error is a *web.ParamError about a parameter.
func wantParam(t *testing.T, what string, err error, name string) {
	t.Helper()
	var param *web.ParamError
	if !errors.As(err, &param) || param.Name != name || web.Status(err) != http.StatusBadRequest {
		t.Errorf("%q: error %v, want one about %s", what, err, name)
	}
}

func TestQueryMalformed(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{"page=1;size=2", ";", "page=%zz", "page=%", "%gg=1"} {
		wantParam(t, raw, query(raw).Err(), "query")
	}
}

func TestQueryInt(t *testing.T) {
	t.Parallel()
	const otherwise = 77
	for raw, want := range map[string]int64{
		"":                            otherwise,
		"page=":                       otherwise,
		"page":                        otherwise,
		"other=5":                     otherwise,
		"PAGE=5":                      otherwise,
		"page=1":                      1,
		"page=%31":                    1,
		"page=100":                    100,
		"page=1&other=x&other=y":      1,
		"page=9223372036854775807":    9223372036854775807,
		"page=0":                      0, // 0: refused
		"page=00":                     0,
		"page=01":                     0,
		"page=007":                    0,
		"page=-1":                     0,
		"page=%2B1":                   0,
		"page=+1":                     0,
		"page=1+":                     0,
		"page=1.0":                    0,
		"page=1.5":                    0,
		"page=1e3":                    0,
		"page=0x1":                    0,
		"page=1_0":                    0,
		"page=one":                    0,
		"page=%00":                    0,
		"page=%ff":                    0,
		"page=9223372036854775808":    0,
		"page=99999999999999999999":   0,
		"page=-99999999999999999999":  0,
		"page=1&page=1":               0,
		"page=&page=":                 0,
		"page=1&page=":                0,
		"page=%D9%A1":                 0,
		"page=1,2":                    0,
		"page=null":                   0,
		"page=18446744073709551617":   0,
		"page[]=1":                    otherwise,
		"items_per_page=5&itemsX=6":   otherwise,
		"page=1%20":                   0,
		"page=%0a1":                   0,
		"page=100000000000000000000x": 0,
	} {
		q := query(raw)
		got, err := q.Int("page", otherwise, 1, web.MaxInt), q.Err()
		if want == 0 {
			wantParam(t, raw, err, "page")
		} else if err != nil || got != want {
			t.Errorf("%q: %d, error %v, want %d", raw, got, err, want)
		}
	}
}

func TestQueryDay(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"":                                    "",
		"from=":                               "",
		"other=2026-01-01":                    "",
		"from=2026-11-20":                     "2026-11-20",
		"from=2024-02-29":                     "2024-02-29",
		"from=0000-01-01":                     "0000-01-01",
		"from=9999-12-31":                     "9999-12-31",
		"from=2026%2D11%2D20":                 "2026-11-20",
		"from=2026-02-29":                     "refused",
		"from=2026-13-01":                     "refused",
		"from=2026-1-1":                       "refused",
		"from=2026-11-20T00:00:00":            "2026-11-20",
		"from=2026-11-20+23:59:59":            "2026-11-20",
		"from=2026-11-20T15:00:00.123Z":       "2026-11-20",
		"from=2026-11-20T15:00:00.1234567Z":   "2026-11-20",
		"from=2026-11-20T15:00:00.5":          "2026-11-20",
		"from=2026-11-20T01:00:00%2B02:00":    "2026-11-19",
		"from=2026-11-20T01:00:00+02:00":      "2026-11-19",
		"from=2026-11-20%2001:00:00.9%2B0200": "2026-11-19",
		"from=2026-11-20T23:00:00-01:00":      "2026-11-21",
		"from=2026-11-20T15:00:00,5Z":         "refused",
		"from=2026-11-20T5:00:00":             "refused",
		"from=2026-11-20t15:00:00z":           "refused",
		"from=2026-11-20T15:00":               "refused",
		"from=2026-11-20T15:00:60Z":           "refused",
		"from=2026-11-20T15:00:00+2":          "refused",
		"from=2026-11-20T15:00:00%2B24:00":    "refused",
		"from=2026-02-29T15:00:00":            "refused",
		"from=9999-12-31T23:59:59-00:01":      "refused",
		"from=2026-11-20T15:00:00ZZ":          "refused",
		"from=20-11-2026":                     "refused",
		"from=yesterday":                      "refused",
		"from=1790000000":                     "refused",
		"from=2026-11-20%00":                  "refused",
		"from=2026-11-20&from=2026-11-2":      "refused",
		"from=10000-01-01":                    "refused",
	} {
		q := query(raw)
		got, err := q.Day("from"), q.Err()
		if want == "refused" {
			wantParam(t, raw, err, "from")
			if got != order.NoDay {
				t.Errorf("%q: %s beside the error", raw, got)
			}
		} else if err != nil || got.String() != want {
			t.Errorf("%q: %s, error %v, want %s", raw, got, err, want)
		}
	}
}

func TestQueryFirst(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"": "a", "a=1": "a", "b=1": "b", "b=1&a=1": "a", "a=&b=1": "b", "a=&b=": "a", "a=&a=&b=1": "a", "c=1": "a",
	} {
		if got := query(raw).First("a", "b"); got != want {
			t.Errorf("%q: %s, want %s", raw, got, want)
		}
	}
}

func TestQueryText(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"": "", "status=": "", "status=O": "O", "status=%C3%A4+b": "ä b", "status=%00": "\x00", "Status=O": "", "status=a%26b%3Dc": "a&b=c",
	} {
		q := query(raw)
		if got := q.Text("status"); got != want || q.Err() != nil {
			t.Errorf("%q: %q, error %v", raw, got, q.Err())
		}
	}
	q := query("status=O&x=1&status=O")
	if x := q.Text("x"); x != "1" || q.Err() != nil {
		t.Errorf("another parameter: %q, error %v", x, q.Err())
	}
	_ = q.Text("status")
	wantParam(t, "twice", q.Err(), "status")
	_ = q.Int("x", 0, 5, 9)
	wantParam(t, "the first error stays", q.Err(), "status")
}

func FuzzQuery(f *testing.F) {
	for _, seed := range []string{"page=1", "page=+1", "page=007", "page=9223372036854775808", "page=1&page=2", "a;b", "%", "page=%00&from=2026-02-30"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		if err := query(raw).Err(); err != nil {
			wantParam(t, raw, err, "query")
			return
		}
		q := query(raw)
		if page := q.Int("page", 1, 1, web.MaxInt); q.Err() != nil {
			wantParam(t, raw, q.Err(), "page")
		} else if page < 1 {
			t.Errorf("%q: page %d", raw, page)
		}
		q = query(raw)
		if day := q.Day("from"); q.Err() != nil {
			wantParam(t, raw, q.Err(), "from")
		} else if text := q.Text("from"); q.Err() != nil || len(text) <= len("2026-11-20") && day.String() != text {
			t.Errorf("%q: day %s of %q, error %v", raw, day, text, q.Err())
		}
	})
}
