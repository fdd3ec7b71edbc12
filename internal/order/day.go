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

// End returns the last whole second of the day.
func (d Day) End() time.Time { return d.Start().Add((secondsPerDay - 1) * time.Second) }

// String returns the form YYYY-MM-DD, or "" for NoDay.
func (d Day) String() string {
	if d == NoDay {
		return ""
	}
	return d.Start().Format(time.DateOnly)
}
