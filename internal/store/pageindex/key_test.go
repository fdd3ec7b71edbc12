package pageindex

import (
	"math"
	"testing"

	"merchantorders/internal/order"
)

func TestKeyNext(t *testing.T) {
	t.Parallel()
	for k, want := range map[Key]Key{
		{7, 1}:             {7, 2},
		{7, -1}:            {7, 0},
		{7, math.MaxInt64}: {8, math.MinInt64},
	} {
		if got := k.next(); got != want {
			t.Errorf("after %v: %v, want %v", k, got, want)
		}
	}
}

func TestKeyDay(t *testing.T) {
	t.Parallel()
	for _, day := range []order.Day{-20000, -1, 0, 1, today} {
		start, end := StartOfDay(day), Key{day.End().Unix(), math.MaxInt64}
		if start.day() != day || end.day() != day || end.next() != StartOfDay(day+1) {
			t.Errorf("%s: starts on %s, ends on %s, next %v", day, start.day(), end.day(), end.next())
		}
	}
}
