package e2e

import "strings"

// invoiceWith is a document that asks for an invoice with one more member.
func invoiceWith(key string, value any) document {
	return document{"invoiceDetails": map[string]any{"vatNumber": "1", key: value}}
}

// orderValues are changes to an order document and what has to be shown of
// them: parts of the single order, as JSON, by their paths.
var orderValues = []struct {
	name   string
	change document
	v1, v2 map[string]string // JSON by path
}{
	{"discount in whole units", document{"discount": 200}, map[string]string{"discount": "2"}, nil},
	{"amounts with two digits", document{"total": 1790}, map[string]string{"total": `"17.90"`, "subtotal": `"10.00"`},
		map[string]string{"totalItemsAmount": "1790", "subTotalItemsAmount": "1000"}},
	{"amount beyond 53 bits", document{"total": int64(9007199254740993)},
		map[string]string{"total": `"90071992547409.93"`}, map[string]string{"totalItemsAmount": "9007199254740993"}},
	{"currency without minor unit", document{"currency": "JPY", "discount": 3},
		map[string]string{"total": `"1000"`, "discount": "3", "products.1.price": `"1000"`}, map[string]string{"totalItemsAmount": "1000", "currency": `"JPY"`}},
	{"guest", document{"customer": map[string]any{"userId": 0}}, map[string]string{"user_id": "0", "email": `""`, "phone": `""`},
		map[string]string{"customer": `{"userId":0,"email":"","phone":null,"firstName":"","lastName":""}`}},
	{"expiry and dispatch", document{"expiresAt": "2026-05-03T12:00:00Z", "dispatchUntil": "2026-05-02T23:59:59+02:00"}, nil,
		map[string]string{"expiresAt": `"2026-05-03 12:00:00"`, "dispatchUntil": `"2026-05-02 21:59:59"`}},
	{"expiry and dispatch at the beginning of Unix time", document{"expiresAt": "1970-01-01T00:00:00Z", "dispatchUntil": "1970-01-01T00:00:00Z"}, nil,
		map[string]string{"expiresAt": `"1970-01-01 00:00:00"`, "dispatchUntil": `"1970-01-01 00:00:00"`}},
	{"fraction of a second and offset", document{"createdAt": "2026-05-01T01:30:00.987+03:00"},
		map[string]string{"timestamp": "1777588200"}, map[string]string{"createdAt": `"2026-04-30 22:30:00"`}},
	{"changed", document{"updatedAt": "2026-05-02T10:00:00Z"},
		map[string]string{"last_order_change": `"1777716000"`}, map[string]string{"updatedAt": `"2026-05-02 10:00:00"`}},
	{"never changed", nil, map[string]string{"last_order_change": `""`}, map[string]string{"updatedAt": "null"}},
	{"several shipments", in("carrier", "shipmentIds", []int{8, 7}), map[string]string{"shipment_ids": "[8,7]"}, map[string]string{"carrier.shipmentId": "8"}},
	{"no shipment", in("carrier", "shipmentIds", []int{}), map[string]string{"shipment_ids": "[]"}, map[string]string{"carrier.shipmentId": "0"}},
	{"carrier comments", in("carrier", "comments", "late"), nil, map[string]string{"carrier.comments": `"late"`}},
	{"estimation that is a time", in("carrier", "deliveryToCourierEstimationDate", "2026-11-21T01:30:00.5+02:00"), nil,
		map[string]string{"carrier.deliveryToCourierEstimationDate": `"2026-11-20 23:30:00"`}},
	{"estimation without seconds, as 1.0.0 shows it", in("carrier", "deliveryToCourierEstimationDate", "2026-11-21T01:30Z"), nil,
		map[string]string{"carrier.deliveryToCourierEstimationDate": `"2026-11-21T01:30Z"`}},
	{"estimation that is no time", in("carrier", "deliveryToCustomerEstimationDate", "2026-11-21 soon"), nil,
		map[string]string{"carrier.deliveryToCustomerEstimationDate": `"2026-11-21 soon"`}},
	{"no invoice wanted", nil, map[string]string{"fields.115": `"N"`, "fields.151": `"N"`, "fields.119": `""`},
		map[string]string{"hasInvoice": "false", "invoiceDetails": "null"}},
	{"invoice wanted", document{"invoiceDetails": map[string]any{"vatNumber": "094014201"}},
		map[string]string{"fields.115": `"Y"`, "fields.119": `"094014201"`, "fields.116": `""`, "fields.151": `"N"`},
		map[string]string{"hasInvoice": "true", "invoiceDetails.vatNumber": `"094014201"`, "invoiceDetails.company": "null"}},
	{"eligible Y", invoiceWith("article39Eligible", "Y"), map[string]string{"fields.151": `"Y"`}, map[string]string{"invoiceDetails.article39Eligible": `"Y"`}},
	{"eligible false", invoiceWith("article39Eligible", false), map[string]string{"fields.151": `"N"`}, map[string]string{"invoiceDetails.article39Eligible": "false"}},
	{"valid true", invoiceWith("article39Valid", true), nil, map[string]string{"invoiceDetails.article39Valid": "true"}},
	{"country of the shipping address", nil, nil, map[string]string{"countryCode": `"GR"`}},
	{"country of the order", document{"countryCode": "CY"}, nil, map[string]string{"countryCode": `"CY"`, "addressDetails.countryCode": `"GR"`}},
	{"billing address is the shipping address", nil,
		map[string]string{"b_address": `"Ermou 12"`, "b_city": `"Athens"`, "s_address": `"Ermou 12"`, "s_city": `"Athens"`}, nil},
	{"letters of all kinds", document{"notes": "\"<Καλημέρα> & 👍\"\n\u2028"},
		map[string]string{"notes": `"\"<Καλημέρα> & 👍\"\n\u2028"`}, nil},
	{"longest text", document{"notes": strings.Repeat("α", 10_000)}, map[string]string{"notes": `"` + strings.Repeat("α", 10_000) + `"`}, nil},
	{"no notes", document{"notes": nil}, map[string]string{"notes": "null"}, nil},
	{"empty notes", document{"notes": ""}, map[string]string{"notes": `""`}, nil},
	{"numeric reference", document{"reference": "00123"}, map[string]string{"order_reference": `"00123"`}, map[string]string{"id": `"00123"`}},
	{"longest reference", document{"reference": strings.Repeat("x", 64)}, nil, map[string]string{"id": `"` + strings.Repeat("x", 64) + `"`}},
	{"reference with all signs", document{"reference": "0a.B_c-"}, nil, map[string]string{"id": `"0a.B_c-"`}},
	{"largest number", document{"orderId": int64(9007199254740991)}, map[string]string{"order_id": "9007199254740991"}, nil},
}
