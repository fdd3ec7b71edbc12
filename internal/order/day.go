package order

import (
	"math"
	"time"
)

// Day is a day of UTC, counted from 1970-01-01 as 0. Days before it are
// negative.
type Day int32

// NoDay stands for an unknown day or, in a Filter, for an open end.
const NoDay Day = math.MinInt32

const secondsPerDay = 24 * 60 * 60

// DayOf returns the day of UTC on which t falls.
func DayOf(t time.Time) Day {
	s := t.Unix()
	day := s / secondsPerDay
	if s%secondsPerDay < 0 {
		day--
	}
	return Day(day)
}

// ParseDay reads the form YYYY-MM-DD and refuses days that no calendar has.
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

// String returns the form YYYY-MM-DD, empty for NoDay.
func (d Day) String() string {
	if d == NoDay {
		return ""
	}
	return d.Start().Format(time.DateOnly)
}
