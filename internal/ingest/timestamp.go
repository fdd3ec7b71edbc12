package ingest

import (
	"strings"
	"time"

	"merchantorders/internal/order"
)

// timestamp returns a time in whole seconds of UTC; the zero time if absent.
func (r *reader) timestamp(field string, given *string) time.Time {
	if given == nil {
		return time.Time{}
	}
	t, ok := parseTime(*given)
	if !ok {
		r.refuse(field, "must be a time as in 2026-11-20T08:15:30Z")
	}
	return t
}

// requiredTimestamp is timestamp for a field that must be present.
func (r *reader) requiredTimestamp(field string, given *string) time.Time {
	if given == nil {
		r.refuse(field, "is required")
	}
	return r.timestamp(field, given)
}

// parseTime parses RFC 3339, with T and Z in either letter case. It refuses
// years outside 1 to 9999 in UTC, and Go's zero time, which means "no time".
func parseTime(text string) (time.Time, bool) {
	text = strings.ToUpper(text)
	t, err := time.Parse(time.RFC3339, text)
	if err != nil || !strictTime(text) {
		return time.Time{}, false
	}
	t = t.UTC().Truncate(time.Second)
	return t, !t.IsZero() && t.Year() >= 1 && t.Year() <= 9999
}

// strictTime refuses what time.Parse accepts beyond RFC 3339: an hour of one
// digit, a comma before the fraction, offsets of 24 hours or 60 minutes.
func strictTime(text string) bool {
	const hourEnd = len("2026-11-20T08")
	if text[hourEnd] != ':' || strings.Contains(text, ",") {
		return false
	}
	if strings.HasSuffix(text, "Z") {
		return true
	}
	offset := text[len(text)-len("02:00"):]
	return offset[:2] < "24" && offset[3:] < "60"
}

// day returns a day; NoDay if absent or empty.
func (r *reader) day(field string, given *string) order.Day {
	if given == nil || *given == "" {
		return order.NoDay
	}
	day, ok := order.ParseDay(*given)
	if !ok {
		r.refuse(field, "must be a day as in 2026-11-20")
	}
	return day
}
