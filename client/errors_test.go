package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"merchantorders/client"
	"merchantorders/internal/testenv"
)

// kinds are all kinds of errors.
var kinds = []error{
	client.ErrUnauthorized, client.ErrForbidden, client.ErrInvalidParams, client.ErrInvalidPayload, client.ErrUnsupported,
	client.ErrNotFound, client.ErrCannotAccept, client.ErrCannotReject, client.ErrInvalidReason, client.ErrInvalidAction,
	client.ErrTooManyFiles, client.ErrFileType, client.ErrFileTooBig, client.ErrInvoiceNotFound, client.ErrPrecondition,
	client.ErrTokenNotFound, client.ErrKeyReused, client.ErrHistoryChanged, client.ErrInProgress, client.ErrRateLimited, client.ErrUnavailable, client.ErrInternal,
	client.ErrTransport, client.ErrResponse, client.ErrRefused,
}

// wantKind checks that an error is an *Error of one kind and of no other, and
// returns it.
func wantKind(t *testing.T, err, kind error) *client.Error {
	t.Helper()
	var e *client.Error
	if !errors.As(err, &e) {
		t.Fatalf("error %v, want an *Error of kind %v", err, kind)
	}
	for _, k := range kinds {
		testenv.Equal(t, fmt.Sprintf("%v: is %q", err, k), errors.Is(kind, k), errors.Is(err, k))
	}
	if strings.ContainsAny(err.Error(), "\r\n") || strings.Contains(err.Error(), secret) {
		t.Errorf("the text is not one harmless line: %q", err)
	}
	return e
}

func coded(code, message string) string {
	return `{"error":{"code":` + quoted(code) + `,"message":` + quoted(message) + `}}`
}

func flat(message string) string { return `{"message":` + quoted(message) + `}` }

func quoted(text string) string {
	data, _ := json.Marshal(text) // text always can be written
	return string(data)
}

