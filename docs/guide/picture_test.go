// Package guide_test draws the picture of the states from the transitions that
// the domain allows, and compares the guide with the code.
package guide_test

import (
	"flag"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

var update = flag.Bool("update", false, "rewrite the picture of the states")

const pictureFile = "states.svg"

// TestStatePicture compares the picture with the allowed transitions.
// To redraw it: go test ./docs/guide -update.
func TestStatePicture(t *testing.T) {
	t.Parallel()
	want := picture(t)
	if *update {
		testenv.NoError(t, os.WriteFile(pictureFile, []byte(want), 0o644))
	}
	got := testenv.Of(os.ReadFile(pictureFile)).Must(t)
	testenv.Equal(t, "states.svg does not match the allowed transitions; redraw it with go test ./docs/guide -update", want, string(got))
}

// cell is the position of a state in the grid of the picture.
type cell struct{ column, row float64 }

// cells has a cell for every state, chosen so that few arrows cross.
var cells = map[order.State]cell{
	order.Registered:             {1, 0},
	order.RejectedByMerchant:     {0, 1},
	order.InProcessing:           {1, 1},
	order.ReadyForShipment:       {1, 2},
	order.Canceled:               {2, 1.5},
	order.PickedByCourier:        {1, 3},
	order.DeliveredToPickupPoint: {0, 4},
	order.DeliveryFailed:         {2, 4},
	order.DeliveredToCustomer:    {1, 5},
	order.ReturnCanceled:         {0, 6},
	order.Completed:              {1, 7},
}

// Sizes, in units of the SVG.
const (
	boxWidth, boxHeight = 118.0, 42.0
	stepX, stepY        = 152.0, 78.0
	margin              = 8.0
	// apart is the distance of each of two opposite arrows from the line between
	// the boxes.
	apart = 9.0
)

type point struct{ x, y float64 }

func (c cell) middle() point {
	return point{margin + boxWidth/2 + c.column*stepX, margin + boxHeight/2 + c.row*stepY}
}

const style = `
rect { fill: #eef4f2; stroke: #1f6f5c; stroke-width: 1.5 }
text { fill: #1d2327; font: 13px system-ui, sans-serif; text-anchor: middle }
path { stroke: #5a656d; stroke-width: 1.5; fill: none; marker-end: url(#end) }
path.merchant { stroke: #1f6f5c; stroke-width: 4; marker-end: url(#thick) }
.end { fill: #5a656d } .thick { fill: #1f6f5c }
@media (prefers-color-scheme: dark) {
rect { fill: #1d2a27; stroke: #7cd0b8 } text { fill: #e4e8ea }
path { stroke: #a3adb3 } path.merchant { stroke: #7cd0b8 } .end { fill: #a3adb3 } .thick { fill: #7cd0b8 }
}
`

// picture draws the states and the transitions between them, with thick arrows
// for those that a merchant may make.
func picture(t *testing.T) string {
	t.Helper()
	last := cell{2, 7}.middle()
	width, height := last.x+boxWidth/2+margin, last.y+boxHeight/2+margin
	var out strings.Builder
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" width="%g" height="%g" role="img" aria-labelledby="title">`+"\n", width, height, width, height)
	out.WriteString("<title id=\"title\">States of an order and the transitions between them</title>\n<style>" + style + "</style>\n")
	out.WriteString(`<defs><marker id="end" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto"><path class="end" style="stroke: none; marker: none" d="M0 0L8 4L0 8z"/></marker>` +
		`<marker id="thick" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="15" markerHeight="15" markerUnits="userSpaceOnUse" orient="auto"><path class="thick" style="stroke: none; marker: none" d="M0 0L8 4L0 8z"/></marker></defs>` + "\n")
	for _, from := range order.States() {
		for _, to := range order.States() {
			if order.ActorOperator.CanTransition(from, to) || order.ActorMerchant.CanTransition(from, to) {
				out.WriteString(arrow(from, to))
			}
		}
	}
	for _, state := range order.States() {
		at, ok := cells[state]
		if !ok {
			t.Fatalf("%s has no cell in the picture", state)
		}
		out.WriteString(box(state, at.middle()))
	}
	out.WriteString("</svg>\n")
	return out.String()
}

// arrow draws a transition, from the edge of one box to the edge of the other.
func arrow(from, to order.State) string {
	a, b := cells[from].middle(), cells[to].middle()
	if back := order.ActorOperator.CanTransition(to, from); back {
		length := math.Hypot(b.x-a.x, b.y-a.y)
		dx, dy := -(b.y-a.y)/length*apart, (b.x-a.x)/length*apart
		a, b = point{a.x + dx, a.y + dy}, point{b.x + dx, b.y + dy}
	}
	start, end := edge(cells[from].middle(), a, b), edge(cells[to].middle(), b, a)
	class := ""
	if order.ActorMerchant.CanTransition(from, to) {
		class = ` class="merchant"`
	}
	return fmt.Sprintf("<path%s d=\"M%.1f %.1fL%.1f %.1f\"><title>%s to %s</title></path>\n", class, start.x, start.y, end.x, end.y, from, to)
}

// edge returns the point where the line from one point to another leaves a box.
func edge(box, from, to point) point {
	dx, dy := to.x-from.x, to.y-from.y
	leave := math.Inf(1)
	for _, side := range []struct{ offset, delta, half float64 }{
		{from.x - box.x, dx, boxWidth / 2}, {from.y - box.y, dy, boxHeight / 2},
	} {
		if side.delta != 0 {
			leave = min(leave, (math.Copysign(side.half, side.delta)-side.offset)/side.delta)
		}
	}
	return point{from.x + dx*leave, from.y + dy*leave}
}

// box draws a state; a long name takes two lines.
func box(state order.State, at point) string {
	var out strings.Builder
	fmt.Fprintf(&out, `<rect x="%.1f" y="%.1f" width="%g" height="%g" rx="8"/>`, at.x-boxWidth/2, at.y-boxHeight/2, boxWidth, boxHeight)
	lines := linesOf(state.String())
	for i, line := range lines {
		y := at.y + 4.5 + (float64(i)-float64(len(lines)-1)/2)*15
		fmt.Fprintf(&out, `<text x="%.1f" y="%.1f">%s</text>`, at.x, y, line)
	}
	out.WriteByte('\n')
	return out.String()
}

// linesOf breaks a long name after the hyphen nearest to its middle.
func linesOf(name string) []string {
	if len(name) <= 14 {
		return []string{name}
	}
	best := -1
	for i, letter := range name {
		if letter == '-' && (best < 0 || math.Abs(float64(i)-float64(len(name))/2) < math.Abs(float64(best)-float64(len(name))/2)) {
			best = i
		}
	}
	if best < 0 {
		return []string{name}
	}
	return []string{name[:best+1], name[best+1:]}
}
