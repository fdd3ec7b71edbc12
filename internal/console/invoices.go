package console

import (
	"cmp"
	"errors"
	"iter"
	"mime/multipart"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"merchantorders/internal/order"
	"merchantorders/internal/strict"
	"merchantorders/internal/web"
)

const (
	invoicesPath = Prefix + "/invoices"
	// maxInvoiceFiles is how many files a form for the invoices of many orders may have.
	maxInvoiceFiles = 20
)

// invoicesView is the data of the page for the invoices of many orders.
type invoicesView struct {
	queuePages
	Orders []order.Summary // without an invoice
	// Selected reports whether Orders are of those that a person selected in a list.
	Selected bool
	Back     string      // path of that list
	Files    []fileMatch // that were chosen
	Stored   int64       // how many files are stored
	Sent     bool        // Files were sent, not only their names
	Problem  string      // key of a message; empty: none
	Notice   string      // key of a message: what was done to the order Was; empty: nothing
	Was      string
}

// Queue reports whether the person came from the queue.
func (v invoicesView) Came() string { return titleOf(v.Back) }

// Refused returns how many files are not stored, or will not be.
func (v invoicesView) Refused() (n int64) {
	for _, file := range v.Files {
		if file.Problem != "" {
			n++
		}
	}
	return n
}

// fileMatch is a file with the order that it is for.
type fileMatch struct {
	Name    string
	Order   order.Order // zero: none was found
	Problem string      // key of a message; empty: none
}

// Same reports whether the order has a file with the name.
func (f fileMatch) Same() bool {
	return slices.ContainsFunc(f.Order.Invoices, func(stored order.Invoice) bool { return stored.Name == order.StoredName(f.Name) })
}

// invoices serves GET /invoices?file=A-1.pdf&file=A-2.pdf: the orders without an invoice, of
// the selected ones with order=A-1&order=A-2, and for which orders the files are.
func (s *site) invoices(w http.ResponseWriter, r *web.Request) error {
	view := invoicesView{}
	view.Notice, view.Was = orderNotice(r)
	names := r.URL.Query()["file"]
	if len(names) > maxInvoiceFiles {
		return strict.ErrInvalidPayload
	}
	for _, name := range names {
		file, err := s.matchFile(r, name)
		if err != nil {
			return err
		}
		if file.Problem == "" && len(file.Order.Invoices) >= order.MaxInvoices {
			file.Problem = "upload.many"
		}
		view.Files = append(view.Files, file)
	}
	view.Stored, _ = order.ParseID(r.URL.Query().Get("stored"))
	return s.showInvoices(w, r, http.StatusOK, view)
}

func (s *site) showInvoices(w http.ResponseWriter, r *web.Request, status int, view invoicesView) error {
	query := r.URL.Query()
	view.Back, view.Selected = cmp.Or(listOf(query.Get("back")), queuePath), query.Has("order")
	view.Path = invoicesPage(query)
	var err error
	if view.Selected {
		view.Orders, err = s.selectedWithoutInvoice(r, query)
	} else {
		err = s.readWithoutInvoice(r, &view)
	}
	if err != nil {
		return err
	}
	return s.show(w, r, status, "invoices", &view)
}

// readWithoutInvoice reads the page of the orders without an invoice that the query names.
func (s *site) readWithoutInvoice(r *web.Request, view *invoicesView) (err error) {
	query := web.ParseRawQuery(r.URL.RawQuery)
	view.Size = query.Limit(queueSizes[0], order.MaxUnansweredLimit)
	size := url.Values{"limit": {strconv.Itoa(view.Size)}}
	var after *order.Cursor
	var createdAt, legacyID int64
	if query.Cursor(invoicesPath, &createdAt, &legacyID) {
		after, view.First = &order.Cursor{CreatedAt: time.Unix(createdAt, 0), LegacyID: legacyID}, invoicesPath+"?"+size.Encode()
	}
	if err := query.Err(); err != nil {
		return err
	}
	var next *order.Cursor
	if view.Orders, next, err = s.Orders.WithoutInvoice(r.Context(), r.Caller.MerchantID, after, view.Size); next != nil {
		size.Set(web.CursorName, web.EncodeCursor(invoicesPath, next.CreatedAt.Unix(), next.LegacyID))
		view.Next = invoicesPath + "?" + size.Encode()
	}
	return err
}

// pagesWithoutInvoice yields the pages of the orders without an invoice, at least one.
func (s *site) pagesWithoutInvoice(r *web.Request, _ formView, _ order.Filter) iter.Seq2[[]order.Summary, error] {
	return pagesAfter(func(after *order.Cursor) ([]order.Summary, *order.Cursor, error) {
		return s.Orders.WithoutInvoice(r.Context(), r.Caller.MerchantID, after, order.MaxUnansweredLimit)
	})
}

// invoicesPage returns the path of the page for the orders that a query selects, or for all.
func invoicesPage(query url.Values) string {
	if !query.Has("order") {
		return invoicesPath
	}
	return invoicesPath + "?" + url.Values{"order": query["order"], "back": {query.Get("back")}}.Encode()
}

// selectedWithoutInvoice returns the orders that a form selects and that have no invoice.
func (s *site) selectedWithoutInvoice(r *web.Request, form url.Values) (orders []order.Summary, err error) {
	selected, problem := selection(form)
	if problem != "" {
		return nil, strict.ErrInvalidPayload // no page selects as many
	}
	whole, _, err := s.selectedOrders(r, selected)
	for _, o := range whole {
		if len(o.Invoices) == 0 {
			orders = append(orders, order.Summary{
				Reference: o.Reference, State: o.State, Currency: o.Currency, CreatedAt: o.CreatedAt, Total: o.Total,
				HasInvoice: o.InvoiceDetails != nil, Customer: o.Customer,
			})
		}
	}
	return orders, err
}

