package tracing

import (
	"testing"

	"merchantorders/internal/testenv"
)

func TestSummary(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                  "statement",
		"BEGIN":                             "BEGIN",
		"SELECT a FROM orders WHERE b = $1": "SELECT orders",
		"SELECT 1":                          "SELECT",
		"SELECT a FROM":                     "SELECT",
		"INSERT INTO events (a, b) VALUES ($1, $2)": "INSERT events",
		"UPDATE merchants SET a = $1":               "UPDATE merchants",
		"DELETE FROM tokens":                        "DELETE tokens",
		"SELECT day, (SELECT last_event FROM merchants WHERE id = $1) FROM order_days, x": "SELECT order_days",
		"SELECT *\n\tFROM (SELECT a FROM orders) v":                                       "SELECT",
	} {
		testenv.Equal(t, text, want, summary(text))
	}
}
