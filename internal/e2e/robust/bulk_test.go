package robust

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"syscall"
	"testing"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/ingest/ingesttest"
	"merchantorders/internal/testenv"
)

// bulkLine is a line of the response to a bulk import.
type bulkLine struct {
	Line     int
	Status   string
	Replayed bool
	Summary  map[string]int
	Complete bool
}

// openImport sends a body to the bulk import and returns the lines of the response.
func (r running) openImport(t *testing.T, operator string, body io.Reader) *bufio.Scanner {
	t.Helper()
	return r.openLines(t, "/operator/orders/import", operator, body)
}

// openLines sends lines and returns the lines of the response.
func (r running) openLines(t *testing.T, path, token string, body io.Reader) *bufio.Scanner {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, apptest.Address(r.Base, path), body)
	testenv.NoError(t, err)
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/x-ndjson")
	request.Header.Set("Idempotency-Key", "lines")
	response, err := http.DefaultClient.Do(request)
	testenv.NoError(t, err)
	t.Cleanup(func() { _ = response.Body.Close() })
	return bufio.NewScanner(response.Body)
}

// TestBulkImportSurvives kills or stops a server in the middle of a bulk import, and
// sends the same body to the next server.
//
// It guards that every line with a result is stored, and that a stop ends the import
// between two batches and says so. A result that is sent before its batch is durable
// makes it fail.
// Proves decision 7 (a stream that breaks, stalls or meets a stop).
func TestBulkImportSurvives(t *testing.T) {
	t.Parallel()
	const orders = 1000
	var documents bytes.Buffer
	for n := range orders {
		documents.Write(ingesttest.Document(n + 1))
		documents.WriteByte('\n')
	}
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			s := start(t)
			operator := s.Folder.Token(t, "--operator")
			body, send := io.Pipe()
			t.Cleanup(func() { _ = send.Close() })
			go func() {
				// The rest never comes: only the signal ends the import.
				_, _ = send.Write(documents.Bytes()[:documents.Len()/2])
			}()
			lines := s.openImport(t, operator, body)
			answered, stopped := 0, false
			for lines.Scan() {
				var line bulkLine
				if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
					if last := lines.Text(); signal != syscall.SIGKILL || lines.Scan() {
						t.Fatalf("%s: %v", last, err)
					}
					break // the response was cut off
				}
				if line.Summary != nil {
					stopped = !line.Complete && line.Summary["created"] == answered
					break
				}
				if answered++; line.Status != "created" || line.Line != answered {
					t.Fatalf("line %d: %s", answered, lines.Text())
				}
				if answered == orders/4 {
					testenv.NoError(t, syscall.Kill(s.PID(), signal))
				}
			}
			s.Stop(t, 0) // by itself
			if stopped != (signal == syscall.SIGTERM) || answered < orders/4 {
				t.Errorf("%d lines answered, summary of the stop: %v", answered, stopped)
			}

			again := startOn(t, s.Data)
			lines = again.openImport(t, operator, bytes.NewReader(documents.Bytes()))
			for n := 1; lines.Scan(); n++ {
				var line bulkLine
				testenv.NoError(t, json.Unmarshal(lines.Bytes(), &line))
				switch {
				case line.Summary != nil:
					if !line.Complete || line.Summary["created"]+line.Summary["unchanged"] != orders {
						t.Errorf("the second time: %s", lines.Text())
					}
				case n <= answered && line.Status != "unchanged", line.Status != "created" && line.Status != "unchanged":
					t.Fatalf("the second time: %s", lines.Text())
				}
			}
			if signal == syscall.SIGKILL {
				killedAnswers(t, again, orders)
			}
		})
	}
}

// killedAnswers kills a server in the middle of answers to its orders, and sends the same
// body to the next server: each line that was not refused has its first result.
func killedAnswers(t *testing.T, s running, orders int) {
	t.Helper()
	merchant := s.Folder.Token(t, "--merchant", strconv.Itoa(ingesttest.MerchantID))
	var answers bytes.Buffer
	for n := range orders {
		_, _ = fmt.Fprintf(&answers, `{"orderReference":%q,"answer":"accept"}`+"\n", ingesttest.Reference(n+1))
	}
	body, send := io.Pipe()
	t.Cleanup(func() { _ = send.Close() })
	go func() { _, _ = send.Write(answers.Bytes()[:answers.Len()/2]) }()
	lines := s.openLines(t, "/v2/orders/answers", merchant, body)
	var before []bulkLine
	for lines.Scan() {
		var line bulkLine
		if json.Unmarshal(lines.Bytes(), &line) != nil {
			break // the response was cut off
		}
		if before = append(before, line); line.Line == orders/4 {
			testenv.NoError(t, syscall.Kill(s.PID(), syscall.SIGKILL))
		}
	}
	s.Stop(t, 0) // by itself
	lines = startOn(t, s.Data).openLines(t, "/v2/orders/answers", merchant, &answers)
	counts := make(map[string]int)
	for n := 0; lines.Scan(); n++ {
		var line bulkLine
		testenv.NoError(t, json.Unmarshal(lines.Bytes(), &line))
		switch {
		case line.Summary != nil:
			if !line.Complete || n != orders || counts["changed"] < orders/6 || line.Summary["changed"] != counts["changed"] {
				t.Errorf("the second time: %s", lines.Text())
			}
			return
		case n < len(before) && (line.Status != before[n].Status || line.Replayed != (line.Status != "refused")):
			t.Fatalf("the second time: %s, first %+v", lines.Text(), before[n])
		}
		counts[line.Status]++
	}
	t.Error("the response has no summary")
}
