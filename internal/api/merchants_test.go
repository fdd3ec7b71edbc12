package api_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"merchantorders/internal/api/apitest"
	"merchantorders/internal/app"
	"merchantorders/internal/app/apptest"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// merchantBody returns the body of a merchant. suspension is null, or the time and the
// reason of the suspension; limits is JSON.
func merchantBody(id int, name, suspension, limits string) string {
	at, reason, ok := strings.Cut(suspension, " ")
	if !ok {
		reason = "null"
	}
	return fmt.Sprintf(`{"id":%d,"name":"%s","createdAt":"2026-11-20T10:00:00Z","suspendedAt":%s,"suspensionReason":%s,"limits":%s,"timeZone":null}`,
		id, name, at, reason, limits)
}

// TestRename checks that no client goes on seeing the old name of a merchant, from its
// own cache or from that of the service.
// Proves decision 8 (ETag).
func TestRename(t *testing.T) {
	t.Parallel()
	s := start(t)
	read := func(tag string) testenv.Response {
		return s.Send(s.merchant, "GET", "/api/orders/101", "", "If-None-Match", tag)
	}
	tags := make(map[string]bool)
	for i, name := range []string{"Κατάστημα & Υιοί", "Νέο όνομα", "Νέο όνομα", "Κατάστημα & Υιοί"} {
		if i > 0 {
			s.asOperator("PATCH", "/merchants/355", `{"name":"`+name+`"}`, 200, merchantBody(355, name, "null", "null"))
		}
		for tag := range tags {
			if got := read(tag); (got.Status == http.StatusNotModified) != (i == 2 && got.Header.Get("ETag") == tag) {
				t.Errorf("%s: a client with the tag %s gets %d", name, tag, got.Status)
			}
		}
		for range 3 { // the response cache takes a response that is requested twice
			got := read("")
			got.WantText(t, http.StatusOK, `"company_name":"`+name+`"`)
			tags[got.Header.Get("ETag")] = true
			read(got.Header.Get("ETag")).WantStatus(t, http.StatusNotModified)
		}
	}
	testenv.Equal(t, "tags of 3 names", 3, len(tags))
	// A tag with an old name is good for If-Match: the order has not changed. The tag of
	// the response to a write is that of the order.
	old := slices.Min(slices.Collect(maps.Keys(tags)))
	wrote := s.Send(s.merchant, "PUT", "/api/orders/101", `{"status":"G"}`, "If-Match", old)
	if got := read(wrote.Header.Get("ETag")); wrote.Status != http.StatusOK || got.Status != http.StatusNotModified {
		t.Errorf("after a write: %d %s, then %d", wrote.Status, wrote.Body, got.Status)
	}
}

// readingStore sends to reading when a request for events reads them. It is among the
// waiters by then.
type readingStore struct {
	app.Store
	reading chan struct{}
}

func (s readingStore) Events(ctx context.Context, merchantID, after int64, limit int) (order.Feed, error) {
	select {
	case s.reading <- struct{}{}:
	default:
	}
	return s.Store.Events(ctx, merchantID, after, limit)
}

// TestSuspend suspends a merchant: every request with its tokens gets 403, also one that
// waits for events; its orders still arrive; others notice nothing.
// Proves decision 1 (suspended merchant).
func TestSuspend(t *testing.T) {
	t.Parallel()
	reading := make(chan struct{}, 1)
	s := startWith(t, apptest.Setup{Store: func(s app.Store) app.Store { return readingStore{s, reading} }})
	const (
		v1 = `{"message":"The merchant is suspended."}`
		v2 = `{"error":{"code":"merchant_suspended","message":"The merchant is suspended."}}`
	)
	waiting := make(chan testenv.Response)
	go func() { waiting <- s.Send(s.merchant, "GET", "/v2/events?after=11&wait=30", "") }()
	<-reading
	suspended := merchantBody(355, apitest.MerchantName, `"2026-11-20T10:00:00Z" "unpaid \"bill\""`, "null")
	s.asOperator("POST", "/merchants/355/suspend", `{"reason":"unpaid \"bill\""}`, 200, suspended)
	(<-waiting).Want(t, "the request that waits", 403, v2)
	s.At(5 * time.Second)
	s.asOperator("POST", "/merchants/355/suspend", `{"reason":"another"}`, 200, suspended)
	s.asOperator("GET", "/merchants/355", "", 200, suspended)
	s.asOperator("GET", "/merchants?suspended=true", "", 200, `{"merchants":[`+suspended+`],"next":null}`)
	// Made during the suspension, and without any scope that helps.
	later := s.NewToken(apitest.MerchantID, order.ScopeWebhooks)
	other := s.NewToken(otherMerchant, order.MerchantScopes)
	for _, endpoint := range endpoints {
		want := v1
		if endpoint.v2 {
			want = v2
		}
		for _, text := range []string{s.merchant, later} {
			s.Send(text, endpoint.method, endpoint.path, "{}").Want(s.T, endpoint.path, 403, want)
		}
		if got := s.Send(other, endpoint.method, endpoint.path, "{}"); got.Status == http.StatusForbidden {
			t.Errorf("%s of another merchant: %d", endpoint.path, got.Status)
		}
	}
	s.Send(s.operator, "POST", "/operator/orders", document("N-1", 5000, "")).WantStatus(t, http.StatusCreated)
	for range 2 {
		s.asOperator("POST", "/merchants/355/resume", "", 200, merchantBody(355, apitest.MerchantName, "null", "null"))
		s.Send(s.merchant, "GET", "/v2/orders/N-1", "").WantStatus(t, http.StatusOK)
	}
}

