package search

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"testing"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/store/sqldb"
	"merchantorders/internal/testenv"
)

// fillPeriods writes orders of Άννα and Maria, ten in each of 40 periods, three of Ζωή in
// old periods, and one second apart in the 20th newest one more of Γιώργος than may be
// read of a period. Every hundredth order is registered. It returns the references of
// each first name, and those of its registered orders, newest first.
func fillPeriods(t *testing.T, db sqldb.DB) (*stored, map[string][]string) {
	t.Helper()
	const perPeriod, periods = 10, 40
	orders := sampleOrders(perPeriod*periods + defaultWordLimits.termWords + 1)
	for i := range orders {
		o := &orders[i]
		at := testTime.Unix() - int64(i/perPeriod*period+i%perPeriod)
		o.State, o.Customer.FirstName = order.Completed, []string{"Άννα", "Maria"}[i%2]
		if i >= perPeriod*periods {
			at = testTime.Unix() - 20*period - int64(i)
			o.Customer.FirstName = "Γιώργος"
		}
		if i == 155 || i == 255 || i == 355 {
			o.Customer.FirstName = "Ζωή"
		}
		if i%100 == 0 {
			o.State = order.Registered
		}
		o.CreatedAt = time.Unix(at, 0).UTC()
	}
	all := fill(t, db, orders)
	slices.SortFunc(orders, func(a, b order.Order) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), -cmp.Compare(a.LegacyID, b.LegacyID))
	})
	references := make(map[string][]string)
	for _, o := range orders {
		name := o.Customer.FirstName
		references[name] = append(references[name], o.Reference)
		if o.State == order.Registered {
			references[name+" registered"] = append(references[name+" registered"], o.Reference)
		}
	}
	return all, references
}

// TestReads counts what the pages of a search read.
func TestReads(t *testing.T) {
	t.Parallel()
	db := openSQLite(t)
	all, references := fillPeriods(t, db)
	for _, test := range []struct {
		name   string
		states []order.State
		limit  int
		first  string // first name of the orders to find
		// The most that the first page reads; words without the attempt to find few.
		words, orders, statements int
	}{
		{"a common word: the newest periods", nil, 20, "Άννα", 40, ReadLimit, 12},
		{"a less common word: every period", nil, 100, "Maria", 4 * 5 * 40, 200 + ReadLimit, 25},
		{"a rare word: all periods at once", nil, 3, "Ζωή", 3, 3, 4},
		{"many in a period: the newest orders", nil, 20, "Γιώργος", 3*defaultWordLimits.rangeWords + defaultWordLimits.termWords + firstSlice/sliceGrowth, ReadLimit, 40},
		{"many in a period, all pages", nil, 100, "Γιώργος", 3*defaultWordLimits.rangeWords + defaultWordLimits.termWords + firstSlice/sliceGrowth, 100 + ReadLimit, 40},
		{"few in a state", []order.State{order.Registered}, 4, "Άννα", 2 * 5 * 40, 100, 25},
	} {
		t.Run(test.name, func(t *testing.T) {
			request := order.Search{Name: test.first, States: test.states, From: order.NoDay, To: order.NoDay, Limit: test.limit}
			var found []string
			for pages := 0; pages == 0 || request.After != nil; pages++ {
				counter := &statementCounter{Querier: db}
				all.reads = 0
				s := newReader(counter, db.Dialect(), all, request)
				page, err := s.run(t.Context())
				counter.statements += all.reads
				testenv.NoError(t, err)
				if pages == 0 && (s.words > test.words+fewKeys+1 || s.read > test.orders || len(page.Orders) != test.limit || counter.statements > test.statements) {
					t.Errorf("the first page has %d orders and read %d words and %d orders in %d statements, want %d, %d, %d and %d",
						len(page.Orders), s.words, s.read, counter.statements, test.limit, test.words, test.orders, test.statements)
				}
				if s.words > 2*defaultWordLimits.words || s.read > maxRows+ReadLimit {
					t.Errorf("page %d read %d words and %d orders", pages, s.words, s.read)
				}
				for _, o := range page.Orders {
					found = append(found, o.Reference)
				}
				request.After = page.Next
			}
			want := references[test.first]
			if test.states != nil {
				want = references[test.first+" registered"]
			}
			if !slices.Equal(found, want) {
				t.Errorf("found %d orders: %s", len(found), fmt.Sprint(found))
			}
		})
	}
}

// statementCounter counts the statements that it runs.
type statementCounter struct {
	sqldb.Querier
	statements int
}

func (c *statementCounter) Query(ctx context.Context, text string, args []any, scan func(sqldb.Rows) error) error {
	c.statements++
	return c.Querier.Query(ctx, text, args, scan)
}

func (c *statementCounter) QueryMany(ctx context.Context, queries iter.Seq2[string, []any], scan func(int, sqldb.Rows) error) error {
	return sqldb.OneByOne(ctx, c, queries, scan)
}

func (c *statementCounter) QueryRow(ctx context.Context, text string, args []any, dest ...any) error {
	c.statements++
	return c.Querier.QueryRow(ctx, text, args, dest...)
}
