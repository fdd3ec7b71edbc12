package web_test

import (
	"errors"
	"net/http"
	"testing"

	"merchantorders/internal/strict"
	"merchantorders/internal/testenv"
	"merchantorders/internal/web"
)

func query(raw string) *web.Query { return web.ParseRawQuery(raw) }

// wantParam checks that an error is a *strict.ParamError about a parameter.
func wantParam(t *testing.T, what string, err error, name string) {
	t.Helper()
	var param *strict.ParamError
	if !errors.As(err, &param) || param.Name != name || web.Status(err) != http.StatusBadRequest {
		t.Errorf("%q: error %v, want one about %s", what, err, name)
	}
}

func TestQueryFirst(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"": "a", "a=1": "a", "b=1": "b", "b=1&a=1": "a", "a=&b=1": "b", "a=&b=": "a", "a=&a=&b=1": "a", "c=1": "a",
	} {
		testenv.Equal(t, raw, want, query(raw).First("a|b"))
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
		if page := q.Int("page", 1, 1, strict.MaxInt); q.Err() != nil {
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
