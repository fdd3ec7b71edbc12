package order

import (
	"strconv"
	"strings"
	"time"
)

// ParseTime parses a time of RFC 3339, with T and Z in either letter case, to whole
// seconds in UTC. ok is false for years outside 1 to 9999 in UTC, and for Go's zero
// time, which means "no time".
func ParseTime(text string) (time.Time, bool) {
	text = strings.ToUpper(text)
	t, err := time.Parse(time.RFC3339, text)
	if err != nil || !strictTime(text) {
		return time.Time{}, false
	}
	t = t.UTC().Truncate(time.Second)
	return t, !t.IsZero() && t.Year() >= 1 && t.Year() <= 9999
}

// ParseDuration parses a duration that is not negative, such as 2160h, or a number of days,
// such as 90d.
func ParseDuration(text string) (time.Duration, bool) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 16)
		return time.Duration(n) * 24 * time.Hour, err == nil
	}
	d, err := time.ParseDuration(text)
	return d, err == nil && d >= 0
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
