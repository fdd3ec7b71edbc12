package web_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"merchantorders/internal/order"
	"merchantorders/internal/strict"
	"merchantorders/internal/testenv"
	"merchantorders/internal/token"
	"merchantorders/internal/web"
	"merchantorders/internal/web/ratelimit"
)

// TestErrorDetail checks the header of a refusal: the detail of the error or of its kind, as
// text that a header can have, and in the log.
func TestErrorDetail(t *testing.T) {
	t.Parallel()
	text, _ := token.NewText(token.MerchantPrefix)
	for _, test := range []struct {
		err  error
		want string
	}{
		{fmt.Errorf("wrapped: %w", strict.Detail(strict.ErrInvalidPayload, "Send %d.", 1)), "Send 1."},
		{strict.Detail(strict.Detail(strict.ErrInvalidPayload, "inner"), "outer"), "outer"},
		{strict.Detail(web.ErrForbidden, "%s", "Παπ\r\nSet-Cookie: a"), "?????Set-Cookie: a"},
		{strict.Detail(web.ErrForbidden, "%s is cut, "+text[:9]+" too", text), "(token) is cut, (token) too"},
		{strict.Detail(web.ErrForbidden, "%s", strings.Repeat("x", 600)), strings.Repeat("x", 500)},
		{&strict.ParamError{Name: "page", Problem: "is given twice"}, "page is given twice."},
		{&strict.ParamError{Name: "buyer@example.com", Problem: "is not a known parameter"}, "A name is not a known parameter."},
		{order.ErrInvalidRange, "the range ends before it begins"},
		{&ratelimit.Error{Limit: ratelimit.Rate}, "Too many requests in a short time: wait as Retry-After says."},
		{&web.MethodError{Allow: "GET, HEAD"}, "This path takes GET, HEAD."},
		{order.ErrUnavailable, ""},
		{errors.New("password=hunter2"), ""},
	} {
		for name, encode := range map[string]web.ErrorEncoder{"flat": web.EncodeMessage, "coded": web.EncodeCoded} {
			server := serve(t, tokens{}, web.RouteGroup{Errors: encode, Routes: []web.Route{
				web.PublicRoute(http.MethodGet, "/refuse", func(http.ResponseWriter, *web.Request) error { return test.err }),
			}})
			got := server.ask(t, "GET /refuse")
			testenv.Equal(t, fmt.Sprintf("%s detail of %.60v", name, test.err), test.want, got.header.Get(web.DetailHeader))
			server.stop()
			logged, _ := server.log.Lines(t, "request")[0]["detail"].(string)
			testenv.Equal(t, "the same in the log", test.want, logged)
		}
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	known := []string{"filename", "contentBase64", "status", "orders", "page", "itemsPerPage", "to", "q"}
	for misspelled, want := range map[string]string{
		"fileName": "filename", "file_name": "filename", "file": "filename", "content": "contentBase64", "base64": "contentBase64", "content_base64": "contentBase64",
		"Status": "status", "stauts": "status", "state": "", "order": "orders", "itemPerPage": "itemsPerPage", "perPage": "itemsPerPage", "pages": "page", "total": "", "quantity": "", "--": "", "": "", "x": "", "buyer": "", strings.Repeat("orders", 20): "",
	} {
		testenv.Equal(t, misspelled, want, strict.Nearest(misspelled, known...))
	}
}
