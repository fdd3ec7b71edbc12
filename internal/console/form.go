package console

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// isLine reports whether a text is one line without control characters, as the fields of
// filters are. The database takes no other text.
func isLine(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl)
}

// formView is a form as it was sent: what is wrong in it comes back with its problems.
type formView struct {
	values   url.Values
	problems map[string]string           // keys of messages, by the name of the field
	offered  map[string][]order.Merchant // that a field may mean, by its name
}

// newForm returns a form with the values that were sent; nil: a new form.
func newForm(values url.Values) formView {
	return formView{values, make(map[string]string), make(map[string][]order.Merchant)}
}

// or returns the form, or if it is the zero one a new form with values.
func (f formView) or(values url.Values) formView {
	if f.problems == nil {
		return newForm(values)
	}
	return f
}

// refuse records what is wrong with a field, unless there is a problem already.
func (f formView) refuse(field, problem string) {
	if f.problems[field] == "" {
		f.problems[field] = problem
	}
}

// valid reports whether nothing is wrong.
func (f formView) valid() bool { return len(f.problems) == 0 }

// Refused reports whether something is wrong.
func (f formView) Refused() bool { return !f.valid() }

// Value returns the value of a field.
func (f formView) Value(field string) string { return f.values.Get(field) }

// Filled returns how many of some fields are filled in.
func (f formView) Filled(fields ...string) int {
	n := 0
	for _, field := range fields {
		if f.Value(field) != "" {
			n++
		}
	}
	return n
}

// Has reports whether a field has a value among several, as check boxes do.
func (f formView) Has(field, value string) bool { return slices.Contains(f.values[field], value) }

// Problem returns the key of the message at a field; empty: none.
func (f formView) Problem(field string) string { return f.problems[field] }

// day reads a field with a day; order.NoDay: it is empty. It refuses another text with a problem.
func (f formView) day(field, problem string) order.Day {
	text := strings.TrimSpace(f.Value(field))
	if text == "" {
		return order.NoDay
	}
	day, ok := order.ParseDay(text)
	if !ok {
		f.refuse(field, problem)
	}
	return day
}

// fieldView is an input of a form with its label.
type fieldView struct {
	ID, Name, Label, Kind, Value, Problem string
	Required                              bool
	Stores                                []order.Merchant // that the field may mean
}

// newField returns an input. label is the key of a message, kind the type of the input, or
// "store": a text that is the name or number of a store.
func newField(form formView, name, label, kind string) fieldView {
	return fieldView{ID: name, Name: name, Label: label, Kind: kind, Value: form.Value(name), Problem: form.Problem(name), Stores: form.offered[name]}
}

// called returns a field with another id than its name, which the page has twice.
func called(id string, f fieldView) fieldView {
	f.ID = id
	return f
}

// required returns a field that must be filled in.
func required(f fieldView) fieldView {
	f.Required = true
	return f
}

// cutPage is web.CutPage for a page of the console: it returns the query of the next page,
// which is that of this page with another after; empty: there is none.
func cutPage[T any](query url.Values, rows []T, limit int, id func(T) int64) (page []T, next string) {
	page, after := web.CutPage(rows, limit, id)
	if after == nil {
		return page, ""
	}
	query.Set("after", strconv.FormatInt(*after, 10))
	return page, "?" + query.Encode()
}
