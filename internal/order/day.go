package order

import (
	"math"
	"time"
)

// Day is a day in UTC, as the number of days since 1970-01-01. Earlier days are
// negative.
type Day int32

// NoDay is an unknown day or, in a Filter, an open bound.
const NoDay Day = math.MinInt32

const secondsPerDay = 24 * 60 * 60

// DayIn returns the day of t in a time zone. nil is UTC.
func DayIn(t time.Time, zone *time.Location) Day {
	if zone == nil {
		return DayOf(t)
	}
	year, month, day := t.In(zone).Date()
	return DayOf(time.Date(year, month, day, 0, 0, 0, 0, time.UTC))
}

// DayOf returns the day of t in UTC.
func DayOf(t time.Time) Day {
	s := t.Unix()
	day := s / secondsPerDay
	if s%secondsPerDay < 0 {
		day--
	}
	return Day(day)
}

// ParseDay parses the form YYYY-MM-DD. ok is false for any other form and for a
// day that does not exist.
func ParseDay(text string) (Day, bool) {
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return NoDay, false
	}
	return DayOf(t), true
}

// Start returns the first second of the day.
func (d Day) Start() time.Time { return time.Unix(int64(d)*secondsPerDay, 0).UTC() }

// StartIn returns the first second of the day in a time zone. nil is UTC.
func (d Day) StartIn(zone *time.Location) time.Time {
	if zone == nil {
		return d.Start()
	}
	year, month, day := d.Start().Date()
	midnight := time.Date(year, month, day, 0, 0, 0, 0, zone)
	begin, end := midnight.ZoneBounds()
	if DayIn(midnight, zone) < d {
		return end // the clocks go forward at midnight: the day begins with 01:00
	}
	if begin.IsZero() {
		return midnight
	}
	_, offset := midnight.Zone()
	_, before := begin.Add(-time.Second).Zone()
	if first := midnight.Add(time.Duration(offset-before) * time.Second); first.Before(begin) && offset < before {
		return first // the clocks go back to midnight: there are two
	}
	return midnight
}

// bounds returns the times of creation, in Unix seconds, that a range of days in a time
// zone has: from from on, and before until. An open bound is math.MinInt64 or
// math.MaxInt64.
func bounds(first, last Day, zone *time.Location) (from, until int64) {
	from, until = math.MinInt64, math.MaxInt64
	if first != NoDay {
		from = first.StartIn(zone).Unix()
	}
	if last != NoDay && last != math.MaxInt32 {
		until = (last + 1).StartIn(zone).Unix()
	}
	return from, until
}

// End returns the last whole second of the day.
func (d Day) End() time.Time { return d.Start().Add((secondsPerDay - 1) * time.Second) }

// String returns the form YYYY-MM-DD, or "" for NoDay.
func (d Day) String() string {
	if d == NoDay {
		return ""
	}
	return d.Start().Format(time.DateOnly)
}
