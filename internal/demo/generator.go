package demo

import (
	"math/rand/v2"
	"strconv"
	"time"
)

// generator generates the orders. Its random numbers are always the same.
type generator struct {
	*data
	random *rand.Rand
}

func newGenerator(d *data) *generator {
	return &generator{data: d, random: rand.New(rand.NewPCG(355, 60))}
}

// between returns a number from low to high, inclusive.
func (g *generator) between(low, high int) int { return low + g.random.IntN(high-low+1) }

// number is between as text.
func (g *generator) number(low, high int) string { return strconv.Itoa(g.between(low, high)) }

// digits returns a text of random digits.
func (g *generator) digits(count int) string {
	text := make([]byte, count)
	for i := range text {
		text[i] = byte('0' + g.random.IntN(10))
	}
	return string(text)
}

// oneIn returns true with a probability of 1/n.
func (g *generator) oneIn(n int) bool { return g.random.IntN(n) == 0 }

// duration returns a duration from low to high, in whole seconds.
func (g *generator) duration(low, high time.Duration) time.Duration {
	return low + time.Duration(g.random.Int64N(int64((high-low)/time.Second)+1))*time.Second
}

// pick returns an element of a slice.
func pick[T any](g *generator, from []T) T { return from[g.random.IntN(len(from))] }
