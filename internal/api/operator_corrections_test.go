package api_test

import (
	"strings"
	"testing"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// TestOperatorCorrections checks what a merchant sees of a correction: the order, its
// list, its entity tag and its events.
// Proves decision 2 (reasons, corrections), decision 5 (events: corrected, erased, deleted
// orders).
func TestOperatorCorrections(t *testing.T) {
	t.Parallel()
	s := start(t)
	const path = "/merchants/355/orders/R-1"
	seen := func(path string) testenv.Response { return s.Send(s.merchant, "GET", path, "") }
	before, list := seen("/v2/orders/R-1"), seen("/v2/orders")
	s.asOperator("PATCH", path, `{"customer":{"phone":"210 1"},"carrier":{"name":"ACS","shipmentIds":[5]},"expiresAt":"2026-11-30T00:00:00Z"}`, 200,
		`{"success":true,"state":"registered","corrected":["expiresAt","customer.phone","carrier.shipmentIds","carrier.name"]}`)
	after := seen("/v2/orders/R-1")
	for _, text := range []string{`"210 1"`, `"ACS"`, `"shipmentId":5`, `"2026-11-30 00:00:00"`} {
		if !strings.Contains(after.Body, text) || strings.Contains(before.Body, text) {
			t.Errorf("%s in %s, before in %s", text, after.Body, before.Body)
		}
	}
	if after.Header.Get("ETag") == before.Header.Get("ETag") || seen("/v2/orders").Header.Get("ETag") == list.Header.Get("ETag") {
		t.Error("an entity tag stays")
	}
	s.asOperator("PATCH", path, `{"carrier":{"name":"ACS"}}`, 200, `{"success":true,"state":"registered"}`)
	testenv.Equal(t, "entity tag without a change", after.Header.Get("ETag"), seen("/v2/orders/R-1").Header.Get("ETag"))
	s.asOperator("POST", path+"/state", `{"state":"canceled","reason":"customer-request","carrier":{"trackingCodes":"T"}}`, 200,
		`{"success":true,"state":"canceled","corrected":["carrier.trackingCodes"]}`)
	events := seen("/v2/orders/R-1/events").Body
	testenv.Contains(t, "events", events,
		`"type":"order.updated"`,
		`"data":{"fields":["carrier.trackingCodes"]}`,
		`"data":{"from":"registered","to":"canceled","reason":"customer-request"}`,
	)
	testenv.Equal(t, "events", 4, strings.Count(events, `"type":`))
}

// TestCorrectionRefusals gives the keys of a change values that are wrong. None changes
// anything.
// Proves decision 2 (reasons, corrections).
func TestCorrectionRefusals(t *testing.T) {
	t.Parallel()
	s := start(t)
	const path = "/merchants/355/orders/R-1"
	payload, reason := coded("invalid_payload", "Invalid payload."), coded("invalid_params", "reason must be lower-case words and numbers joined by "+
		"hyphens, of at most 64 bytes; for rejected-by-merchant one of out-of-stock, damaged, wrong-price, disabled-product, wrong-product")
	nothing, state := coded("invalid_params", "state is required, or a field to correct"), coded("invalid_params", "state must be one of "+order.StateNames())
	for body, want := range map[string]string{
		``: payload, `[]`: payload, `{}`: nothing, `{"carrier":{}}`: nothing, `{"state":null}`: state, `{"state":1}`: state,
		`{"carrier":{"name":"x"}`:                                         payload,
		`{"state":"canceled","reason":1}`:                                 coded("invalid_params", "reason must be text"),
		`{"reason":"late","carrier":{"name":"x"}}`:                        coded("invalid_params", "reason must be given together with state"),
		`{"notes":"x"}`:                                                   coded("invalid_params", "notes is not a known key"),
		`{"Carrier":{}}`:                                                  coded("invalid_params", "Carrier is not a known key"),
		`{"state":"canceled","reason":"Late"}`:                            reason,
		`{"state":"canceled","reason":"late--again"}`:                     reason,
		`{"state":"canceled","reason":"a b"}`:                             reason,
		`{"state":"rejected-by-merchant","reason":"late"}`:                reason,
		`{"state":"canceled","reason":"` + strings.Repeat("a", 65) + `"}`: reason,
		`{"carrier":{"name":5}}`:                                          coded("invalid_document", "carrier.name: must be text"),
		`{"carrier":null}`:                                                coded("invalid_document", "carrier: must be an object"),
		`{"customer":{"email":"a"}}`:                                      coded("invalid_document", "customer.email: unknown key"),
		`{"expiresAt":"tomorrow"}`:                                        coded("invalid_document", "expiresAt: must be a time as in 2026-11-20T08:15:30Z"),
		`{"carrier":{"shipmentIds":[1,null]}}`:                            coded("invalid_document", "carrier.shipmentIds[1]: must be a whole number"),
	} {
		s.asOperator("PATCH", path, body, 400, want)
	}
	s.asOperator("POST", path+"/state", `{"carrier":{"name":"x"}}`, 400, coded("invalid_params", "state is required"))
	s.asOperator("PATCH", path, `{"state":"completed","carrier":{"name":"x"}}`, 409,
		coded("invalid_move", "An order in the state registered cannot move to completed: it can move to in-processing, rejected-by-merchant, canceled."))
	for _, missing := range []string{"/merchants/355/orders/Y-1", "/merchants/355/orders/X-1", "/merchants/x/orders/R-1", "/merchants/999/orders/R-1"} {
		s.asOperator("PATCH", missing, `{"carrier":{"name":"x"}}`, 404, coded("not_found", "The order was not found."))
	}
	if got := s.Send(s.merchant, "GET", "/v2/orders/R-1/events", ""); strings.Count(got.Body, `"type":`) != 1 || s.state("R-1") != order.Registered {
		t.Errorf("R-1 is %s: %s", s.state("R-1"), got.Body)
	}
}
