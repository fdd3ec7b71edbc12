package order_test

import (
	"fmt"
	"testing"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

func TestDays(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text string
		day  order.Day
	}{
		{"1970-01-01", 0},
		{"1970-01-02", 1},
		{"1969-12-31", -1},
		{"1968-02-29", -672},
		{"2000-02-29", 11016},
		{"2024-02-29", 19782},
		{"2024-03-01", 19783},
		{"2026-11-20", 20777},
		{"0000-01-01", -719528},
		{"0000-02-29", -719469},
		{"9999-12-31", 2932896},
	} {
		day, ok := order.ParseDay(test.text)
		if !ok || day != test.day {
			t.Errorf("ParseDay(%q) = %d, %v, want %d", test.text, day, ok, test.day)
		}
		testenv.Equal(t, fmt.Sprintf("day %d is written", day), test.text, day.String())
		first, last := test.text+" 00:00:00", test.text+" 23:59:59"
		testenv.Equal(t, test.text+" starts at", first, day.Start().Format(time.DateTime))
		testenv.Equal(t, test.text+" ends at", last, day.End().Format(time.DateTime))
		for _, moment := range []time.Time{day.Start(), day.End(), day.End().Add(time.Second - 1)} {
			testenv.Equal(t, fmt.Sprintf("DayOf(%s)", moment), day, order.DayOf(moment))
		}
		testenv.Equal(t, fmt.Sprintf("the moment before %s falls on", day), day-1, order.DayOf(day.Start().Add(-1)))
	}
}

// TestDayInTimeZone compares days with their moments, also those on which the clocks
// change: each begins where the one before ends.
func TestDayInTimeZone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ zone, day, begin, end string }{
		{"UTC", "2026-11-20", "2026-11-20T00:00:00Z", "2026-11-21T00:00:00Z"},
		{"Europe/Athens", "2026-11-20", "2026-11-19T22:00:00Z", "2026-11-20T22:00:00Z"},
		{"Europe/Athens", "2026-03-29", "2026-03-28T22:00:00Z", "2026-03-29T21:00:00Z"},      // 23 hours
		{"Europe/Athens", "2026-10-25", "2026-10-24T21:00:00Z", "2026-10-25T22:00:00Z"},      // 25 hours
		{"Africa/Cairo", "2026-04-24", "2026-04-23T22:00:00Z", "2026-04-24T21:00:00Z"},       // begins at 01:00
		{"Atlantic/Azores", "2026-10-25", "2026-10-25T00:00:00Z", "2026-10-26T01:00:00Z"},    // has midnight twice
		{"America/St_Johns", "2026-07-01", "2026-07-01T02:30:00Z", "2026-07-02T02:30:00Z"},   // half an hour
		{"Pacific/Apia", "2011-12-30", "2011-12-30T10:00:00Z", "2011-12-30T10:00:00Z"},       // was left out
		{"Pacific/Kiritimati", "2026-01-01", "2025-12-31T10:00:00Z", "2026-01-01T10:00:00Z"}, // 14 hours ahead
	} {
		zone, err := order.LoadTimeZone(c.zone)
		if err != nil {
			t.Fatal(c.zone, err)
		}
		day, _ := order.ParseDay(c.day)
		begin, end := day.StartIn(zone).UTC(), (day + 1).StartIn(zone).UTC()
		if got, next := begin.Format(time.RFC3339), end.Format(time.RFC3339); got != c.begin || next != c.end {
			t.Errorf("%s in %s: from %s to %s, want %s to %s", c.day, c.zone, got, next, c.begin, c.end)
		}
		for moment := begin; moment.Before(end); moment = moment.Add(15 * time.Minute) {
			testenv.Equal(t, fmt.Sprintf("%s: %s is on", c.zone, moment), day, order.DayIn(moment, zone))
		}
		if got := order.DayIn(begin.Add(-1), zone); got >= day {
			t.Errorf("%s: the moment before %s is on %s", c.zone, c.day, got)
		}
	}
	testenv.Equal(t, "nil is UTC", order.NoDay+1, order.DayIn((order.NoDay+1).Start(), nil))
}

func TestTimeZoneProblem(t *testing.T) {
	t.Parallel()
	for name, valid := range map[string]bool{
		"UTC": true, "Europe/Athens": true, "America/Argentina/Buenos_Aires": true, "Etc/GMT+3": true, "America/Port-au-Prince": true,
		"": false, "Local": false, "Europe": false, "Europe/Atlantis": false, "europe/athens": false, "+02:00": false, "right/UTC": false,
		"posix/Europe/Athens": false, "localtime": false, "../../etc/passwd": false, "Europe/../UTC": false, "Europe/Athens\n": false,
	} {
		testenv.Equal(t, name+" is valid", valid, order.TimeZoneProblem(name) == "")
	}
}

func TestInvalidDay(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "2026-02-29", "1900-02-29", "2026-02-30", "2026-04-31", "2026-13-01", "2026-00-10", "2026-01-00", "2026-1-1",
		"26-01-01", "10000-01-01", "-001-01-01", "2026-01-01 ", " 2026-01-01", "2026-01-01T00:00:00", "2026/01/01",
		"01-01-2026", "20260101", "２０２６-01-01", "2026-01-01\x00", "today",
	} {
		if day, ok := order.ParseDay(text); ok || day != order.NoDay {
			t.Errorf("ParseDay(%q) = %s, %v", text, day, ok)
		}
	}
	testenv.Equal(t, "no day", "", order.NoDay.String())
}

// TestEffectiveRangeIsInUTC: other ranges are in e2e.TestListDates.
func TestEffectiveRangeIsInUTC(t *testing.T) {
	t.Parallel()
	_, to := order.NewFilter().EffectiveRange(time.Date(2026, 11, 21, 0, 30, 0, 0, time.FixedZone("EET", 2*60*60)))
	testenv.Equal(t, "the current day ends at", "2026-11-20 23:59:59", to.Format(time.DateTime))
}

func TestReversedRange(t *testing.T) {
	t.Parallel()
	filter := order.NewFilter()
	filter.From, filter.To = 2, 1
	testenv.Equal(t, "error", order.ErrInvalidRange, filter.Normalize())
}

func FuzzParseDay(f *testing.F) {
	for _, seed := range []string{"2026-11-20", "0000-01-01", "9999-12-31", "2026-02-30", "2026-1-1", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		day, ok := order.ParseDay(text)
		if ok && day.String() != text {
			t.Errorf("ParseDay(%q) is %s", text, day)
		}
		if ok && (order.DayOf(day.Start()) != day || order.DayOf(day.End()) != day) {
			t.Errorf("%s does not hold its own start and end", day)
		}
	})
}
