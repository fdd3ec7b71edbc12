package demo

import (
	"math/rand/v2"
	"strconv"
	"time"
)

// object is a JSON object being written.
type object = map[string]any

// dice makes the choices. Its throws are always the same.
type dice struct {
	random *rand.Rand
}

func newDice() *dice { return &dice{random: rand.New(rand.NewPCG(355, 60))} }

// between returns a number from low to high, both included.
func (d *dice) between(low, high int) int { return low + d.random.IntN(high-low+1) }

// number is between as text.
func (d *dice) number(low, high int) string { return strconv.Itoa(d.between(low, high)) }

// digits returns some digits.
func (d *dice) digits(count int) string {
	text := make([]byte, count)
	for i := range text {
		text[i] = byte('0' + d.random.IntN(10))
	}
	return string(text)
}

// oneIn is true once in n throws.
func (d *dice) oneIn(n int) bool { return d.random.IntN(n) == 0 }

// span returns a time from short to long, in whole seconds.
func (d *dice) span(short, long time.Duration) time.Duration {
	return short + time.Duration(d.random.Int64N(int64((long-short)/time.Second)+1))*time.Second
}

// pick returns one of several.
func pick[T any](d *dice, from []T) T { return from[d.random.IntN(len(from))] }
