// Package metricstest reads metrics as a scrape does.
package metricstest

import (
	"net/http/httptest"
	"strings"
	"testing"

	"merchantorders/internal/metrics"
)

// Series returns the lines of the metrics that begin with a name.
func Series(t testing.TB, m *metrics.Metrics, name string) []string {
	t.Helper()
	recorder := httptest.NewRecorder()
	m.Handler().ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
	var found []string
	for line := range strings.Lines(recorder.Body.String()) {
		if strings.HasPrefix(line, name) {
			found = append(found, strings.TrimSpace(line))
		}
	}
	return found
}

// Want checks that the metrics have a line.
func Want(t testing.TB, m *metrics.Metrics, line string) {
	t.Helper()
	name, _, _ := strings.Cut(line, " ")
	found := Series(t, m, name)
	if len(found) != 1 || found[0] != line {
		t.Errorf("metrics %q, want %q", found, line)
	}
}
