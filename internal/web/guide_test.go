package web_test

import (
	"errors"
	"net/http/httptest"
	"strconv"
	"testing"

	"merchantorders/docs/docstest"
	"merchantorders/internal/order"
	"merchantorders/internal/strict"
	"merchantorders/internal/web"
	"merchantorders/internal/web/ratelimit"
)

// TestGuideHasEveryError compares the table of the guide with the errors that
// every route group can return.
func TestGuideHasEveryError(t *testing.T) {
	t.Parallel()
	var want []string
	r := httptest.NewRequest("GET", "/", nil)
	for _, err := range []error{
		&strict.ParamError{Name: "page", Problem: "is wrong"}, strict.ErrInvalidPayload, web.ErrUnauthorized, web.ErrForbidden, web.ErrSuspended, web.ErrRouteNotFound,
		&web.MethodError{}, order.ErrIdempotencyKeyInUse, order.ErrPreconditionFailed, web.ErrContentEncoding, order.ErrIdempotencyKeyReused, &ratelimit.Error{}, &ratelimit.Error{Limit: ratelimit.SignIns},
		errors.New("a fault"), order.ErrUnavailable,
	} {
		status, flat := web.EncodeMessage(r, err)
		_, coded := web.EncodeCoded(r, err)
		want = append(want, strconv.Itoa(status)+" "+flat.(web.MessageBody).Message+" "+coded.(web.CodedBody).Error.Code)
	}
	docstest.SameErrors(t, "guide/errors.md", "Everywhere", want)
}
