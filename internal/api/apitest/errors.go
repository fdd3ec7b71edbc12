package apitest

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"merchantorders/internal/testenv"
	"merchantorders/internal/web"
)

// answer returns the status and the body for an error about an order, whose name in the
// path is the value of param.
func answer(t *testing.T, encode web.ErrorEncoder, param, name string, err error) string {
	t.Helper()
	r := httptest.NewRequest("GET", "/orders/x", nil)
	r.SetPathValue(param, name)
	status, body := encode(r, err)
	return fmt.Sprintf("%d %s", status, testenv.Of(json.Marshal(body)).Must(t))
}

// CheckErrors checks the status and the body with which a version answers errors, as they
// are and wrapped.
func CheckErrors(t *testing.T, encode web.ErrorEncoder, param, name string, answers map[error]string) {
	t.Helper()
	for err, want := range answers {
		testenv.Equal(t, err.Error(), want, answer(t, encode, param, name, err))
		testenv.Equal(t, err.Error()+", wrapped", want, answer(t, encode, param, name, fmt.Errorf("wrapped: %w", err)))
	}
}

// CheckNotFoundEchoes checks that the message repeats the name of an order as it was sent,
// but cut and as valid text. body returns the body with a message.
func CheckNotFoundEchoes(t *testing.T, encode web.ErrorEncoder, param string, notFound error, body func(message string) any) {
	t.Helper()
	for name, want := range map[string]string{
		"abc": "abc", "-1": "-1", "007": "007", "99999999999999999999": "99999999999999999999", "SF-1": "SF-1", "..": "..",
		"α/β \"γ\"\x00": "α/β \"γ\"\x00", "<b>": "<b>", "a\xffb": "a\ufffdb", "\xff\xfe": "\ufffd\ufffd",
		strings.Repeat("ω", 300): strings.Repeat("ω", 256),
	} {
		text := testenv.Of(json.Marshal(body("The order with id " + want + " was not found"))).Must(t)
		testenv.Equal(t, name, "404 "+string(text), answer(t, encode, param, name, notFound))
	}
}