// storeInvoices serves POST /invoices, a form with files for many orders. Each file is an
// upload of its own.
func (s *site) storeInvoices(w http.ResponseWriter, r *web.Request) error {
	view := invoicesView{Sent: true}
	_, err := eachFile(r, maxInvoiceFiles+maxParts, func(form url.Values, part *multipart.Part) error {
		file, err := s.matchFile(r, part.FileName())
		if err == nil && file.Problem == "" {
			file.Problem, err = s.uploadFile(r, form, part, file.Order.Reference, order.InvoiceData{})
		}
		if err == nil {
			view.Files = append(view.Files, file)
		}
		return err
	})
	view.Stored = int64(len(view.Files)) - view.Refused()
	switch {
	case errors.Is(err, errFormTooLarge):
		view.Problem = "upload.form"
	case err != nil:
		return err
	case len(view.Files) == 0:
		view.Problem = "upload.none"
	}
	if view.Problem != "" || view.Refused() > 0 {
		return s.showInvoices(w, r, http.StatusUnprocessableEntity, view)
	}
	return s.redirect(w, r, withQuery(invoicesPage(r.URL.Query()), "stored="+strconv.FormatInt(view.Stored, 10)))
}

// matchFile finds the order that a file is for: its name, or a word of it, is the reference
// or the merchant's own number.
func (s *site) matchFile(r *web.Request, name string) (fileMatch, error) {
	file := fileMatch{Name: name}
	if _, ok := order.ContentType(name); !ok {
		file.Problem = "upload.type"
		return file, nil
	}
	stem := strings.TrimSpace(strings.TrimSuffix(name, path.Ext(name)))
	words := strings.FieldsFunc(stem, func(r rune) bool { return strings.ContainsRune(" _,;()[]", r) })
	if len(name) > maxFileName || len(words) > maxNameWords {
		file.Problem = "match.none"
		return file, nil
	}
	// A word is taken for the merchant's own number only if it is the only one with a digit:
	// of "2026 15" nobody knows whether it is 15 of another store's books.
	numbers := len(slices.DeleteFunc(slices.Clone(words), func(word string) bool { return !strings.ContainsFunc(word, unicode.IsDigit) }))
	for i, text := range append([]string{stem}, words...) {
		found, err := s.ordersOfNumber(r, text, i == 0 || numbers == 1)
		if err != nil {
			return file, err
		}
		switch {
		case len(found) > 1 || len(found) == 1 && file.Order.Reference != "" && file.Order.Reference != found[0].Reference:
			return fileMatch{Name: name, Problem: "match.several"}, nil
		case len(found) == 1:
			file.Order = found[0]
		}
		if text == stem && len(found) == 1 {
			break // the words may be numbers of other orders
		}
	}
	if file.Order.Reference == "" {
		file.Problem = "match.none"
	}
	return file, nil
}

// maxFileName and maxNameWords bound what is looked up for the name of a file, in bytes
// and words.
const (
	maxFileName  = 255
	maxNameWords = 16
)

// ordersOfNumber returns the order with a reference or, if own is set, else those with a
// merchant's own number: as it is written, or else without differences in case and in the
// normal form of Unicode. Some systems write names of files with decomposed characters.
func (s *site) ordersOfNumber(r *web.Request, number string, own bool) ([]order.Order, error) {
	merchantID := r.Caller.MerchantID
	if order.ValidReference(number) {
		o, err := s.Orders.Get(r.Context(), merchantID, order.ByReference(number))
		if !errors.Is(err, order.ErrNotFound) {
			return []order.Order{o}, err
		}
	}
	if !own || number == "" || order.MerchantReferenceProblem(number) != "" {
		return nil, nil
	}
	exact, _, err := s.Orders.ByMerchantReference(r.Context(), merchantID, norm.NFC.String(number))
	if err == nil && len(exact) == 0 {
		exact, _, err = s.Orders.ByMerchantReference(r.Context(), merchantID, number)
	}
	if err != nil {
		return nil, err
	}
	if len(exact) > 0 {
		return s.wholeOrders(r, exact[:min(len(exact), 2)]) // more are too many, however many there are
	}
	page, err := s.Orders.Search(r.Context(), order.Search{
		MerchantID: merchantID, Text: number, MerchantData: true, From: order.NoDay, To: order.NoDay, Limit: order.MaxSearchLimit,
	})
	if err != nil {
		return nil, err
	}
	same := slices.DeleteFunc(page.Orders, func(o order.FoundOrder) bool {
		own := norm.NFC.String(order.TextOf(o.MerchantData.Reference))
		return !strings.EqualFold(o.Reference, number) && !strings.EqualFold(own, norm.NFC.String(number))
	})
	return s.wholeOrders(r, summaries(same))
}

// toNextWithoutInvoice sends the browser from an order, which has its invoice now, to the
// next newer one without, else to the oldest, and to the list after the last one.
func (s *site) toNextWithoutInvoice(w http.ResponseWriter, r *web.Request) error {
	reference := r.PathValue("reference")
	o, err := s.Orders.Get(r.Context(), r.Caller.MerchantID, order.ByReference(reference))
	if err != nil {
		return err
	}
	to := invoicesPath
	for _, after := range []*order.Cursor{{CreatedAt: o.CreatedAt, LegacyID: o.LegacyID}, nil} {
		next, _, err := s.Orders.WithoutInvoice(r.Context(), r.Caller.MerchantID, after, 1)
		if err != nil {
			return err
		}
		if len(next) > 0 {
			to = orderPath(next[0].Reference)
			break
		}
	}
	said := url.Values{"done": {"uploaded"}, "was": {reference}}.Encode()
	return s.redirect(w, r, withQuery(to, said)+"#files")
}
