package order

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	// The time zones are part of the program: minimal images have none.
	_ "time/tzdata"
)

// ParseTime is ParseRFC3339, but the time may have no seconds: java.time leaves them out when they
// are zero.
func ParseTime(text string) (time.Time, bool) {
	const minuteEnd = len("2026-11-20T08:15")
	if len(text) > minuteEnd && text[minuteEnd] != ':' {
		text = text[:minuteEnd] + ":00" + text[minuteEnd:]
	}
	return ParseRFC3339(text)
}

// ParseRFC3339 parses a time of RFC 3339, with T and Z in either letter case, to whole seconds in
// UTC. ok is false for years outside 1 to 9999 in UTC, and for Go's zero time, which means "no
// time".
func ParseRFC3339(text string) (time.Time, bool) {
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

// errTimeZone says that a text is not the name of a time zone.
var errTimeZone = errors.New("must be the name of a time zone, such as Europe/Athens or UTC")

// timeZoneName matches the names of the IANA database. The folder of a system has more
// files, among them zones that count leap seconds.
var timeZoneName = regexp.MustCompile(`^(UTC|[A-Z][A-Za-z]+(/[A-Z][A-Za-z0-9_+-]*){1,2})$`)

// timeZones has the time zones that were loaded, by name.
var timeZones sync.Map

// LoadTimeZone returns the time zone with a name of the IANA database. The error says
// what is wrong, as TimeZoneProblem does.
func LoadTimeZone(name string) (*time.Location, error) {
	if zone, ok := timeZones.Load(name); ok {
		return zone.(*time.Location), nil
	}
	if !timeZoneName.MatchString(name) {
		return nil, errTimeZone
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, errTimeZone
	}
	timeZones.Store(name, zone)
	return zone, nil
}

// TimeZoneProblem returns what is wrong with the name of a time zone, as a phrase that
// follows the name of the field. It returns "" for a valid name.
func TimeZoneProblem(name string) string {
	if _, err := LoadTimeZone(name); err != nil {
		return err.Error()
	}
	return ""
}
