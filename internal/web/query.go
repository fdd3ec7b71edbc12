package web

import (
	"math"
	"net/http"
	"net/url"
	"strconv"

	"merchantorders/internal/order"
)

// Query is the query of a request. Every error is a *ParamError. A known
// parameter with an empty value is as if absent; given twice it is refused
// (decision 3).
type Query struct {
	values url.Values
}

// ParseQuery reads the query of a request.
func ParseQuery(r *http.Request) (Query, error) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return Query{}, &ParamError{Name: "query", Problem: "is malformed"}
	}
	return Query{values: values}, nil
}

// Text returns a parameter as it came, empty when it is absent.
func (q Query) Text(name string) (string, error) {
	given := q.values[name]
	switch len(given) {
	case 0:
		return "", nil
	case 1:
		return given[0], nil
	}
	return "", &ParamError{Name: name, Problem: "is given twice"}
}

// MaxWhole is the largest whole number that a parameter may be.
const MaxInt = math.MaxInt64

// Whole returns a parameter that is a whole number in plain digits within
// bounds, both included, and otherwise when it is absent.
func (q Query) Int(name string, otherwise, least, most int64) (int64, error) {
	text, err := q.Text(name)
	if err != nil || text == "" {
		return otherwise, err
	}
	n, ok := order.ParseID(text)
	if text == "0" {
		ok = true
	} else if n == 0 {
		ok = false // beyond 64 bits
	}
	if !ok || n < least || n > most {
		problem := "must be a whole number from " + strconv.FormatInt(least, 10)
		if most < MaxInt {
			problem += " to " + strconv.FormatInt(most, 10)
		}
		return 0, &ParamError{Name: name, Problem: problem}
	}
	return n, nil
}

// Day returns a parameter of the form YYYY-MM-DD, and order.NoDay when it is
// absent.
func (q Query) Day(name string) (order.Day, error) {
	text, err := q.Text(name)
	if err != nil || text == "" {
		return order.NoDay, err
	}
	day, ok := order.ParseDay(text)
	if !ok {
		return order.NoDay, &ParamError{Name: name, Problem: "must be a date of the form YYYY-MM-DD"}
	}
	return day, nil
}
