package console

import (
	"bufio"
	"encoding/json"
	"io"
	"iter"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/strict"
	"merchantorders/internal/web"
)

// exporter writes the orders of an export.
type exporter interface {
	order(order.Summary) error
	flush() error
}

// export returns a handler of the export of a view, streamed page by page. After an
// error in the middle it aborts the connection, so that nobody takes a part for the
// whole.
func (s *site) export(name, mediaType string, begin func(io.Writer) exporter) web.StreamHandler {
	return func(stream *web.Stream) error {
		form, filter := s.ownFilter(stream.Request, stream.Request.URL.Query())
		if !form.valid() {
			return &strict.ParamError{Name: "query", Problem: "is not that of a view"}
		}
		var to exporter
		for orders, err := range s.pages(stream.Request, form, filter) {
			if err != nil && to == nil {
				return err
			}
			if err != nil {
				panic(http.ErrAbortHandler)
			}
			if to == nil {
				h := stream.ResponseHeader()
				h.Set("Content-Type", mediaType)
				h.Set("Content-Disposition", `attachment; filename="`+name+`"`)
				to = begin(stream)
			}
			for _, o := range orders {
				if err := to.order(o); err != nil {
					return err
				}
			}
			if to.flush() != nil || stream.Flush() != nil {
				return nil // the client disconnected
			}
		}
		return nil
	}
}

// pages yields the pages of a view, at least one. Each begins after the last order of
// the one before: orders that arrive meanwhile move none.
func (s *site) pages(r *web.Request, form filterForm, filter order.Filter) iter.Seq2[[]order.Summary, error] {
	filter.Page, filter.PageSize = 1, order.MaxPageSize
	if form.Query != "" {
		return s.searchPages(r, form, filter)
	}
	return func(yield func([]order.Summary, error) bool) {
		for {
			page, err := s.Orders.List(r.Context(), r.Caller.MerchantID, filter)
			if !yield(page.Orders, err) || err != nil || page.Next == nil {
				return
			}
			filter.After = page.Next
		}
	}
}

// searchPages is pages for a search.
func (s *site) searchPages(r *web.Request, form filterForm, filter order.Filter) iter.Seq2[[]order.Summary, error] {
	return func(yield func([]order.Summary, error) bool) {
		var after *order.SearchCursor
		for {
			page, err := s.Orders.Search(r.Context(), form.ownSearch(r.Caller.MerchantID, filter, after))
			orders := make([]order.Summary, len(page.Orders))
			for i, found := range page.Orders {
				orders[i] = found.Summary
			}
			if !yield(orders, err) || err != nil || page.Next == nil {
				return
			}
			after = page.Next
		}
	}
}

// exportColumns are the columns of the CSV, which are the fields of the JSON.
var exportColumns = []string{
	"id", "legacyId", "state", "createdAt", "updatedAt", "currency", "total", "countryCode", "hasInvoice",
	"firstName", "lastName", "company", "email", "phone",
}

// exportValues returns the values of exportColumns.
func exportValues(o order.Summary) []string {
	phone, updated := "", ""
	if o.Customer.Phone != nil {
		phone = *o.Customer.Phone
	}
	if !o.UpdatedAt.IsZero() {
		updated = o.UpdatedAt.Format(time.RFC3339)
	}
	return []string{
		o.Reference, strconv.FormatInt(o.LegacyID, 10), o.State.String(), o.CreatedAt.Format(time.RFC3339), updated, o.Currency,
		order.Decimal(o.Total, o.Currency), o.CountryCode, strconv.FormatBool(o.HasInvoice),
		o.Customer.FirstName, o.Customer.LastName, o.Customer.Company, o.Customer.Email, phone,
	}
}

// csvExport writes orders as CSV for spreadsheets. Every value is quoted, which
// encoding/csv cannot.
type csvExport struct{ *bufio.Writer }

// byteOrderMark makes spreadsheets read UTF-8.
const byteOrderMark = "\ufeff"

func newCSVExport(w io.Writer) exporter {
	e := csvExport{bufio.NewWriter(w)}
	_, _ = e.WriteString(byteOrderMark) // flush reports an error
	_ = e.row(exportColumns)            // likewise
	return e
}

func (e csvExport) order(o order.Summary) error { return e.row(exportValues(o)) }

func (e csvExport) row(values []string) error {
	quoted := make([]string, len(values))
	for i, value := range values {
		quoted[i] = `"` + strings.ReplaceAll(notFormula(value), `"`, `""`) + `"`
	}
	_, err := e.WriteString(strings.Join(quoted, ",") + "\r\n")
	return err
}

func (e csvExport) flush() error { return e.Flush() }

// formula matches what a spreadsheet takes for a formula, also in the middle of a text:
// one that separates cells by semicolons or tabs does not heed the quotes around it.
var formula = regexp.MustCompile(`((?:^|[;\t\r\n])[ "']*)([=+\-@|])`)

// notFormula returns a text that no spreadsheet takes for a formula. A plain negative
// number is none.
func notFormula(text string) string {
	if _, err := strconv.ParseFloat(text, 64); err == nil && text[0] == '-' {
		return text
	}
	if text != "" && strings.ContainsRune("\t\r\n", rune(text[0])) {
		text = "'" + text
	}
	return formula.ReplaceAllString(text, "$1'$2")
}

// ndjsonExport writes orders as JSON objects, one a line.
type ndjsonExport struct{ *json.Encoder }

func newNDJSONExport(w io.Writer) exporter {
	encoder := json.NewEncoder(w)
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

func (e ndjsonExport) order(o order.Summary) error {
	line := exportedOrder{
		ID: o.Reference, LegacyID: o.LegacyID, State: o.State.String(), CreatedAt: o.CreatedAt.Format(time.RFC3339),
		Currency: o.Currency, Total: order.Decimal(o.Total, o.Currency), CountryCode: o.CountryCode, HasInvoice: o.HasInvoice,
		FirstName: o.Customer.FirstName, LastName: o.Customer.LastName, Company: o.Customer.Company,
		Email: o.Customer.Email, Phone: o.Customer.Phone,
	}
	if !o.UpdatedAt.IsZero() {
		updated := o.UpdatedAt.Format(time.RFC3339)
		line.UpdatedAt = &updated
	}
	return e.Encode(line)
}

func (ndjsonExport) flush() error { return nil }
