package e2e

import (
	"net/http"
	"strings"
	"testing"

	"merchantorders/internal/testenv"
)

// TestDownload has the headers with which a stored file is served:
// a browser must neither show it nor guess what it is.
// Proves decision 6 (download; links).
func TestDownload(t *testing.T) {
	content := "<script>alert(1)</script>"
	on(t, bothDatabases, func(t *testing.T, s *service) {
		o := s.addOne(t)
		e := s.uploaded(t, v2, o, "a.pdf", content)
		path := s.path(t, e.url)
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			t.Run(method, func(t *testing.T) {
				a := s.do(t, request{method: method, path: path})
				if a.status != 200 {
					t.Fatalf("status %d", a.status)
				}
				testenv.Equal(t, "body", map[string]string{"GET": content, "HEAD": ""}[method], a.body)
				for name, want := range map[string]string{
					"Content-Type": "application/pdf", "Content-Length": asJSON(t, len(content)), "X-Content-Type-Options": "nosniff",
				} {
					testenv.Equal(t, name, want, a.header.Get(name))
				}
				if got := a.header.Get("Content-Disposition"); !strings.HasPrefix(got, "attachment") {
					t.Errorf("Content-Disposition is %q", got)
				}
				testenv.Contains(t, "Content-Security-Policy", a.header.Get("Content-Security-Policy"), "sandbox")
			})
		}
		t.Run("with Basic", func(t *testing.T) {
			testenv.Equal(t, "body", content, s.do(t, get(path).as(basic("maria@example.com", s.token))).ok(t))
		})
		t.Run("with a link", func(t *testing.T) {
			link := s.path(t, textAt(t, s.do(t, post(v2.invoice(o, e.id)+"/link", "")).ok(t), "url"))
			a := s.do(t, get(link).as(noAuth))
			if a.status != http.StatusOK || a.body != content || a.header.Get("Referrer-Policy") != "no-referrer" {
				t.Errorf("status %d, body %q, headers %v", a.status, a.body, a.header)
			}
		})
	})
}

// TestDownloadRefusals has what is not served below /storage, and the flat form
// of its errors.
// Proves decision 6 (deleted files; {storage_url}, region, bucket; download).
func TestDownloadRefusals(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, s *service) {
		folder := s.storage + "/invoices/"
		o, sibling := s.addOne(t), s.addOne(t)
		s.uploaded(t, v1, o, "a.pdf", "a")
		s.uploaded(t, v1, sibling, "only-here.pdf", "a")
		gone := s.uploaded(t, v1, o, "gone.pdf", "a")
		s.do(t, remove(v1.invoice(o, gone.id))).ok(t)
		noRead := s.newToken(t, "orders:write", "invoices:write")
		file := folder + o.reference + "/a.pdf"
		tests := []struct {
			name   string
			r      request
			status int
			want   string
		}{
			{"no token", get(file).as(noAuth), 401, "Unauthorized"},
			{"no such file and no token", get(folder + "x/x.pdf").as(noAuth), 401, "Unauthorized"},
			{"token in the query", get(file + "?token=" + s.token).as(noAuth), 401, "Unauthorized"},
			{"token without the scope", get(file).by(noRead), 403, "Forbidden"},
			{"operator's token", get(file).by(s.operator), 403, "Forbidden"},
			{"deleted file", get(folder + o.reference + "/gone.pdf"), 404, "The invoice was not found."},
			{"unknown file", get(folder + o.reference + "/b.pdf"), 404, "The invoice was not found."},
			{"another order's file", get(folder + o.reference + "/only-here.pdf"), 404, "The invoice was not found."},
			{"unknown order", get(folder + "missing/a.pdf"), 404, "The invoice was not found."},
			{"another letter case", get(folder + o.reference + "/A.pdf"), 404, "The invoice was not found."},
			{"another region, no token", get(strings.Replace(file, "/storage/", "/storage/other-", 1)).as(noAuth), 401, "Unauthorized"},
			{"another region, unknown file", get(strings.Replace(folder, "/storage/", "/storage/other-", 1) + o.reference + "/b.pdf"), 404, "The invoice was not found."},
			{"no region", get(strings.Replace(file, "/storage/", "/storage//", 1)), 404, anyText},
			{"no bucket", get("/storage/invoices/" + o.reference + "/a.pdf"), 404, anyText},
			{"folder", get(folder + o.reference), 404, anyText},
			{"way upwards", get(folder + o.reference + "/..%2F..%2Forders.db"), 404, anyText},
			{"way upwards with dots", get(folder + "%2e%2e/%2e%2e/orders.db"), 404, anyText},
			{"way upwards from Windows", get(folder + o.reference + "/..%5C..%5Corders.db"), 404, anyText},
			{"NUL", get(folder + o.reference + "/a.pdf%00"), 404, anyText},
			{"invalid UTF-8", get(folder + o.reference + "/%FF.pdf"), 404, anyText},
			{"slash in the name", get(folder + o.reference + "%2Fa.pdf"), 404, anyText},
		}
		for _, test := range tests {
			t.Run(test.name, func(t *testing.T) {
				s.do(t, test.r).want(t, test.status, `{"message":"`+test.want+`"}`)
			})
		}
		// Addresses stay good after the files have moved to another storage.
		want := s.do(t, get(file)).ok(t)
		for _, place := range []string{"local/merchant-orders", "eu-central-1/merchant-orders", "us-east-1/other.bucket", "a%2Fb/x", "region/invoices"} {
			testenv.Equal(t, "file of "+place, want, s.do(t, get("/storage/"+place+"/invoices/"+o.reference+"/a.pdf")).ok(t))
		}
		for _, method := range []string{"POST", "PUT", "PATCH", "DELETE", "OPTIONS"} {
			t.Run(method, func(t *testing.T) {
				a := s.do(t, request{method: method, path: file})
				a.want(t, 405, `{"message":"..."}`)
				wantAllow(t, a, "GET, HEAD")
			})
		}
		s.do(t, get(file)).ok(t)
	})
}
