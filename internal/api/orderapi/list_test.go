package orderapi_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"merchantorders/internal/api/orderapi"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
	"merchantorders/internal/web"
)

// changed is a Lister whose data change between the authentication of a request and
// its list.
type changed struct{ to order.DataVersion }

func (c changed) List(context.Context, int64, order.Filter) (order.Page, error) {
	return order.Page{Version: c.to}, nil
}

// TestTagOfNewerBody checks that a list that shows a change from after the
// authentication has the tag of that change: two bodies never have the same tag.
func TestTagOfNewerBody(t *testing.T) {
	t.Parallel()
	before, after := order.DataVersion{Event: 80, Nonce: 1}, order.DataVersion{Event: 81, Nonce: 2}
	r := &web.Request{Request: httptest.NewRequest("GET", "/v2/orders", nil), Caller: order.CommandFor(355), DataVersion: before}
	rep := orderapi.Represent(r, changed{to: after}, orderapi.List{}, time.Unix(0, 0), "", func(order.Page) any { return nil })
	if want := "355-" + before.String(); !strings.HasPrefix(rep.Tag, want) {
		t.Errorf("tag before the body %q, want %q", rep.Tag, want)
	}
	testenv.Of(rep.Body(&rep)).Must(t)
	if want := "355-" + after.String(); !strings.HasPrefix(rep.Tag, want) {
		t.Errorf("tag of the body %q, want %q", rep.Tag, want)
	}
}