// TestMerchantChangesRefused has what is wrong with the fields of a merchant beside their form,
// which TestHostileRequests has.
// Proves decision 1 (limit of a merchant).
func TestMerchantChangesRefused(t *testing.T) {
	t.Parallel()
	s := start(t)
	refused := map[string]string{
		`{}`: "name is required, or limits, or timeZone",
		`{"limits":{"requestsPerSecond":5,"burst":5,"x":1}}`: "limits.x is not a known key",
		`{"limits":{"burst":5}}`:                             "limits.requestsPerSecond must be a whole number from 1 to 500000",
		`{"name":"` + strings.Repeat("α", 500) + `b"}`:       "name must be text of at most 1000 bytes",
		`{"name":"\u0085"}`:                                  "name must be on one line, without control characters",
	}
	for _, value := range []string{`0`, `-1`, `1.5`, `1e3`, `"5"`, `null`, `1000001`, `99999999999999999999`, `[]`} {
		refused[`{"limits":{"requestsPerSecond":`+value+`}}`] = "limits.requestsPerSecond must be a whole number from 1 to 500000"
		refused[`{"limits":{"requestsPerSecond":5,"burst":`+value+`}}`] = "limits.burst must be a whole number from 1 to 1000000"
	}
	for _, value := range []string{`"Athens"`, `"Europe/athens"`, `""`, `"Local"`} {
		refused[`{"timeZone":`+value+`}`] = "timeZone must be the name of a time zone, such as Europe/Athens or UTC"
	}
	for body, want := range refused {
		s.asOperator("PATCH", "/merchants/355", body, 400, coded("invalid_params", want))
	}
	s.asOperator("POST", "/merchants/355/suspend", `{"reason":"`+strings.Repeat("α", 250)+`b"}`, 400, coded("invalid_params", "reason must be text of at most 500 bytes"))
	for _, id := range []string{"999", "0355"} {
		notFound := coded("not_found", "The merchant was not found.")
		s.asOperator("GET", "/merchants/"+id, "", 404, notFound)
		s.asOperator("PATCH", "/merchants/"+id, `{"name":"x"}`, 404, notFound)
		s.asOperator("POST", "/merchants/"+id+"/suspend", `{"reason":"x"}`, 404, notFound)
		s.asOperator("POST", "/merchants/"+id+"/resume", "", 404, notFound)
	}
	s.asOperator("GET", "/merchants/355", "", 200, merchantBody(355, apitest.MerchantName, "null", "null"))
	zoned := strings.Replace(merchantBody(355, apitest.MerchantName, "null", "null"), `"timeZone":null`, `"timeZone":"Europe/Athens"`, 1)
	s.asOperator("PATCH", "/merchants/355", `{"timeZone":"Europe/Athens"}`, 200, zoned)
	s.asOperator("PATCH", "/merchants/355", `{"timeZone":null}`, 200, merchantBody(355, apitest.MerchantName, "null", "null"))
	s.asOperator("PATCH", "/merchants/355", `{"limits":{"requestsPerSecond":500000,"burst":1}}`, 200,
		merchantBody(355, apitest.MerchantName, "null", `{"requestsPerSecond":500000,"burst":1}`))
}
