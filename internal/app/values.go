package app

import (
	"time"

	"merchantorders/internal/order"
)

// Every reader of a flag's value returns what is wrong with it, or empty text.

// positive reads an identifier.
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

// lifetime reads a length of time of at least least.
func lifetime(text string, least time.Duration) (time.Duration, string) {
	d, err := time.ParseDuration(text)
	if err != nil || d < least {
		return 0, "must be a length of time from " + least.String() + ", such as 2160h, 90m or 30s"
	}
	return d, ""
}

// stamp shows a time, "-" for none.
func stamp(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format(time.RFC3339)
}
