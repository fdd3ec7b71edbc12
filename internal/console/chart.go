package console

import (
	"time"

	"merchantorders/internal/order"
)

// Measures of the chart, in units of its view box.
const (
	chartWidth  = 840
	chartHeight = 200
	chartLeft   = 44 // room for the numbers at the axis
	chartBottom = 24 // room for the days
	chartTop    = 8
	chartGap    = 4 // between two days
)

// groups are the states that the chart shows as one, from the bottom up. The name is
// part of the message key and of the class.
var groups = []struct {
	name   string
	states []order.State
}{
	{"done", []order.State{order.DeliveredToCustomer, order.Completed, order.ReturnCanceled}},
	{"shipped", []order.State{order.PickedByCourier, order.DeliveredToPickupPoint, order.DeliveryFailed}},
	{"preparing", []order.State{order.InProcessing, order.ReadyForShipment}},
	{"new", []order.State{order.Registered}},
	{"ended", []order.State{order.RejectedByMerchant, order.Canceled}},
}

// chart is the number of orders by day and group of states, as bars.
type chart struct {
	Width, Height int
	Left, Right   int // ends of the lines
	TextX         int
	DayY          int
	Groups        []string
	Days          []chartDay
	Lines         []chartLine
	Total         int64
}

// chartDay is the bar of a day.
type chartDay struct {
	Start  time.Time
	Orders int64
	Counts []int64 // of each group
	Bars   []chartBar
	X      float64 // of its middle
	Label  bool    // whether the day is written below
}

// chartBar is the part of a bar for a group.
type chartBar struct {
	Group               string
	X, Y, Width, Height float64
}

// chartLine is a line of the grid.
type chartLine struct {
	Y      float64
	Orders int64
}

// newChart returns the chart of the days up to today.
func newChart(counts []order.DayCount, today order.Day) chart {
	c := chart{
		Width: chartWidth, Height: chartHeight, Left: chartLeft, Right: chartWidth, TextX: chartLeft - 8, DayY: chartHeight - 6,
		Days: make([]chartDay, chartDays),
	}
	first := today - chartDays + 1
	groupOf := make(map[order.State]int)
	for i, group := range groups {
		c.Groups = append(c.Groups, group.name)
		for _, state := range group.states {
			groupOf[state] = i
		}
	}
	for i := range c.Days {
		c.Days[i] = chartDay{Start: (first + order.Day(i)).Start(), Counts: make([]int64, len(groups))}
	}
	most := int64(0)
	for _, count := range counts {
		day := &c.Days[count.Day-first]
		day.Orders += count.Orders
		day.Counts[groupOf[count.State]] += count.Orders
		c.Total += count.Orders
		most = max(most, day.Orders)
	}
	c.draw(niceCeiling(most))
	return c
}

// draw places bars and lines. top is the number at the upper line.
func (c *chart) draw(top int64) {
	base, scale := float64(chartHeight-chartBottom), float64(chartHeight-chartBottom-chartTop)/float64(top)
	step := float64(chartWidth-chartLeft) / chartDays
	for i := range c.Days {
		day := &c.Days[i]
		x, y := chartLeft+step*float64(i)+chartGap/2, base
		day.X = x + (step-chartGap)/2
		// Mondays, where the whole text fits.
		day.Label = day.Start.Weekday() == time.Monday && day.X < chartWidth-step
		for g, n := range day.Counts {
			if n > 0 {
				y -= float64(n) * scale
				day.Bars = append(day.Bars, chartBar{Group: groups[g].name, X: x, Y: y, Width: step - chartGap, Height: float64(n) * scale})
			}
		}
	}
	for _, n := range []int64{0, top / 2, top} {
		c.Lines = append(c.Lines, chartLine{Y: base - float64(n)*scale, Orders: n})
	}
}

// niceCeiling returns an even number not below n that begins with 1, 2, 4, 6 or 8.
func niceCeiling(n int64) int64 {
	for unit := int64(1); ; unit *= 10 {
		for _, digit := range []int64{2, 4, 6, 8, 10} {
			if n <= digit*unit {
				return digit * unit
			}
		}
	}
}
