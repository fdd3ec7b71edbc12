package web

import (
	"log/slog"
	"strings"
	"testing"
	"time"
)

// TestLogLine writes lines in both ways, which are the same.
func TestLogLine(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 12, 0, 0, 123456700, time.FixedZone("EET", 2*60*60))
	for name, line := range map[string]logLine{
		"of a merchant": {
			at: at, id: "EGED45KNIZSMOUAT26EE67SKXR", method: "GET", route: "/v2/orders/{orderReference}",
			status: 200, bytes: 1576, took: 1234567 * time.Nanosecond, merchant: 375, token: 12,
		},
		"of an operator":  {at: at, id: "a-b_c.d", method: "PUT", route: "/operator/merchants/{id}", status: 204, took: 2 * time.Millisecond, token: 1},
		"without a token": {at: at.UTC().Truncate(time.Second), id: "1", method: "other", route: unmatchedRoute, status: 404, bytes: 1 << 40, took: time.Hour},
		"in no time":      {at: at, id: "1", method: "HEAD", route: "/", status: 304},
		"cut off":         {at: at, id: "1", method: "GET", route: "/storage/{region}/{bucket}/{key...}", bytes: 3, took: 999 * time.Nanosecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var want strings.Builder
			record := slog.NewRecord(line.at, slog.LevelInfo, "request", 0)
			record.AddAttrs(line.attrs()...)
			if err := NewLogHandler(&want, slog.LevelInfo).Handle(t.Context(), record); err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			line.write(&got)
			if got.String() != want.String() {
				t.Errorf("\n%s, want\n%s", got.String(), want.String())
			}
		})
	}
}

// TestRequestsAreLoggedByLevel has requests leave a line where the log takes it,
// and faults theirs always.
func TestRequestsAreLoggedByLevel(t *testing.T) {
	t.Parallel()
	for level, want := range map[slog.Level]string{
		slog.LevelInfo:  `"level":"INFO"..."level":"WARN"..."level":"ERROR"`,
		slog.LevelWarn:  `"level":"WARN"..."level":"ERROR"`,
		slog.LevelError: `"level":"ERROR"`,
	} {
		var text strings.Builder
		log := slog.New(NewLogHandler(&text, level))
		logRequest(log, &logLine{id: "1", status: 200}, nil)
		logRequest(log, &logLine{id: "2", status: statusClientClosedRequest}, errResponseAborted)
		logRequest(log, &logLine{id: "3", status: 500}, errResponseAborted)
		var got []string
		for line := range strings.Lines(text.String()) {
			_, rest, _ := strings.Cut(line, `,`)
			shown, _, _ := strings.Cut(rest, `,`)
			got = append(got, shown)
			if fault := strings.Contains(line, `"error":"the answer was cut off"`); fault == strings.Contains(line, "INFO") {
				t.Errorf("%s: %s", level, line)
			}
		}
		if joined := strings.Join(got, "..."); joined != want {
			t.Errorf("%s: %s, want %s", level, joined, want)
		}
	}
}
