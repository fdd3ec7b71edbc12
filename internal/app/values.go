package app

import (
	"time"

	"merchantorders/internal/order"
)

// The parsers of flag values also return what is wrong with the value; empty text if it is valid.

// positive parses an id.
func positive(text string) (int64, string) {
	if text == "" {
		return 0, "is required"
	}
	id, ok := order.ParseID(text)
	if !ok || id == 0 {
		return 0, "must be a whole number from 1"
	}
	return id, ""
}

// duration parses a duration of at least min.
func duration(text string, min time.Duration) (time.Duration, string) {
	d, err := time.ParseDuration(text)
	if err != nil || d < min {
		return 0, "must be a duration from " + min.String() + ", such as 2160h, 90m or 30s"
	}
	return d, ""
}

// timestamp formats a time; "-" for the zero time.
func timestamp(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format(time.RFC3339)
}
