package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/testenv"
)

// wantCounts sees that an import ended with counts and an exit code.
func wantCounts(t *testing.T, result apptest.Result, code, created, unchanged, conflicting, invalid int) {
	t.Helper()
	want := fmt.Sprintf("created %d, unchanged %d, deleted 0, conflicting %d, invalid %d\n", created, unchanged, conflicting, invalid)
	result.WantOut(t, code, want)
}

// reports returns what an import said of lines, by their number.
func reports(t *testing.T, result apptest.Result) map[int]string {
	t.Helper()
	found := map[int]string{}
	for text := range strings.Lines(result.Stderr) {
		var number int
		if _, err := fmt.Sscanf(text, "line %d:", &number); err == nil {
			found[number] = text
		}
	}
	return found
}

// TestImportFaults imports a file in which good lines and every fault of
// decision 7 take turns: each fault is reported with its line number and its
// field, the good lines are taken in, and the exit code is 1.
// Proves decision 4 (lines), decision 7, decision 7 (the same rules everywhere).
func TestImportFaults(t *testing.T) {
	onSQLite(t, func(t *testing.T, s *service) {
		var file strings.Builder
		var good []placed
		for _, fault := range documentFaults {
			doc := s.newDocument()
			good = append(good, doc.placed(t))
			file.WriteString(doc.text(t) + "\n" + fault.text(t, s) + "\n")
		}
		path := filepath.Join(t.TempDir(), "orders.jsonl")
		testenv.NoError(t, os.WriteFile(path, []byte(file.String()), 0o600))
		result := s.Run(t, "", "import", path)
		wantCounts(t, result, 1, len(good), 0, 0, len(documentFaults))
		reported := reports(t, result)
		for i, fault := range documentFaults {
			t.Run(fault.name, func(t *testing.T) { fault.wantNamed(t, reported[2*i+2]) })
			delete(reported, 2*i+2)
		}
		testenv.Equal(t, "reported good lines", 0, len(reported))
		testenv.Lacks(t, "report", result.Stderr, "Maria", "buyer@")
		for _, o := range good {
			v2.shown(t, s, o)
		}
		testenv.Equal(t, "orders listed", int64(len(good)), numberAt(t, s.do(t, get("/v2/orders")).ok(t), "params.totalItems"))
		wantCounts(t, s.Run(t, file.String(), "import", "-"), 1, 0, len(good), 0, len(documentFaults))
		wantBulkFaults(t, s, file.String())
	})
}

// wantBulkFaults sends the file of TestImportFaults over HTTP, whole and each document that
// is wrong: the results are those of the command.
func wantBulkFaults(t *testing.T, s *service, file string) {
	t.Helper()
	sent := s.do(t, post("/operator/orders/import", file).by(s.operator)).ok(t)
	results := strings.Split(strings.TrimSpace(sent), "\n")
	if len(results) != 2*len(documentFaults)+1 {
		t.Fatalf("%d results", len(results))
	}
	for i, fault := range documentFaults {
		testenv.Contains(t, fmt.Sprint("line ", 2*i+1), results[2*i], `"status":"unchanged"`)
		t.Run("HTTP "+fault.name, func(t *testing.T) {
			fault.wantNamed(t, textAt(t, results[2*i+1], "problem"))
			a := s.do(t, post("/operator/orders", fault.text(t, s)).by(s.operator))
			if fault.wantNamed(t, textAt(t, a.body, "error.message")); a.status != 400 {
				t.Errorf("status %d: %s", a.status, a.body)
			}
		})
	}
}

// TestImportAgain runs an import again, whole and after a part of it had come
// in, as after one that was killed. Lists beside it follow at once.
// Proves decision 7 (the same content).
func TestImportAgain(t *testing.T) {
	const part, whole = 100, 2_200
	onBothDatabases(t, func(t *testing.T, s *service) {
		lines := make([]string, whole)
		for i := range lines {
			lines[i] = s.newDocument().text(t) + "\n"
		}
		wantListed := func(want int) {
			t.Helper()
			for _, v := range versions {
				last := fmt.Sprint(want / 100)
				body := s.do(t, get(v.list(v.size, "100", "page", last))).ok(t)
				if got := numberAt(t, body, "params."+v.total); got != int64(want) || len(v.references(t, body)) != 100 {
					t.Errorf("%s: the total is %d, want %d; page %s has %d orders, want 100", v.name, got, want, last, len(v.references(t, body)))
				}
			}
		}
		wantCounts(t, s.Run(t, strings.Join(lines[:part], ""), "import", "-"), 0, part, 0, 0, 0)
		wantListed(part)
		all := strings.Join(lines, "")
		wantCounts(t, s.Run(t, all, "import", "-"), 0, whole-part, part, 0, 0)
		wantListed(whole)
		again := strings.Join(lines[:part], "")
		wantCounts(t, s.Run(t, strings.TrimSuffix(again, "\n"), "import", "-"), 0, 0, part, 0, 0)
		wantCounts(t, s.Run(t, strings.ReplaceAll(again, "\n", "\r\n"), "import", "-"), 0, 0, part, 0, 0)
		wantCounts(t, s.Run(t, "", "import", "-"), 0, 0, 0, 0, 0)
		wantListed(whole)
	})
}

// TestImportConflicts imports other content under a reference or a number that
// is taken: a conflict, reported with its line, and the stored order stays.
// Proves decision 7 (other content; the same content), spec 2.2.
func TestImportConflicts(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, s *service) {
		other := s.another(t).merchant
		doc := s.newDocument()
		o := s.add(t, doc)[0]
		first, second := v1.shown(t, s, o), v2.shown(t, s, o)
		tests := []struct {
			name   string
			change document
		}{
			{"another total", document{"total": 1}}, // more of them are in ingest.TestDigestOfOtherContent
			{"another merchant", document{"merchantId": other}},
			{"another reference with the number", document{"reference": "another-reference"}},
			{"another reference with the number, of another merchant", document{"reference": "another-reference", "merchantId": other}},
		}
		for _, test := range tests {
			t.Run(test.name, func(t *testing.T) {
				changed := s.newDocument(doc, test.change)
				fresh := s.newDocument()
				result := s.Run(t, fresh.text(t)+"\n"+changed.text(t)+"\n", "import", "-")
				wantCounts(t, result, 1, 1, 0, 1, 0)
				if reported := reports(t, result); len(reported) != 1 || reported[2] == "" {
					t.Errorf("reported is %v, want line 2", reported)
				}
				wantJSON(t, "the order in v1", v1.shown(t, s, o), first)
				wantJSON(t, "the order in v2", v2.shown(t, s, o), second)
			})
		}
		t.Run("the same after the order has moved on", func(t *testing.T) {
			s.do(t, v2.accept(o)).ok(t)
			wantCounts(t, s.Run(t, doc.text(t), "import", "-"), 0, 0, 1, 0, 0)
			testenv.Equal(t, "state after the import", "in-processing", v2.stateOf(t, s, o))
		})
		t.Run("twice in one import", func(t *testing.T) {
			fresh := s.newDocument()
			changed := s.newDocument(fresh, document{"total": 1})
			text := fresh.text(t) + "\n" + fresh.text(t) + "\n" + changed.text(t) + "\n"
			result := s.Run(t, text, "import", "-")
			wantCounts(t, result, 1, 1, 1, 1, 0)
			if reported := reports(t, result); len(reported) != 1 || reported[3] == "" {
				t.Errorf("reported is %v, want line 3", reported)
			}
		})
	})
}
