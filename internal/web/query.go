package web

import (
	"maps"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"

	"merchantorders/internal/order"
)

// maxQuery is the length of the longest query, in bytes.
const maxQuery = 8 << 10

// CheckQuery returns a *ParamError if the query of a request is too long.
func CheckQuery(r *http.Request) error {
	if len(r.URL.RawQuery) > maxQuery {
		return &ParamError{Name: "query", Problem: "is longer than " + strconv.Itoa(maxQuery) + " bytes"}
	}
	return nil
}

// Query is the query of a request. A known parameter with an empty value counts as
// absent; a parameter given twice is an error (decision 3). Every error is a
// *ParamError.
type Query struct {
	values url.Values
}

// ParseQuery parses the query of a request.
func ParseQuery(r *http.Request) (Query, error) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return Query{}, &ParamError{Name: "query", Problem: "is malformed"}
	}
	return Query{values: values}, nil
}

// Text returns a parameter unchanged, empty if it is absent.
func (q Query) Text(name string) (string, error) {
	values := q.values[name]
	switch len(values) {
	case 0:
		return "", nil
	case 1:
		return values[0], nil
	}
	return "", &ParamError{Name: name, Problem: "is given twice"}
}

// CutPage returns the first limit rows of a page that was read with one row more, and
// the key after which the next page begins; nil if there is none. limit 0 means that
// all rows were read.
func CutPage[T any](rows []T, limit int, key func(T) int64) ([]T, *int64) {
	if limit == 0 || len(rows) <= limit {
		return rows, nil
	}
	next := key(rows[limit-1])
	return rows[:limit], &next
}

// Allow returns an error if the query has a parameter with another name.
func (q Query) Allow(names ...string) error {
	for _, name := range slices.Sorted(maps.Keys(q.values)) {
		if !slices.Contains(names, name) {
			return &ParamError{Name: Echo(name), Problem: "is not a known parameter"}
		}
	}
	return nil
}

// MaxInt is the largest maximum of Int.
const MaxInt = math.MaxInt64

// Int returns a parameter that is a whole number in plain digits, from minimum to
// maximum. It returns absent if there is no such parameter.
func (q Query) Int(name string, absent, minimum, maximum int64) (int64, error) {
	text, err := q.Text(name)
	if err != nil || text == "" {
		return absent, err
	}
	n, ok := order.ParseID(text)
	if text == "0" {
		ok = true
	} else if n == 0 {
		ok = false // more than 64 bits
	}
	if !ok || n < minimum || n > maximum {
		problem := "must be a whole number from " + strconv.FormatInt(minimum, 10)
		if maximum < MaxInt {
			problem += " to " + strconv.FormatInt(maximum, 10)
		}
		return 0, &ParamError{Name: name, Problem: problem}
	}
	return n, nil
}

// First returns the first of the names that the query has with a value, or the first
// name if it has none of them.
func (q Query) First(names ...string) string {
	for _, name := range names {
		if values := q.values[name]; len(values) > 1 || len(values) == 1 && values[0] != "" {
			return name
		}
	}
	return names[0]
}

// Only returns the parameters with certain names that have a value.
func (q Query) Only(names ...string) url.Values {
	only := make(url.Values)
	for _, name := range names {
		if value := q.values.Get(name); value != "" {
			only.Set(name, value)
		}
	}
	return only
}

// Day returns a parameter of the form YYYY-MM-DD, and order.NoDay if it is absent. A
// time may follow the date: the day is that of the time in UTC (decision 3).
func (q Query) Day(name string) (order.Day, error) {
	text, err := q.Text(name)
	if err != nil || text == "" {
		return order.NoDay, err
	}
	day, ok := parseDay(text)
	if !ok {
		return order.NoDay, &ParamError{Name: name, Problem: "must be a date of the form YYYY-MM-DD"}
	}
	return day, nil
}

// dayTime is a date with a time, as clients print it. A plus that the client does
// not escape arrives as a space.
var dayTime = regexp.MustCompile(`^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d(?:\.\d+)?)(?:Z|([+ -])(\d\d):?(\d\d))?$`)

// parseDay parses a date, or the UTC day of a date with a time.
func parseDay(text string) (order.Day, bool) {
	parts := dayTime.FindStringSubmatch(text)
	if parts == nil {
		return order.ParseDay(text)
	}
	date, clock, sign, hours, minutes := parts[1], parts[2], parts[3], parts[4], parts[5]
	zone := "Z"
	switch sign {
	case "-":
		zone = "-" + hours + ":" + minutes
	case "+", " ":
		zone = "+" + hours + ":" + minutes
	}
	t, ok := order.ParseTime(date + "T" + clock + zone)
	return order.DayOf(t), ok
}
