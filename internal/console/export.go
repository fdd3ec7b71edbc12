package console

import (
	"encoding/json"
	"iter"
	"net/http"
	"net/url"
	"regexp"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/strict"
	"merchantorders/internal/web"
)

// exporter writes the orders of an export.
type exporter interface {
	page(orders []order.Summary) error
	close() error
}

// viewPages yields the pages of a view, at least one.
type viewPages func(*web.Request, formView, order.Filter) iter.Seq2[[]order.Summary, error]

// export returns a handler of the export of a view, streamed page by page, to a file with
// an extension. After an error in the middle it aborts the connection, so that
// nobody takes a part for the whole.
func (s *site) export(extension, mediaType string, pages viewPages, begin func(*web.Stream) exporter) web.StreamHandler {
	return func(stream *web.Stream) error {
		form, filter := s.ownFilter(stream.Request, stream.Request.URL.Query())
		if !form.valid() {
			return &strict.ParamError{Name: "query", Problem: "is not that of a view"}
		}
		var to exporter
		for orders, err := range pages(stream.Request, form, filter) {
			if err != nil && to == nil {
				return err
			}
			if err != nil {
				panic(http.ErrAbortHandler)
			}
			if to == nil {
				h := stream.ResponseHeader()
				h.Set("Content-Type", mediaType)
				h.Set("Content-Disposition", attachment(languageOf(stream.Request.Request), extension, stream.Session.MerchantName, form.Value("from"), form.Value("to")))
				to = begin(stream)
			}
			if to.page(orders) != nil || stream.Flush() != nil {
				panic(http.ErrAbortHandler)
			}
		}
		if to.close() != nil || stream.Flush() != nil {
			panic(http.ErrAbortHandler)
		}
		return nil
	}
}

// notInFileNames matches what some system takes in no name of a file.
var notInFileNames = regexp.MustCompile(`[\pC/\\\\:*?"<>|]+`)

// attachment returns the header that names the file of an export after the store and the
// days.
func attachment(l language, extension, store, from, to string) string {
	name := joined(" ", l.text("export.file"), notInFileNames.ReplaceAllString(store, "-"), joined("..", from, to)) + extension
	return web.Attachment(name, "orders"+extension)
}

// pages yields the pages of a view, at least one. Each begins after the last order of
// the one before: orders that arrive meanwhile move none.
func (s *site) pages(r *web.Request, form formView, filter order.Filter) iter.Seq2[[]order.Summary, error] {
	filter.Page, filter.PageSize = 1, order.MaxPageSize
	if searches(form) {
		return pagesAfter(func(after *order.SearchCursor) ([]order.Summary, *order.SearchCursor, error) {
			page, err := s.Orders.Search(r.Context(), s.ownSearch(r, form, filter, after))
			return summaries(page.Orders), page.Next, err
		})
	}
	return pagesAfter(func(after *order.Cursor) ([]order.Summary, *order.Cursor, error) {
		filter.After = after
		page, err := s.Orders.List(r.Context(), r.Caller.MerchantID, filter)
		return page.Orders, page.Next, err
	})
}

// pagesAfter yields the pages of a list, at least one. read returns the page after a cursor, and
// the cursor of the next one; nil: there is none.
func pagesAfter[T, C any](read func(after *C) ([]T, *C, error)) iter.Seq2[[]T, error] {
	return func(yield func([]T, error) bool) {
		var after *C
		for {
			page, next, err := read(after)
			if !yield(page, err) || err != nil || next == nil {
				return
			}
			after = next
		}
	}
}

// selectedPages is pages for the orders that a form selects, or for all of the view that it is
// of. In an address without a form it is pages.
func (s *site) selectedPages(r *web.Request, form formView, filter order.Filter) iter.Seq2[[]order.Summary, error] {
	query := r.URL.Query()
	switch {
	case !query.Has("back"):
		return s.pages(r, form, filter)
	case query.Has("all"):
		return s.pagesOf(r, localPath(query.Get("back")))
	}
	return func(yield func([]order.Summary, error) bool) {
		selected, problem := selection(query)
		if problem != "" {
			yield(nil, selectionProblem(problem))
			return
		}
		orders, _, err := s.selectedOrders(r, selected)
		yield(web.Collect(orders, summaryOf), err)
	}
}

// pagesOf is pages for a view of orders, by its path.
func (s *site) pagesOf(r *web.Request, view string) iter.Seq2[[]order.Summary, error] {
	query, err := url.ParseQuery(queryOf(view))
	form, filter := s.ownFilter(r, query)
	if baseOf(view) == listPath && err == nil && form.valid() {
		return s.pages(r, form, filter)
	}
	return func(yield func([]order.Summary, error) bool) {
		switch baseOf(view) {
		case queuePath:
			for page, err := range s.queueOrders(r) {
				if !yield(web.Collect(page, func(o order.UnansweredOrder) order.Summary { return o.Summary }), err) {
					return
				}
			}
		case shipPath:
			orders, err := s.Orders.ToShip(r.Context(), r.Caller.MerchantID)
			yield(web.Collect(orders, summaryOf), err)
		default:
			yield(nil, strict.ErrInvalidPayload)
		}
	}
}

// summaryOf returns what an export reads of an order.
func summaryOf(o order.Order) order.Summary { return order.Summary{LegacyID: o.LegacyID} }

// selectionProblem is the error of a selection that is refused: the key of a message.
type selectionProblem string

// Error implements error.
func (p selectionProblem) Error() string { return "the selection is refused: " + string(p) }

// ndjsonExport writes orders as JSON objects, one a line.
type ndjsonExport struct{ *json.Encoder }

func newNDJSONExport(stream *web.Stream) exporter {
	encoder := json.NewEncoder(stream)
	encoder.SetEscapeHTML(false)
	return ndjsonExport{encoder}
}

// exportedOrder is an order in NDJSON.
type exportedOrder struct {
	ID          string  `json:"id"`
	LegacyID    int64   `json:"legacyId"`
	State       string  `json:"state"`
	CreatedAt   string  `json:"createdAt"`
	UpdatedAt   *string `json:"updatedAt"`
	Currency    string  `json:"currency"`
	Total       string  `json:"total"` // decimal
	CountryCode string  `json:"countryCode"`
	HasInvoice  bool    `json:"hasInvoice"`
	FirstName   string  `json:"firstName"`
	LastName    string  `json:"lastName"`
	Company     string  `json:"company"`
	Email       string  `json:"email"`
	Phone       *string `json:"phone"`
}

func (e ndjsonExport) page(orders []order.Summary) error {
	for _, o := range orders {
		if err := e.Encode(newExportedOrder(o)); err != nil {
			return err
		}
	}
	return nil
}

func newExportedOrder(o order.Summary) exportedOrder {
	line := exportedOrder{
		ID: o.Reference, LegacyID: o.LegacyID, State: o.State.String(), CreatedAt: o.CreatedAt.Format(time.RFC3339),
		Currency: o.Currency, Total: order.Decimal(o.Total, o.Currency), CountryCode: o.CountryCode, HasInvoice: o.HasInvoice,
		FirstName: o.Customer.FirstName, LastName: o.Customer.LastName, Company: o.Customer.Company,
		Email: o.Customer.Email, Phone: o.Customer.Phone,
	}
	if !o.UpdatedAt.IsZero() {
		line.UpdatedAt = new(o.UpdatedAt.Format(time.RFC3339))
	}
	return line
}

func (ndjsonExport) close() error { return nil }
