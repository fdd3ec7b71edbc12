package storetest

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

var searchSubjects = []subject{
	{"search/like the model", testSearchModel},
	{"search/common words", testSearchCommon},
}

// shoppers are customers whose names, addresses and numbers share their beginnings.
var shoppers = []order.Customer{
	{FirstName: "Γιώργος", LastName: "Παπαδόπουλος", Email: "g.papad@example.com", Phone: given("+30 210 1234567")},
	{FirstName: "ΓΕΩΡΓΙΑ", LastName: "Παπαδάκη", Email: "georgia@example.com", Phone: given("2101234568")},
	{FirstName: "George", LastName: "Papas", Email: "George.Papas@example.com", Company: "Παπάς & Υιοί"},
	{FirstName: "José", LastName: "Ångström", Email: "jose@example.org", Phone: given("+46 8 1234")},
	{},
}

// searchTexts are searches, and whether each finds a shopper.
var searchTexts = []struct {
	search order.Search
	finds  [5]bool
}{
	{order.Search{}, [5]bool{true, true, true, true, true}},
	{order.Search{Name: "παπα"}, [5]bool{true, true, true, false, false}},
	{order.Search{Name: "Παπαδόπουλοσ γιωρ"}, [5]bool{true, false, false, false, false}},
	{order.Search{Name: "angst"}, [5]bool{false, false, false, true, false}},
	{order.Search{Name: "nobody"}, [5]bool{}},
	{order.Search{Email: "GEORG"}, [5]bool{false, true, true, false, false}},
	{order.Search{Phone: "0030210123"}, [5]bool{true, true, false, false, false}},
	{order.Search{Phone: "+46"}, [5]bool{false, false, false, true, false}},
	{order.Search{Text: "geo"}, [5]bool{false, true, true, false, false}},
	{order.Search{Text: "+30 210 123 4567"}, [5]bool{true, false, false, false, false}},
	{order.Search{Text: "papad γι"}, [5]bool{true, false, false, false, false}},
	{order.Search{Text: "pap georg"}, [5]bool{false, true, true, false, false}},
	{order.Search{Reference: "s-"}, [5]bool{true, true, true, true, true}},
	{order.Search{Text: "S-"}, [5]bool{true, true, true, true, true}},
	{order.Search{Reference: "t"}, [5]bool{}},
	{order.Search{Text: "5200-3"}, [5]bool{false, false, false, true, false}},
	{order.Search{Text: "gr-1 georg"}, [5]bool{false, true, false, false, false}},
}

// crowd is orders of several merchants, and what searches must find of them.
type crowd struct {
	*fixture
	dice
	orders []order.FoundOrder
}

// grow imports n orders, of which a transition changes some.
func (c *crowd) grow(n int) {
	c.Helper()
	batch := make([]order.Incoming, n)
	for i := range batch {
		k := len(c.orders) + i
		at := noon.Add(time.Duration(c.IntN(n/4+2))*time.Hour).AddDate(0, 0, -[]int{0, 0, 0, 20, 40, 400}[c.IntN(6)])
		o := dated([]int64{alpha, beta}[c.IntN(2)], fmt.Sprintf("S-%05d", k), at, c.state())
		o.Customer = shoppers[k%len(shoppers)]
		o.Carrier.TrackingCodes = fmt.Sprintf("SP-%d, GR-%d", k, k%len(shoppers))
		o.LineItems[0].EAN = given(fmt.Sprintf("5200-%d", k%len(shoppers)))
		if c.IntN(3) > 0 {
			o.ExpiresAt = noon.Add(time.Duration(c.IntN(100)) * time.Hour)
		}
		if c.IntN(2) == 0 {
			o.UpdatedAt = o.CreatedAt.Add(time.Duration(c.IntN(50)) * time.Hour)
		}
		batch[i] = incoming(o)
	}
	for i, result := range c.add(c.a, batch...) {
		o := batch[i].Order
		c.orders = append(c.orders, order.FoundOrder{
			Summary: order.Summary{
				LegacyID: result.LegacyID, Reference: o.Reference, State: o.State, Currency: o.Currency, CountryCode: o.CountryCode,
				CreatedAt: o.CreatedAt, UpdatedAt: o.UpdatedAt, Total: o.Total, Customer: o.Customer,
			},
			MerchantID: o.MerchantID, ExpiresAt: o.ExpiresAt, Codes: o.Codes(),
		})
	}
}

