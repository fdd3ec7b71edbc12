package e2e

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"merchantorders/internal/testenv"
)

// upload is the request that uploads a file with a content.
func (v version) upload(o placed, filename, content string) request {
	return v.uploadBase64(o, filename, base64.StdEncoding.EncodeToString([]byte(content)))
}

// uploadBase64 is upload with the content as it stands in the body.
func (v version) uploadBase64(o placed, filename, content string) request {
	var body strings.Builder
	body.Grow(len(content) + 200)
	name, err := json.Marshal(filename)
	if err != nil {
		panic(err) // texts can always be encoded
	}
	body.WriteString(`{"filename":` + string(name) + `,"contentBase64":"`)
	body.WriteString(content)
	body.WriteString(`"}`)
	return post(v.invoices(o), body.String())
}

// entry is an invoice file entry (spec 2.1).
type entry struct {
	id      int64
	url     string
	created string
}

// newEntry reads an entry, which has three fields and no more.
func newEntry(t testing.TB, text string) entry {
	t.Helper()
	e := entry{id: numberAt(t, text, "id"), url: textAt(t, text, "url"), created: textAt(t, text, "created_at")}
	wantJSON(t, "an invoice entry", text, `{"id":`+asJSON(t, e.id)+`,"url":`+asJSON(t, e.url)+`,"created_at":"`+e.created+`"}`)
	return e
}

// entries returns the invoice files of an order, on which both versions have to
// agree.
func (s *service) entries(t testing.TB, o placed) []entry {
	t.Helper()
	text := at(t, v1.shown(t, s, o), "invoices")
	wantJSON(t, "invoices in v2", at(t, v2.shown(t, s, o), "invoices"), text)
	list, ok := parse(t, text).([]any)
	if !ok {
		t.Fatalf("invoices is no array: %s", text)
	}
	entries := make([]entry, len(list))
	for i, value := range list {
		entries[i] = newEntry(t, asJSON(t, value))
	}
	return entries
}

// uploaded uploads a file and returns its entry.
func (s *service) uploaded(t testing.TB, v version, o placed, filename, content string) entry {
	t.Helper()
	return s.stored(t, v.upload(o, filename, content))
}

// stored sends an upload that has to succeed and returns the entry that its
// response shows.
func (s *service) stored(t testing.TB, r request) entry {
	t.Helper()
	body := s.do(t, r).ok(t)
	e := newEntry(t, at(t, body, "invoice"))
	wantJSON(t, "the response of an upload", body, `{"message":"success","invoice":`+at(t, body, "invoice")+`}`)
	return e
}

// path returns the path of a file's address, which has to lie on this service.
func (s *service) path(t testing.TB, address string) string {
	t.Helper()
	path, ok := strings.CutPrefix(address, s.BaseURL)
	if !ok {
		t.Fatalf("%s does not lie below %s", address, s.BaseURL)
	}
	return path
}

