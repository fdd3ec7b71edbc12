package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"merchantorders/internal/testenv"
)

// TestForeign asks every endpoint about another merchant's order and file, and
// about one that is missing (spec 5, decision 1): the responses are the same down
// to their headers.
// Proves decision 1 (another merchant's order), decision 6 (download; links that do not
// open), spec 1, spec 5.
func TestForeign(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, s *service) {
		owner := s.another(t)
		foreign := owner.addOne(t)
		missing := placed{number: 999_999, reference: "SF-absent"} // names as long
		own := s.addOne(t)
		file := owner.uploaded(t, v1, foreign, "a.pdf", "their content")
		deleted := owner.uploaded(t, v1, foreign, "gone.pdf", "x")
		owner.do(t, remove(v1.invoice(foreign, deleted.id))).ok(t)
		missingID := file.id + 1_000_000
		pair := func(name string, v version, theirs, none request) foreignPair {
			return foreignPair{name, v, theirs, none}
		}
		var pairs []foreignPair
		for i, end := range s.endpoints(foreign, file.id, "a.pdf") {
			if end.name != "list" {
				pairs = append(pairs, pair(end.v.name+" "+end.name, end.v, end.r, s.endpoints(missing, missingID, "a.pdf")[i].r))
			}
		}
		folder := s.storage + "/invoices/"
		for _, v := range versions {
			pairs = append(pairs,
				pair(v.name+" reject with a bad reason", v, v.reject(foreign, `"reason":"x"`), v.reject(missing, `"reason":"x"`)),
				pair(v.name+" upload of another type", v, v.upload(foreign, "a.exe", "x"), v.upload(missing, "a.exe", "x")),
				pair(v.name+" their file in an own order", v, remove(v.invoice(own, file.id)), remove(v.invoice(own, missingID))),
				pair(v.name+" their deleted file", v, remove(v.invoice(foreign, deleted.id)), remove(v.invoice(foreign, missingID))),
				pair(v.name+" HEAD", v, request{method: "HEAD", path: v.order(foreign)}, request{method: "HEAD", path: v.order(missing)}),
			)
		}
		pairs = append(pairs,
			pair("link to their file", v2, post(v2.invoice(foreign, file.id)+"/link", ""), post(v2.invoice(missing, missingID)+"/link", "")),
			pair("their deleted file", v1, get(folder+foreign.reference+"/gone.pdf"), get(folder+foreign.reference+"/none.pdf")),
			pair("file with a condition", v1, get(folder+foreign.reference+"/a.pdf").with("If-None-Match", "*"), get(folder+missing.reference+"/a.pdf").with("If-None-Match", "*")),
			pair("part of a file", v1, get(folder+foreign.reference+"/a.pdf").with("Range", "bytes=0-1"), get(folder+missing.reference+"/a.pdf").with("Range", "bytes=0-1")),
			pair("HEAD of a file", v1, request{method: "HEAD", path: folder + foreign.reference + "/a.pdf"}, request{method: "HEAD", path: folder + missing.reference + "/a.pdf"}),
		)
		for _, p := range pairs {
			t.Run(p.name, func(t *testing.T) { p.wantAlike(t, s, foreign, missing) })
		}
		testenv.Equal(t, "state after a stranger's requests", "registered", v2.stateOf(t, owner, foreign))
		if got := owner.entries(t, foreign); len(got) != 1 || got[0] != file {
			t.Errorf("a stranger has changed the files: %v", got)
		}
	})
}

// foreignPair is a request about another merchant's order, and the same about
// one that is missing.
type foreignPair struct {
	name         string
	v            version
	theirs, none request
}

// wantAlike sees that the two responses differ in nothing but the identifier that
// the client sent itself.
func (p foreignPair) wantAlike(t *testing.T, s *service, foreign, missing placed) {
	t.Helper()
	theirs, none := s.do(t, p.theirs), s.do(t, p.none)
	if none.status != http.StatusNotFound || theirs.status != none.status {
		t.Errorf("status %d, of a missing one %d", theirs.status, none.status)
	}
	sameID := strings.NewReplacer(p.v.id(foreign), "ID", p.v.id(missing), "ID")
	testenv.Equal(t, "body, of a missing one and of a stranger's", sameID.Replace(none.body), sameID.Replace(theirs.body))
	for _, header := range []http.Header{theirs.header, none.header} {
		header.Del("X-Request-Id")
		header.Del("Date")
	}
	testenv.Equal(t, "headers, of a missing one and of a stranger's", fmt.Sprint(none.header), fmt.Sprint(theirs.header))
}
