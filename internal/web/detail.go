package web

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"merchantorders/internal/order"
	"merchantorders/internal/strict"
	"merchantorders/internal/web/ratelimit"
)

// DetailHeader says in a response 4xx what is wrong and what is right, in one line. The
// published bodies stay as they are.
const DetailHeader = "Error-Detail"

// details are those of errors that have no other. An error of neither has the message that
// CodedBody has for it.
var details = []struct {
	err    error
	detail string
}{
	{order.ErrTooManyIdempotencyKeys, "Too many Idempotency-Keys in a day: wait as Retry-After says, or send requests without a key."},
	{ErrSuspended, "The operator has suspended the merchant: ask the operator, no other token helps."},
	{ErrUnauthorized, "Send the header Authorization: Bearer and the token."},
	{strict.ErrInvalidPayload, "Send a JSON object in UTF-8, each key once, in time and of at most the documented size."},
	{ErrContentEncoding, "Send the body as it is, or with Content-Encoding: gzip."},
	{order.ErrPreconditionFailed, "If-Match has the tag of an earlier version: read the order again, decide, and send its ETag with a new Idempotency-Key."},
	{order.ErrIdempotencyKeyReused, "The first request with this Idempotency-Key had another method, path, query, If-Match or body: send that one, or use a new key."},
	{order.ErrUnsupportedFileType, "filename must end with .pdf, .png, .jpeg or .jpg."},
	{order.ErrFileTooBig, fmt.Sprintf("The file may have %d bytes, and the whole body 11 MiB.", order.MaxInvoiceSize)},
	{order.ErrTooManyFiles, fmt.Sprintf("The order has %d files: delete one first. After %d in all, deleted ones too, it takes no more.", order.MaxInvoices, order.MaxInvoicesEver)},
	{order.ErrEmptyFile, "The file is empty."},
	{order.ErrInvoiceNotFound, "The order has no such file, or it was deleted: invoices of the order has the url and id of each."},
	{order.ErrIdempotencyKeyInUse, "Repeat the same request with the same key after Retry-After."},
}

// limitDetails are those of a *ratelimit.Error.
var limitDetails = map[ratelimit.Limit]string{
	ratelimit.Rate:     "Too many requests in a short time: wait as Retry-After says.",
	ratelimit.InFlight: "Too many requests at once: wait for responses before you send more, and repeat this one after Retry-After.",
	ratelimit.SignIns:  "Too many requests from this address without a valid token: correct the Authorization header, then wait as Retry-After says.",
}

// detailOf returns the detail of an error.
func detailOf(err error) string {
	var detailed strict.Detailed
	var limit *ratelimit.Error
	var method *MethodError
	switch {
	case errors.As(err, &detailed):
		return detailed.Detail()
	case errors.As(err, &limit):
		return limitDetails[limit.Limit]
	case errors.As(err, &method):
		return "This path takes " + method.Allow + "." + method.Hint
	}
	for _, row := range details {
		if errors.Is(err, row.err) {
			return row.detail
		}
	}
	return ""
}

// noOrder returns the detail of a request for an order that its merchant does not have; empty: the
// path does not name the order.
func noOrder(r *http.Request) string {
	id, reference := r.PathValue("orderId"), r.PathValue("orderReference")
	if strings.HasPrefix(r.URL.Path, operatorPrefix+"/") {
		return "There is no order with this reference, in exactly these letters, or another merchant has it: GET /operator/orders finds orders."
	}
	_, isID := order.ParseID(id + reference)
	switch {
	case id != "" && !isID:
		return "Version 1 takes order_id, in digits, without sign, point or leading zero: the reference of an order belongs below /v2/orders."
	case id != "":
		return "The merchant has no order with this order_id. Orders of other merchants are as if they did not exist."
	case isID:
		return "The merchant has no order with this reference. Is it an order_id of version 1? Version 2 takes order_reference."
	case slices.Contains(order.ReservedReferences, reference):
		return "After /orders/ stands a word of the service, not a reference: a path that goes on is meant, with / in a value written as %2F."
	case reference != "" && !order.ValidReference(reference):
		return "Version 2 takes order_reference: 1 to 64 letters, digits, dots, underscores and hyphens. Send it without spaces, quotes and braces."
	case reference != "":
		return "The merchant has no order with this reference, in exactly these letters. Orders of other merchants are as if they did not exist."
	}
	return ""
}

// listing returns where the ids are listed of what a message says was not found; empty: the path
// names none.
func listing(r *http.Request, message string) string {
	for _, what := range []string{"merchant", "token", "webhook"} {
		if all, _, named := strings.Cut(r.Pattern, "/{"+what+"Id}"); named && message == "The "+what+" was not found." {
			return " GET " + all + " lists the ids."
		}
	}
	return ""
}

// maxDetail is how many bytes a detail has at most.
const maxDetail = 500

// setDetail sets the DetailHeader of the response to an error with a status and a body.
func setDetail(h http.Header, r *http.Request, err error, status int, body any) {
	if status < http.StatusBadRequest || status >= http.StatusInternalServerError {
		return
	}
	if _, isPage := body.(Page); isPage {
		return // it has words of its own
	}
	detail := detailOf(err)
	if errors.Is(err, order.ErrPreconditionFailed) && strings.HasPrefix(r.Header.Get(ifMatch), "W/") {
		detail = "If-Match has a weak tag, as proxies that compress make them: send it without W/."
	}
	if coded, ok := body.(CodedBody); ok {
		detail = cmp.Or(detail, coded.Error.Message+listing(r, coded.Error.Message))
	}
	if detail == "" && Status(err) == status {
		detail = meaningOf(err).message
	}
	detail = cmp.Or(detail, http.StatusText(status))
	if asked, err := url.ParseRequestURI(r.RequestURI); err == nil && slashes.MatchString(asked.Path) && !slashes.MatchString(r.URL.Path) {
		detail = "The path has //, which counts as one slash: is a value missing there? " + detail
	}
	h.Set(DetailHeader, headerText(detail))
}

// tokens are texts of tokens, or what is left of them.
var tokens = regexp.MustCompile(`\bmop?_\w+`)

// headerText returns a text that a header and the log can have: printable ASCII, cut to
// maxDetail, without tokens.
func headerText(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, text)
	text = tokens.ReplaceAllString(text, "(token)")
	return text[:min(len(text), maxDetail)]
}
