package ingest

import (
	"strings"
	"time"

	"merchantorders/internal/order"
)

// moment returns a time in whole seconds of UTC, the zero time when absent.
func (r *reading) moment(field string, given *string) time.Time {
	if given == nil {
		return time.Time{}
	}
	t, ok := parseTime(*given)
	if !ok {
		r.refuse(field, "must be a time as in 2026-11-20T08:15:30Z")
	}
	return t
}

// requiredMoment returns a time that must be given.
func (r *reading) requiredMoment(field string, given *string) time.Time {
	if given == nil {
		r.refuse(field, "is required")
	}
	return r.moment(field, given)
}

// parseTime reads RFC 3339, whose letters T and Z may be small. The very first
// second of year 1 is refused with the years that UTC cannot write in four
// digits: it is Go's zero time, which stands for none.
func parseTime(text string) (time.Time, bool) {
	text = strings.ToUpper(text)
	t, err := time.Parse(time.RFC3339, text)
	if err != nil || !strictTime(text) {
		return time.Time{}, false
	}
	t = t.UTC().Truncate(time.Second)
	return t, !t.IsZero() && t.Year() >= 1 && t.Year() <= 9999
}

// strictTime refuses what time.Parse lets through beside RFC 3339: an hour of
// one digit, a comma before the fraction, offsets of 24 hours or 60 minutes.
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

// day returns a day, NoDay when absent or empty.
func (r *reading) day(field string, given *string) order.Day {
	if given == nil || *given == "" {
		return order.NoDay
	}
	day, ok := order.ParseDay(*given)
	if !ok {
		r.refuse(field, "must be a day as in 2026-11-20")
	}
	return day
}
