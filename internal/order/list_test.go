package order_test

import (
	"testing"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// day parses a day.
func day(t *testing.T, text string) order.Day {
	t.Helper()
	if text == "" {
		return order.NoDay
	}
	d, ok := order.ParseDay(text)
	if !ok {
		t.Fatalf("%q is no day", text)
	}
	return d
}

func TestEffectiveRange(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 23, 59, 59, 999, time.UTC)
	for _, test := range []struct {
		name, from, to      string
		wantFrom, wantUntil string
	}{
		{"no filter", "", "", "1970-01-01", "2026-11-20"},
		{"both", "2026-05-01", "2026-05-31", "2026-05-01", "2026-05-31"},
		{"one day", "2026-05-01", "2026-05-01", "2026-05-01", "2026-05-01"},
		{"from alone", "2026-05-01", "", "2026-05-01", "2026-11-20"},
		{"from alone, today", "2026-11-20", "", "2026-11-20", "2026-11-20"},
		{"from alone, later than today", "2027-01-02", "", "2027-01-02", "2027-01-02"},
		{"to alone", "", "2026-05-31", "1970-01-01", "2026-05-31"},
		{"to alone, later than today", "", "2030-01-01", "1970-01-01", "2030-01-01"},
		{"to alone, before 1970", "", "1965-03-04", "1965-03-04", "1965-03-04"},
		{"the ends of the calendar", "0000-01-01", "9999-12-31", "0000-01-01", "9999-12-31"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			filter := order.NewFilter()
			filter.From, filter.To = day(t, test.from), day(t, test.to)
			from, to := filter.EffectiveRange(now)
			testenv.Equal(t, "from", test.wantFrom+" 00:00:00", from.Format(time.DateTime))
			testenv.Equal(t, "to", test.wantUntil+" 23:59:59", to.Format(time.DateTime))
		})
	}
}

func TestEffectiveRangeIsInUTC(t *testing.T) {
	t.Parallel()
	_, to := order.NewFilter().EffectiveRange(time.Date(2026, 11, 21, 0, 30, 0, 0, time.FixedZone("EET", 2*60*60)))
	testenv.Equal(t, "the current day ends at", "2026-11-20 23:59:59", to.Format(time.DateTime))
}

func TestFilterNormalize(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name     string
		from, to string
		size     int64
		wantSize int64
		wantErr  error
	}{
		{"as made", "", "", order.DefaultPageSize, 10, nil},
		{"the maximum", "", "", 100, 100, nil},
		{"above the maximum", "", "", 101, 100, nil},
		{"far above the maximum", "", "", 9223372036854775807, 100, nil},
		{"one day", "2026-01-01", "2026-01-01", 10, 10, nil},
		{"reversed", "2026-01-02", "2026-01-01", 10, 10, order.ErrInvalidRange},
		{"from alone", "9999-12-31", "", 10, 10, nil},
		{"to alone", "", "0000-01-01", 10, 10, nil},
	} {
		filter := order.NewFilter()
		filter.From, filter.To, filter.PageSize = day(t, test.from), day(t, test.to), test.size
		testenv.Equal(t, test.name, test.wantErr, filter.Normalize())
		testenv.Equal(t, test.name+": size", test.wantSize, filter.PageSize)
	}
}
