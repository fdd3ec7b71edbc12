package robust

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"syscall"
	"testing"

	"merchantorders/internal/ingest/ingesttest"
	"merchantorders/internal/testenv"
)

// bulkLine is a line of the response to a bulk import.
type bulkLine struct {
	Line     int
	Status   string
	Summary  map[string]int
	Complete bool
}

// openImport sends a body to the bulk import and returns the lines of the response.
func (r running) openImport(t *testing.T, operator string, body io.Reader) *bufio.Scanner {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.Base+"/operator/orders/import", body)
	testenv.NoError(t, err)
	request.Header.Set("Authorization", "Bearer "+operator)
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
					s.signal(t, signal)
				}
			}
			s.ended(t)
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
		})
	}
}
