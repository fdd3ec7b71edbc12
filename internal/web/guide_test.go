package web_test

import (
	"errors"
	"net/http/httptest"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

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
	var want, got []string
	r := httptest.NewRequest("GET", "/", nil)
	for _, err := range []error{
		&strict.ParamError{Name: "page", Problem: "is wrong"}, strict.ErrInvalidPayload, web.ErrUnauthorized, web.ErrForbidden, web.ErrSuspended, web.ErrRouteNotFound,
		&web.MethodError{}, order.ErrIdempotencyKeyInUse, order.ErrPreconditionFailed, order.ErrIdempotencyKeyReused, &ratelimit.Error{}, &ratelimit.Error{Limit: ratelimit.SignIns},
		errors.New("a fault"), order.ErrUnavailable,
	} {
		status, flat := web.EncodeMessage(r, err)
		_, coded := web.EncodeCoded(r, err)
		want = append(want, strconv.Itoa(status)+" "+flat.(web.MessageBody).Message+" "+coded.(web.CodedBody).Error.Code)
	}
	for _, row := range docstest.Rows(t, "guide/errors.md", "Everywhere") {
		got = append(got, row[0]+" "+docstest.Code(row[1])[0]+" "+docstest.Code(row[2])[0])
		if row[3] == "" || row[4] == "" {
			t.Errorf("%s has no cause or no advice", row[1])
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("errors (-code +guide):\n%s", diff)
	}
}