var isoUTC = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$`)

// TestUpload uploads a file of each allowed type through each version and sees
// it at once in both (spec 2.1, 4.3), with the bytes that were sent.
// Proves decision 4 (times), spec 2.1, spec 4.3, spec 4.4.
func TestUpload(t *testing.T) {
	content := "%PDF-1.7\r\n\x00\xff<script>"
	on(t, backends, func(t *testing.T, s *service) {
		inEachVersion(t, func(t *testing.T, v version) {
			for _, test := range []struct{ filename, kind string }{
				{"invoice.pdf", "application/pdf"},
				{"invoice.png", "image/png"},
				{"invoice.jpeg", "image/jpeg"},
				{"invoice.jpg", "image/jpeg"},
				{"INVOICE.PDF", "application/pdf"},
				{"Invoice.JpEg", "image/jpeg"},
			} {
				t.Run(test.filename, func(t *testing.T) {
					o := s.addOne(t)
					if got := s.entries(t, o); len(got) != 0 {
						t.Fatalf("a new order has %d invoices", len(got))
					}
					before := time.Now().Truncate(time.Second)
					e := s.uploaded(t, v, o, test.filename, content)
					if at, err := time.Parse(time.RFC3339, e.created); err != nil || !isoUTC.MatchString(e.created) || at.Before(before) || at.After(time.Now()) {
						t.Errorf("created_at is %s", e.created)
					}
					testenv.Equal(t, "url", s.BaseURL+s.storage+"/invoices/"+o.reference+"/"+test.filename, e.url)
					if e.id <= 0 {
						t.Errorf("id is %d", e.id)
					}
					if got := s.entries(t, o); len(got) != 1 || got[0] != e {
						t.Errorf("the order shows %v, want %v", got, e)
					}
					a := s.do(t, get(s.path(t, e.url)))
					if a.ok(t) != content {
						t.Errorf("the file has %q", a.body)
					}
					testenv.Equal(t, "Content-Type", test.kind, a.header.Get("Content-Type"))
				})
			}
		})
	})
}

// TestUploadInEveryState sees that the state of an order does not matter for
// its invoice files, nor the files for the state and the update time.
// Proves decision 2 (update time).
func TestUploadInEveryState(t *testing.T) {
	onSQLite(t, func(t *testing.T, s *service) {
		inEachVersion(t, func(t *testing.T, v version) {
			for st, o := range everyState(t, s) {
				t.Run(st.name, func(t *testing.T) {
					e := s.uploaded(t, v, o, "a.pdf", "a")
					s.do(t, remove(v.invoice(o, e.id))).want(t, 200, `{"message":"success","invoices":[]}`)
					testenv.Equal(t, "the state now", st.in(v), v.stateOf(t, s, o))
					testenv.Equal(t, "updatedAt now", "null", at(t, v2.shown(t, s, o), "updatedAt"))
				})
			}
		})
	})
}

// TestUploadCount has the limit of three files (spec 2.1, 4.3): it counts the
// active ones, over both versions.
// Proves decision 4 (invoices), spec 2.1, spec 8.
func TestUploadCount(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, s *service) {
		o := s.addOne(t)
		var shown []entry
		for i, v := range []version{v1, v2, v1} {
			shown = append(shown, s.uploaded(t, v, o, []string{"a.pdf", "b.png", "c.jpg"}[i], "x"))
		}
		for _, v := range versions {
			s.do(t, v.upload(o, "d.pdf", "x")).wantRefusal(t, v, tooManyFiles, o)
		}
		if got := s.entries(t, o); len(got) != 3 || got[0] != shown[0] || got[1] != shown[1] || got[2] != shown[2] {
			t.Errorf("the order shows %v, want %v, oldest first", got, shown)
		}
		s.do(t, remove(v2.invoice(o, shown[1].id))).ok(t)
		fourth := s.uploaded(t, v2, o, "d.pdf", "x")
		if got := s.entries(t, o); len(got) != 3 || got[2] != fourth {
			t.Errorf("the order shows %v", got)
		}
		s.do(t, v1.upload(o, "e.pdf", "x")).wantRefusal(t, v1, tooManyFiles, o)
	})
}

// TestStorageAddress has the settings that the addresses of files follow
// (spec 2.1, decision 6): the files are served here wherever they lead.
// Proves decision 6 ({storage_url}, region, bucket), spec 2.1.
func TestStorageAddress(t *testing.T) {
	for _, test := range []struct {
		name  string
		flags []string
		want  string // before the service's own storage path, or before /invoices
	}{
		{"base address", []string{"--base-url", "https://orders.example.com/shop/"}, "https://orders.example.com/shop"},
		{"storage address", []string{"--storage-url", "https://cdn.example.com/eu-west-1/bucket"}, "https://cdn.example.com/eu-west-1/bucket"},
		{"both", []string{"--base-url", "http://a.example", "--storage-url", "https://b.example/x/"}, "https://b.example/x"},
	} {
		t.Run(test.name, func(t *testing.T) {
			alone(t, sqlite, func(t *testing.T, s *service) {
				o := s.addOne(t)
				e := s.uploaded(t, v2, o, "ά b.pdf", "content")
				want := test.want + "/invoices/" + o.reference + "/" + url.PathEscape("ά b.pdf")
				if test.name == "base address" {
					want = test.want + s.storage + strings.TrimPrefix(want, test.want)
				}
				testenv.Equal(t, "url", want, e.url)
				if got := s.entries(t, o); len(got) != 1 || got[0] != e {
					t.Errorf("the order shows %v, want %v", got, e)
				}
				path := s.storage + "/invoices/" + o.reference + "/" + url.PathEscape("ά b.pdf")
				testenv.Equal(t, "the file", "content", s.do(t, get(path)).ok(t))
				testenv.Equal(t, "status without a token", http.StatusUnauthorized, s.do(t, get(path).as(noAuth)).status)
			}, test.flags...)
		})
	}
}
