package api_test

import "testing"

const success2 = `{"success":true}`

func v2NotFound(id string) string {
	return `{"error":{"code":"10301","message":"The order with id ` + id + ` was not found"}}`
}

// TestListRefusals compares the messages for wrong queries. The suite of internal/e2e has
// every query.
func TestListRefusals(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.expect("GET", "/api/orders?page=0", "", 400, `{"message":"Invalid request params."}`)
	s.expect("GET", "/api/orders?date_from=2026-02-30", "", 400, `{"message":"Invalid request params."}`)
	s.expect("GET", "/v2/orders?page=0", "", 400,
		`{"error":{"code":"invalid_params","message":"page must be a whole number from 1"}}`)
	s.expect("GET", "/v2/orders?state=C", "", 400,
		`{"error":{"code":"invalid_params","message":"state must be one of registered, in-processing, ready-for-shipment, picked-by-courier, delivered-to-pickup-point, delivery-failed, rejected-by-merchant, canceled, completed, delivered-to-customer, return-canceled"}}`)
	s.expect("GET", "/v2/orders?dateFrom=2026-05-02&dateTo=2026-05-01", "", 400,
		`{"error":{"code":"invalid_params","message":"dateFrom is after dateTo"}}`)
}