// find returns what a search must find, in order.
func (c *crowd) find(search order.Search, finds [5]bool) []order.FoundOrder {
	var found []order.FoundOrder
	for i, o := range c.orders {
		day := order.DayIn(o.CreatedAt, search.Zone)
		due := o.State == order.Registered && !o.ExpiresAt.IsZero()
		if finds[i%len(shoppers)] &&
			(search.MerchantID == 0 || o.MerchantID == search.MerchantID) && (search.LegacyID == 0 || o.LegacyID == search.LegacyID) &&
			(len(search.States) == 0 || slices.Contains(search.States, o.State)) &&
			(search.From == order.NoDay || day >= search.From) && (search.To == order.NoDay || day <= search.To) &&
			(search.ExpiresBefore.IsZero() || due && o.ExpiresAt.Before(search.ExpiresBefore)) &&
			(search.Sort != order.SortExpires || due) && (search.Sort != order.SortUpdated || !o.UpdatedAt.IsZero()) {
			found = append(found, o)
		}
	}
	slices.SortFunc(found, func(a, b order.FoundOrder) int {
		switch search.Sort {
		case order.SortExpires:
			return cmp.Or(a.ExpiresAt.Compare(b.ExpiresAt), cmp.Compare(a.LegacyID, b.LegacyID))
		case order.SortUpdated:
			return cmp.Or(b.UpdatedAt.Compare(a.UpdatedAt), cmp.Compare(b.LegacyID, a.LegacyID))
		}
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.LegacyID, a.LegacyID))
	})
	return found
}

// walk follows the pages of a search to the end.
func (c *crowd) walk(search order.Search) (found []order.FoundOrder, pages int) {
	c.Helper()
	for pages = 1; ; pages++ {
		page, err := c.b.Search(c.Context(), search)
		if err != nil {
			c.Fatalf("search %+v: %v", search, err)
		}
		if len(page.Orders) > search.Limit || pages > 10_000 {
			c.Fatalf("search %+v: %d orders on page %d", search, len(page.Orders), pages)
		}
		found = append(found, page.Orders...)
		if search.After = page.Next; page.Next == nil {
			return found, pages
		}
	}
}

func (c *crowd) compare(search order.Search, finds [5]bool) {
	c.Helper()
	search.Count = c.IntN(2) == 0
	found, _ := c.walk(search)
	want := c.find(search, finds)
	if diff := gocmp.Diff(want, found, cmpopts.EquateEmpty()); diff != "" {
		c.Fatalf("search %+v (-want +got):\n%s", search, diff)
	}
	if !search.Count {
		return
	}
	page, err := c.b.Search(c.Context(), search)
	if counted := min(len(want), max(search.Limit, order.MaxCounted)); err != nil || page.Found != counted || page.Exact != (counted == len(want)) {
		c.Fatalf("search %+v: found %d, exact %v of %d, %v", search, page.Found, page.Exact, len(want), err)
	}
}

