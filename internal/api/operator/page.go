package operator

import (
	"net/http"
	"slices"
	"strings"

	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// pageQuery is the query of a list that is paged by id. Its filters are read from the
// Query.
type pageQuery struct {
	web.Query
	after int64 // id of the last row of the page before; 0: none
	limit int   // 0: all rows
}

// parsePage parses the query of a list: after, limit and filters. Other parameters are
// refused: a misspelled filter must not count as absent. Every error is a
// *web.ParamError.
func parsePage(r *http.Request, filters ...string) (pageQuery, error) {
	query, err := web.ParseQuery(r)
	if err != nil {
		return pageQuery{}, err
	}
	if err := query.Allow(append(filters, "after", "limit")...); err != nil {
		return pageQuery{}, err
	}
	page := pageQuery{Query: query}
	if page.after, err = query.Int("after", 0, 0, web.MaxInt); err != nil {
		return pageQuery{}, err
	}
	limit, err := query.Int("limit", 0, 1, order.MaxMerchantsPage)
	page.limit = int(limit)
	return page, err
}

// oneOf returns a parameter that is one of some words, empty if it is absent.
func (q pageQuery) oneOf(name string, words ...string) (string, error) {
	text, err := q.Text(name)
	if err == nil && text != "" && !slices.Contains(words, text) {
		err = &web.ParamError{Name: name, Problem: "must be one of " + strings.Join(words, ", ")}
	}
	return text, err
}