// TestErrorResponses checks the kind of every error of v2, with both sets of codes.
func TestErrorResponses(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		call   string
		status int
		body   string
		kind   error
		code   string
	}{
		{"order", 404, coded("10301", "The order with id SF-1 was not found"), client.ErrNotFound, "10301"},
		{"accept", 404, coded("10301", "The order with id SF-1 was not found"), client.ErrNotFound, "10301"},
		{"accept", 400, coded("10304", "Cannot Accept Order"), client.ErrCannotAccept, "10304"},
		{"accept", 400, coded("10303", "Cannot Accept Order"), client.ErrCannotAccept, "10303"},
		{"reject", 400, coded("10304", "Cannot Reject Order"), client.ErrCannotReject, "10304"},
		{"reject", 400, coded("10301", "The reason is not valid"), client.ErrInvalidReason, "10301"},
		{"reject", 400, coded("10306", "The reason is not valid"), client.ErrInvalidReason, "10306"},
		{"reject", 400, coded("10305", "Invalid Action"), client.ErrInvalidAction, "10305"},
		{"reject", 400, coded("invalid_payload", "Invalid payload."), client.ErrInvalidPayload, "invalid_payload"},
		{"list", 400, coded("invalid_params", "state must be the name of a state"), client.ErrInvalidParams, "invalid_params"},
		// With other messages than the published ones, the codes decide.
		{"accept", 400, coded("10304", "no"), client.ErrCannotAccept, "10304"},
		{"reject", 400, coded("10304", "no"), client.ErrCannotReject, "10304"},
		{"reject", 400, coded("10301", "no"), client.ErrInvalidReason, "10301"},
		{"reject", 404, coded("10301", "no"), client.ErrNotFound, "10301"},
		{"accept", 400, coded("10303", "no"), client.ErrCannotAccept, "10303"},
		{"reject", 400, coded("10305", "no"), client.ErrInvalidAction, "10305"},
		{"reject", 400, coded("10306", "no"), client.ErrInvalidReason, "10306"},

		{"upload", 404, flat("The order with id SF-1 was not found"), client.ErrNotFound, ""},
		{"upload", 400, flat("Invalid payload."), client.ErrInvalidPayload, ""},
		{"upload", 400, flat("The file type is not supported."), client.ErrFileType, ""},
		{"upload", 400, flat("The file size is too big."), client.ErrFileTooBig, ""},
		{"upload", 400, flat("You cannot upload more than 3 files."), client.ErrTooManyFiles, ""},
		{"upload", 500, flat("There were errors during the upload."), client.ErrInternal, ""},
		{"delete", 400, flat("Invalid request params."), client.ErrInvalidParams, ""},
		{"delete", 404, flat("The invoice was not found."), client.ErrInvoiceNotFound, ""},

		{"list", 401, coded("unauthorized", "The token is missing or not valid."), client.ErrUnauthorized, "unauthorized"},
		{"upload", 401, flat("Unauthorized"), client.ErrUnauthorized, ""},
		{"list", 403, coded("forbidden", "The token does not allow this."), client.ErrForbidden, "forbidden"},
		{"events", 404, coded("not_found", "Nothing is served at this path."), client.ErrUnsupported, "not_found"},
		{"events", 405, coded("method_not_allowed", "This path does not take that method."), client.ErrUnsupported, "method_not_allowed"},
		{"accept", 412, coded("precondition_failed", "The order has changed."), client.ErrPrecondition, "precondition_failed"},
		{"delete", 412, flat("The order has changed."), client.ErrPrecondition, ""},
		{"accept", 422, coded("idempotency_key_reused", "x"), client.ErrKeyReused, "idempotency_key_reused"},
		{"accept", 409, coded("idempotency_key_running", "x"), client.ErrInProgress, "idempotency_key_running"},
		{"accept", 409, coded("too_many_tokens", "x"), client.ErrRefused, "too_many_tokens"},
		{"list", 429, coded("too_many_requests", "Too many requests."), client.ErrRateLimited, "too_many_requests"},
		{"list", 503, coded("unavailable", "The service cannot answer for now."), client.ErrUnavailable, "unavailable"},
		{"list", 500, coded("internal", "The service failed to answer."), client.ErrInternal, "internal"},
		{"list", 418, coded("teapot", "no coffee"), client.ErrRefused, "teapot"},
		{"list", 501, coded("x", "y"), client.ErrInternal, "x"},

		// Responses of a proxy: pages, empty bodies.
		{"list", 502, "<html>", client.ErrUnavailable, ""},
		{"list", 504, "", client.ErrUnavailable, ""},
		{"list", 404, "<html>", client.ErrUnsupported, ""},
		{"list", 400, "<html><head><title>x</title></head>\n<h1>Not Found</h1>", client.ErrResponse, ""},
		{"list", 400, "{", client.ErrResponse, ""},
		{"list", 400, `{"error":7}`, client.ErrResponse, ""},
		{"list", 401, "null", client.ErrUnauthorized, ""},
		{"accept", 204, "", client.ErrResponse, ""},
		{"accept", 201, goodSuccess, client.ErrResponse, ""},
		{"list", 400, coded("x", "line\nbreak\x1b[31m \u202e"+secret), client.ErrRefused, "x"},
		{"list", 400, coded(secret, strings.Repeat("ω", 5000)), client.ErrRefused, "[token]"},
	} {
		t.Run(fmt.Sprintf("%s %d %.40s", test.call, test.status, test.body), func(t *testing.T) {
			t.Parallel()
			f := newFake(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("X-Request-Id", "from-service")
				w.Header().Set("Error-Detail", "Send less, not "+secret+".")
				response(w, test.status, test.body)
			}, client.WithTries(1))
			for _, call := range calls {
				if call.name != test.call {
					continue
				}
				e := wantKind(t, call.do(t.Context(), f.client), test.kind)
				if strings.HasPrefix(test.body, "<") && !strings.Contains(e.Message, ": a proxy or another server responded") || strings.Contains(test.body, "<h1>") && !strings.HasSuffix(e.Message, ": Not Found") {
					t.Errorf("it does not say who responded: %q", e.Message)
				}
				if e.Status != test.status || e.Code != test.code || e.RequestID != "from-service" || e.Message == "" || e.Tries != 1 {
					t.Errorf("%+v", e)
				}
				testenv.Contains(t, "error", e.Error(), e.Op, strings.TrimSuffix(e.Message, "."), ": Send less, not [token].", "request from-service", fmt.Sprintf("status %d", test.status))
			}
		})
	}
}

// TestRequestIDOfTheClient checks that an error without response has the id of the
// request.
func TestRequestIDOfTheClient(t *testing.T) {
	t.Parallel()
	for name, given := range map[string]string{"none": "", "no id": "a b", "token": secret, "long": strings.Repeat("x", 65)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("X-Request-Id", given)
				response(w, 400, flat("no"))
			})
			_, err := f.client.Order(t.Context(), "SF-1")
			e := wantKind(t, err, client.ErrRefused)
			if sent := f.requests()[0].Header.Get("X-Request-Id"); sent == "" || e.RequestID != sent {
				t.Errorf("id %q, sent %q", e.RequestID, sent)
			}
		})
	}
}

