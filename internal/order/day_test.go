package order_test

import (
	"testing"
	"time"

	"merchantorders/internal/order"
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
		if got := day.String(); got != test.text {
			t.Errorf("day %d is written %q, want %q", day, got, test.text)
		}
		first, last := test.text+" 00:00:00", test.text+" 23:59:59"
		if got := day.Start().Format(time.DateTime); got != first {
			t.Errorf("%s starts at %s", test.text, got)
		}
		if got := day.End().Format(time.DateTime); got != last {
			t.Errorf("%s ends at %s", test.text, got)
		}
		for _, moment := range []time.Time{day.Start(), day.End(), day.End().Add(time.Second - 1)} {
			if got := order.DayOf(moment); got != day {
				t.Errorf("DayOf(%s) = %s, want %s", moment, got, day)
			}
		}
		if got := order.DayOf(day.Start().Add(-1)); got != day-1 {
			t.Errorf("the moment before %s falls on %s", day, got)
		}
	}
}

func TestDayIsInUTC(t *testing.T) {
	t.Parallel()
	athens := time.FixedZone("EET", 2*60*60)
	late := time.Date(2026, 11, 21, 1, 30, 0, 0, athens)
	if got := order.DayOf(late).String(); got != "2026-11-20" {
		t.Errorf("DayOf(%s) = %s, want the day of UTC", late, got)
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
	if got := order.NoDay.String(); got != "" {
		t.Errorf("no day is written %q", got)
	}
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