// random adds random conditions to a search.
func (c *crowd) random(search order.Search) order.Search {
	search.Limit, search.From, search.To, search.Zone = []int{1, 3, 20, 100}[c.IntN(4)], order.NoDay, order.NoDay, c.zone()
	if c.IntN(3) == 0 {
		search.MerchantID = []int64{alpha, beta, 1}[c.IntN(3)]
	}
	if c.IntN(3) == 0 {
		search.States = []order.State{order.Registered, c.state()}[c.IntN(2):]
	}
	if c.IntN(3) == 0 {
		search.From = order.DayOf(noon) + order.Day(c.IntN(5))
	}
	if c.IntN(3) == 0 {
		search.To = order.DayOf(noon) + order.Day(c.IntN(5))
	}
	if c.IntN(4) == 0 {
		search.ExpiresBefore = noon.Add(time.Duration(c.IntN(100)) * time.Hour)
	}
	if c.IntN(10) == 0 {
		search.LegacyID = c.orders[c.IntN(len(c.orders))].LegacyID
	}
	if !search.HasText() {
		search.Sort = []order.SearchSort{order.SortCreated, order.SortUpdated, order.SortExpires}[c.IntN(3)]
	}
	return search
}

// testSearchModel compares random searches with the model.
func testSearchModel(f *fixture) {
	c := &crowd{fixture: f, dice: newDice(14)}
	for range 9 {
		c.grow(10)
	}
	for range 2 {
		c.grow(10)
		for _, text := range searchTexts {
			c.compare(c.random(text.search), text.finds)
		}
	}
	o := c.orders[1]
	if found, _ := c.walk(order.Search{Reference: "0001", Limit: 5, From: order.NoDay, To: order.NoDay}); len(found) != 1 || found[0].Reference != o.Reference {
		f.Errorf("the end of reference %s finds %+v", o.Reference, found)
	}
	c.compare(order.Search{Text: strconv.FormatInt(o.LegacyID, 10), Limit: 5, From: order.NoDay, To: order.NoDay, States: []order.State{99}}, [5]bool{})
	if found, _ := c.walk(order.Search{Text: strconv.FormatInt(o.LegacyID, 10), Limit: 5, From: order.NoDay, To: order.NoDay}); !slices.ContainsFunc(found,
		func(x order.FoundOrder) bool { return x.LegacyID == o.LegacyID }) {
		f.Errorf("legacy id %d finds %+v", o.LegacyID, found)
	}
}

// testSearchCommon searches for words that more orders have than a search sorts: one
// word that all have, and many words that begin alike.
func testSearchCommon(f *fixture) {
	const orders, names = 2100, 30
	batch := make([]order.Incoming, orders)
	for i := range batch {
		state := order.Registered
		if i%50 == 0 {
			state = order.Completed
		}
		o := dated(alpha, fmt.Sprintf("S-%05d", i), noon.Add(time.Duration(i)*20*time.Minute), state)
		o.Customer = order.Customer{FirstName: "Γιώργος", LastName: fmt.Sprintf("Παπαδόπουλος%02d", i%names)}
		batch[i] = incoming(o)
	}
	f.add(f.a, batch...)
	c := &crowd{fixture: f}
	for name, every := range map[string]int{"γιωργος": 1, "παπ": 1, "γιω παπαδοπουλος07": names, "παπ γιω": 1, "παπ νικος": 0} {
		search := order.Search{Name: name, Limit: 100, From: order.NoDay, To: order.NoDay}
		found, pages := c.walk(search)
		want := 0
		for i := orders - 1; i >= 0; i-- {
			if every == 0 || i%names != 7 && every == names {
				continue
			}
			if want++; want <= len(found) && found[want-1].Reference != batch[i].Order.Reference {
				f.Fatalf("%s: order %d is %s, want %s", name, want, found[want-1].Reference, batch[i].Order.Reference)
			}
		}
		if len(found) != want || pages > 1+orders/100 {
			f.Errorf("%s: %d found on %d pages, want %d", name, len(found), pages, want)
		}
		search.States = []order.State{order.Completed}
		completed, _ := c.walk(search)
		found = slices.DeleteFunc(found, func(o order.FoundOrder) bool { return o.State != order.Completed })
		testenv.Equal(f, fmt.Sprintf("%s, completed", name), found, completed, cmpopts.EquateEmpty())
		search.MerchantID, search.States = beta, nil
		if found, pages := c.walk(search); found != nil || pages > 3 {
			f.Errorf("%s of a merchant without orders: %d found on %d pages", name, len(found), pages)
		}
	}
}