// TestNotSent checks that calls with invalid arguments are not sent.
func TestNotSent(t *testing.T) {
	t.Parallel()
	f := newFake(t, always(200, goodSuccess))
	for name, do := range map[string]func(context.Context, *client.Client) error{
		"no reference":        func(ctx context.Context, c *client.Client) error { return c.Accept(ctx, "") },
		"no reference, order": func(ctx context.Context, c *client.Client) error { _, err := c.Order(ctx, ""); return err },
		"no reference, events": func(ctx context.Context, c *client.Client) error {
			for _, err := range c.OrderEvents(ctx, "") {
				return err
			}
			return nil
		},
		"no tag":     func(ctx context.Context, c *client.Client) error { return c.Accept(ctx, "x", client.IfMatch("")) },
		"broken tag": func(ctx context.Context, c *client.Client) error { return c.Accept(ctx, "x", client.IfMatch("a\nb")) },
		"no key": func(ctx context.Context, c *client.Client) error {
			return c.Accept(ctx, "x", client.IdempotencyKey(""))
		},
		"broken key": func(ctx context.Context, c *client.Client) error {
			return c.Accept(ctx, "x", client.IdempotencyKey("ä"))
		},
		"long key": func(ctx context.Context, c *client.Client) error {
			return c.Reject(ctx, "x", "", client.IdempotencyKey(strings.Repeat("k", 256)))
		},
		"no address": func(ctx context.Context, c *client.Client) error {
			_, err := c.DownloadInvoice(ctx, client.Invoice{ID: 1, URL: "file:///etc/passwd"})
			return err
		},
	} {
		if e := wantKind(t, do(t.Context(), f.client), client.ErrInvalidParams); e.Status != 0 || e.Tries != 0 {
			t.Errorf("%s: %+v", name, e)
		}
	}
	testenv.Equal(t, "requests were sent", 0, len(f.requests()))
}

// TestTokenIsNeverShown formats a client, and values that contain one, with every
// verb.
func TestTokenIsNeverShown(t *testing.T) {
	t.Parallel()
	c := testenv.Of(client.New("http://127.0.0.1:1", secret)).Must(t)
	holder := struct {
		exported *client.Client
		C        client.Client
	}{c, *c}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		for _, value := range []any{c, *c, holder, &holder, []*client.Client{c}} {
			text := fmt.Sprintf(verb, value)
			testenv.Lacks(t, fmt.Sprintf("%s of %T", verb, value), text, "Secret", fmt.Sprintf("%x", "Secret"))
		}
	}
	if text, err := json.Marshal([]any{c}); err != nil || strings.Contains(string(text), "Secret") {
		t.Errorf("as JSON: %s, %v", text, err)
	}
	testenv.Equal(t, "String()", "client of http://127.0.0.1:1", c.String())
}

func TestNew(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		address, token string
		ok             bool
	}{
		{"http://127.0.0.1:8080", "mo_x", true},
		{"https://orders.example.com/prefix/", "mo_x", true},
		{"http://[::1]:8080", "mo_x", true},
		{"", "mo_x", false},
		{"orders.example.com", "mo_x", false},
		{"ftp://orders.example.com", "mo_x", false},
		{"http://", "mo_x", false},
		{"http://user:password@orders.example.com", "mo_x", false},
		{"http://orders.example.com?a=password", "mo_x", false},
		{"http://orders.example.com#password", "mo_x", false},
		{"http://orders.example.com/%zzpassword", "mo_x", false},
		{"http://orders.example.com", "", false},
		{"http://orders.example.com", "mo_password\n", false},
		{"http://orders.example.com", "mo_password ", false},
		{"http://orders.example.com", "mo_passwordä", false},
	} {
		_, err := client.New(test.address, test.token)
		testenv.Equal(t, fmt.Sprintf("%q, %q: error %v", test.address, test.token, err), test.ok, err == nil)
		if err != nil && strings.Contains(err.Error(), "password") {
			t.Errorf("the error shows what may be secret: %v", err)
		}
	}
	for name, option := range map[string]client.Option{
		"time-out": client.WithTimeout(0), "tries": client.WithTries(0), "wait": client.WithMaxWait(-1),
		"agent": client.WithUserAgent("a\nb"), "storage": client.WithStorage("files"),
	} {
		if _, err := client.New("http://127.0.0.1", "mo_x", option); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
