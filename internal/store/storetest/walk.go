package storetest

import (
	"fmt"
	"slices"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// testListWalk follows lists from page to page: without changes it sees what the
// pages by number show, and beside changes every order that was there before it
// began, once.
func testListWalk(f *fixture, b *book) {
	b.grow(f.a, 150)
	first, last := b.days[len(b.days)/4], b.days[len(b.days)/4*3]
	for _, states := range [][]order.State{nil, {order.Registered}, order.StatesOfCode('C'), {}} {
		for _, span := range [][2]order.Day{{order.NoDay, order.NoDay}, {first, order.NoDay}, {order.NoDay, last}, {first, last}} {
			filter := order.Filter{AnyState: states == nil, States: states, From: span[0], To: span[1], Page: 1, PageSize: 7}
			testenv.Equal(f, fmt.Sprintf("%+v", filter), b.byNumber(filter), b.walk(filter, func() {}))
		}
	}
	before := make(map[int64]bool)
	for _, o := range b.model.orders {
		before[o.LegacyID] = true
	}
	filter := order.NewFilter()
	filter.PageSize = 11
	seen := b.walk(filter, func() {
		b.grow(f.b, 3)
		b.move(f.a)
	})
	for _, number := range seen {
		delete(before, number)
	}
	if len(before) > 0 {
		f.Errorf("orders that were there and not shown: %v", before)
	}
	slices.Sort(seen)
	if len(slices.Compact(slices.Clone(seen))) != len(seen) {
		f.Errorf("orders shown twice: %v", seen)
	}
}

// walk follows a list from its first page and returns the numbers of its orders.
func (b *book) walk(filter order.Filter, between func()) []int64 {
	b.Helper()
	var numbers []int64
	for {
		page := testenv.Of(b.a.List(b.Context(), alpha, filter)).Must(b)
		for _, o := range page.Orders {
			numbers = append(numbers, o.LegacyID)
		}
		if page.Next == nil {
			return numbers
		}
		if int64(len(page.Orders)) != filter.PageSize {
			b.Errorf("%d orders on a page that is not the last", len(page.Orders))
		}
		filter.After = page.Next
		between()
	}
}

// byNumber reads every page of a list by its number.
func (b *book) byNumber(filter order.Filter) []int64 {
	b.Helper()
	var numbers []int64
	for ; ; filter.Page++ {
		page := testenv.Of(b.a.List(b.Context(), alpha, filter)).Must(b)
		if len(page.Orders) == 0 {
			return numbers
		}
		for _, o := range page.Orders {
			numbers = append(numbers, o.LegacyID)
		}
	}
}
