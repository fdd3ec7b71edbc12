package ingest_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"merchantorders/internal/ingest"
	"merchantorders/internal/testenv"
)

type bad struct{ document, want string }

// check parses each document and compares the messages.
func check(t *testing.T, tests []bad) {
	t.Helper()
	for _, test := range tests {
		testenv.Equal(t, test.document, test.want, refusal(t, test.document))
	}
}

func TestParseRefusesOtherThanObjects(t *testing.T) {
	t.Parallel()
	check(t, []bad{
		{"", "not a JSON object: it is empty"},
		{"  \n", "not a JSON object: it is empty"},
		{"order", "not a JSON object: it does not begin with {"},
		{"\ufeff" + minimal, "not a JSON object: it begins with a byte order mark (U+FEFF); save it without one"},
		{"not JSON", "not a JSON object: it does not begin with {"},
		{"[1, 2", "not a JSON object: it does not begin with {"},
		{"null", "not a JSON object: it is null"},
		{"true", "not a JSON object: it is true"},
		{"17", "not a JSON object: it is a number"},
		{`"{}"`, "not a JSON object: it is a text"},
		{"[" + minimal + "]", "not a JSON object: it is an array"},
		{"{", "not a JSON object: it ends too early"},
		{minimal[:len(minimal)-1], "not a JSON object: it ends too early"},
		{minimal[:40], "not a JSON object: it ends too early"},
		{`{"merchantId":355,}`, "not a JSON object: syntax error at byte 18"},
		{`{merchantId:355}`, "not a JSON object: syntax error at byte 2"},
		{`{"merchantId":0355}`, "not a JSON object: syntax error at byte 16"},
		{`{'merchantId':355}`, "not a JSON object: syntax error at byte 2"},
		{`{"notes":"a` + "\t" + `b"}`, "not a JSON object: syntax error at byte 12"},
		{`{"notes":"a` + "\x00" + `b"}`, "not a JSON object: syntax error at byte 12"},
		{`{"notes":"\q"}`, "not a JSON object: syntax error at byte 11"},
		{minimal + minimal, "not a JSON object: there is text after it"},
		{minimal + " garbage", "not a JSON object: there is text after it"},
		{minimal + "\x00", "not a JSON object: there is text after it"},
		{strings.Repeat(`{"customer":`, 20_000), "customer.customer: unknown key"},
	})
}

func TestParseRefusesLooseSpelling(t *testing.T) {
	t.Parallel()
	check(t, []bad{
		{adding(`"foo":1`), "foo: unknown key"},
		{adding(`"STATE":"registered"`), "STATE: unknown key"},
		{adding(`"\u017ftate":"registered"`), `"ſtate": unknown key`},
		{adding(`"":1`), `"": unknown key`},
		{adding(`"a.b":1`), `"a.b": unknown key`},
		{adding(`"a\nb":1`), `"a\nb": unknown key`},
		{adding(`"0":1`), `0: unknown key`},
		{with(t, `"customer":{}`, `"customer":{"nickname":null}`), "customer.nickname: unknown key"},
		{with(t, `"city":`, `"...":"the same fields, and","city":`), `shippingAddress."...": unknown key`},
		{adding(`"billingAddress":{"addressType":""}`), "billingAddress.addressType: unknown key"},
		{adding(`"carrier":{"Name":""}`), "carrier.Name: unknown key"},
		{adding(`"payment":{"key":"cod"}`), "payment.key: unknown key"},
		{adding(`"invoiceDetails":{"vat":"1"}`), "invoiceDetails.vat: unknown key"},
		{inLine(`"price":1`), "lineItems[0].price: unknown key"},
		{with(t, `{"id":7,`, `{"id":8,"productName":"","unitPrice":1,"quantity":1},{"x":1,"id":7,`), "lineItems[1].x: unknown key"},

		{adding(`"total":250`), "total: the key is given twice"},
		{adding(`"to\u0074al":250`), "total: the key is given twice"},
		{with(t, `"customer":{}`, `"customer":{"email":"a","email":"a"}`), "customer.email: the key is given twice"},
		{inLine(`"quantity":2`), "lineItems[0].quantity: the key is given twice"},
		{inLine(`"extendedAttributes":[{"a":[{"b":1,"b":1}]}]`), "lineItems[0].extendedAttributes[0].a[0].b: the key is given twice"},

		{with(t, "Pen", "P\xffn"), "lineItems[0].productName: invalid UTF-8"},
		{with(t, "Λευκωσία", "\xed\xa0\x80"), "shippingAddress.city: invalid UTF-8"},
		{inLine("\"extendedAttributes\":[\"\xc0\x80\"]"), "lineItems[0].extendedAttributes[0]: invalid UTF-8"},
		{adding("\"\xff\":1"), "not a JSON object: syntax error at byte " + fmt.Sprint(len(minimal)+2)},
		{adding(`"notes":"\ud800"`), "notes: broken escape or half of a surrogate pair"},
		{adding(`"notes":"\udc00\ud800"`), "notes: broken escape or half of a surrogate pair"},
		{adding(`"notes":"\u12g4"`), "notes: broken escape or half of a surrogate pair"},
		{inLine(`"extendedAttributes":["\ud83d"]`), "lineItems[0].extendedAttributes[0]: broken escape or half of a surrogate pair"},
	})
}

// nothingGiven is what is wrong with a document without members.
const nothingGiven = "merchantId, reference, createdAt, total, customer, shippingAddress, lineItems: are required"

func TestParseRefusesMissingFields(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ member, want string }{
		{`"merchantId":355`, "merchantId: is required"},
		{`"reference":"R-1"`, "reference: is required"},
		{`"createdAt":"2026-11-20T08:15:30Z"`, "createdAt: is required"},
		{`"total":250`, "total: is required"},
		{`"customer":{}`, "customer: is required"},
		{`"shippingAddress":{"countryCode":"CY","city":"Λευκωσία"}`, "shippingAddress: is required"},
		{`"id":7`, "lineItems[0].id: is required"},
		{`"productName":"Pen"`, "lineItems[0].productName: is required"},
		{`"unitPrice":100`, "lineItems[0].unitPrice: is required"},
		{`"quantity":2`, "lineItems[0].quantity: is required"},
	} {
		key := test.member[:strings.Index(test.member, ":")]
		null := with(t, test.member, key+":null")
		absent := strings.Replace(strings.Replace(null, key+":null,", "", 1), ","+key+":null", "", 1)
		check(t, []bad{{null, test.want}, {absent, test.want}})
	}
	const lines = `[{"id":7,"productName":"Pen","unitPrice":100,"quantity":2}]`
	check(t, []bad{
		{"{}", nothingGiven},
		{`{"invoiceDetails":{},"lineItems":[{"id":1},{"productName":"Pen","unitPrice":1,"quantity":0}],"state":"none","total":-1,"merchantId":1,"createdAt":"now"}`,
			"reference, customer, shippingAddress, invoiceDetails.vatNumber, lineItems[0].unitPrice, lineItems[0].quantity, lineItems[0].productName, lineItems[1].id: are required"},
		{with(t, lines, "["+strings.Repeat("{},", 9)+"{}]"), "lineItems[0].id, lineItems[0].unitPrice, lineItems[0].quantity, lineItems[0].productName, " +
			"lineItems[1].id, lineItems[1].unitPrice, lineItems[1].quantity, lineItems[1].productName, lineItems[2].id, lineItems[2].unitPrice, lineItems[2].quantity, " +
			"lineItems[2].productName, lineItems[3].id, lineItems[3].unitPrice, lineItems[3].quantity, lineItems[3].productName, lineItems[4].id, lineItems[4].unitPrice, " +
			"lineItems[4].quantity, lineItems[4].productName, 20 more: are required"},
		{with(t, `,"lineItems":`+lines, ""), "lineItems: one or more are required"},
		{with(t, lines, "null"), "lineItems: one or more are required"},
		{with(t, lines, "[]"), "lineItems: one or more are required"},
		{with(t, lines, "[null]"), "lineItems[0].id, lineItems[0].unitPrice, lineItems[0].quantity, lineItems[0].productName: are required"},
		{adding(`"carrier":{"shipmentIds":[1,null]}`), "carrier.shipmentIds[1]: must be a whole number"},
	})
}

func TestParseRefusesWrongTypes(t *testing.T) {
	t.Parallel()
	const lines = `[{"id":7,"productName":"Pen","unitPrice":100,"quantity":2}]`
	check(t, []bad{
		{with(t, `355`, `"355"`), "merchantId: must be a whole number"},
		{with(t, `355`, `355.0`), "merchantId: must be a whole number"},
		{with(t, `355`, `1e2`), "merchantId: must be a whole number"},
		{with(t, `355`, `9223372036854775808`), "merchantId: must fit into 64 bits"},
		{with(t, `355`, `true`), "merchantId: must be a whole number"},
		{with(t, `"R-1"`, `1`), "reference: must be text"},
		{adding(`"state":{}`), "state: must be text"},
		{adding(`"notes":[]`), "notes: must be text"},
		{with(t, `"2026-11-20T08:15:30Z"`, `1795162530`), "createdAt: must be text"},
		{with(t, `250`, `"2.50"`), "total: must be a whole number"},
		{with(t, `250`, `2.50`), "total: must be a whole number"},
		{with(t, `"customer":{}`, `"customer":[]`), "customer: must be an object"},
		{with(t, `"customer":{}`, `"customer":{"email":1}`), "customer.email: must be text"},
		{with(t, `"customer":{}`, `"customer":{"userId":"1"}`), "customer.userId: must be a whole number"},
		{with(t, `"CY"`, `30`), "shippingAddress.countryCode: must be text"},
		{adding(`"billingAddress":"the same"`), "billingAddress: must be an object"},
		{adding(`"carrier":{"shipmentIds":1}`), "carrier.shipmentIds: must be an array"},
		{adding(`"carrier":{"shipmentIds":[1,"2"]}`), "carrier.shipmentIds[1]: must be a whole number"},
		{adding(`"payment":"cod"`), "payment: must be an object"},
		{adding(`"invoiceDetails":false`), "invoiceDetails: must be an object"},
		{adding(`"invoiceDetails":{}`), "invoiceDetails.vatNumber: is required and must not be empty"},
		{adding(`"invoiceDetails":{"vatNumber":""}`), "invoiceDetails.vatNumber: is required and must not be empty"},
		{adding(`"invoiceDetails":{"vatNumber":null}`), "invoiceDetails.vatNumber: is required and must not be empty"},
		{adding(`"invoiceDetails":{"doy":1131}`), "invoiceDetails.doy: must be text"},
		{adding(`"invoiceDetails":{"vatNumber":"1","article39Eligible":1}`), "invoiceDetails.article39Eligible: must be text, true, false or null"},
		{adding(`"invoiceDetails":{"vatNumber":"1","article39Valid":[true]}`), "invoiceDetails.article39Valid: must be text, true, false or null"},
		{with(t, lines, "{}"), "lineItems: must be an array"},
		{with(t, lines, "[1]"), "lineItems[0]: must be an object"},
		{inLine(`"giftWrap":"Y"`), "lineItems[0].giftWrap: must be true or false"},
		{inLine(`"article39Valid":0`), "lineItems[0].article39Valid: must be true or false"},
		{inLine(`"extendedAttributes":{}`), "lineItems[0].extendedAttributes: must be an array"},
		{inLine(`"extendedAttributes":""`), "lineItems[0].extendedAttributes: must be an array"},
		{inLine(`"pickupDate":20261121`), "lineItems[0].pickupDate: must be text"},
		{inLine(`"vatRate":24`), "lineItems[0].vatRate: must be text"},
		{adding(`"shippingAmount":"350"`), "shippingAmount: must be a whole number"},
	})
}

func TestParseRefusesBadValues(t *testing.T) {
	t.Parallel()
	const reference = "reference: must be 1 to 64 of A-Z a-z 0-9 . _ -, the first a letter or digit"
	const badTime = ": must be a time as in 2026-11-20T08:15:30Z"
	const line = "lineItems[0]."
	check(t, []bad{
		{with(t, `355`, `0`), "merchantId: must be 1 or more"},
		{with(t, `355`, `-355`), "merchantId: must be 1 or more"},
		{with(t, `"R-1"`, `""`), reference},
		{with(t, `"R-1"`, `"-R"`), reference},
		{with(t, `"R-1"`, `"R 1"`), reference},
		{with(t, `"R-1"`, `"Ρ-1"`), reference},
		{with(t, `"R-1"`, `"../1"`), reference},
		{with(t, `"R-1"`, `"export"`), "reference: must not be export, which is a path of the interfaces"},
		{with(t, `"R-1"`, `"`+strings.Repeat("R", 65)+`"`), reference},
		{adding(`"orderId":0`), "orderId: must be 1 or more"},
		{adding(`"orderId":-1`), "orderId: must be 1 or more"},
		{adding(`"orderId":9007199254740992`), "orderId: must be 9007199254740991 or less: many JSON readers lose digits of larger numbers"},
		{with(t, `"id":7`, `"id":9223372036854775807`), line + "id: must be 9007199254740991 or less: many JSON readers lose digits of larger numbers"},
		{with(t, `"id":7`, `"id":-9007199254740992`), line + "id: must be -9007199254740991 or more"},
		{adding(`"state":"accepted"`), stateProblem},
		{adding(`"state":"Registered"`), stateProblem},
		{adding(`"state":"O"`), stateProblem},
		{adding(`"shippingAmount":-1`), "shippingAmount: must be 0 or more"},
		{adding(`"shippingVatRate":"24%"`), `shippingVatRate: must be a percentage from 0 to 100 with at most 3 decimals, as text such as "6.5"`},
		{inLine(`"vatRate":"6,5"`), line + `vatRate: must be a percentage from 0 to 100 with at most 3 decimals, as text such as "6.5"`},
		{adding(`"currency":"eur"`), "currency: must be three capital letters"},
		{adding(`"currency":""`), "currency: must be three capital letters"},

		{with(t, "2026-11-20T08:15:30Z", ""), "createdAt" + badTime},
		{with(t, "2026-11-20T08:15:30Z", "2026-11-20"), "createdAt" + badTime},
		{with(t, "2026-11-20T08:15:30Z", "2026-11-20 08:15:30"), "createdAt" + badTime},
		{with(t, "2026-11-20T08:15:30Z", "2026-11-20T08:15:30"), "createdAt" + badTime},
		{adding(`"updatedAt":"2026-02-30T00:00:00Z"`), "updatedAt" + badTime},
		{adding(`"updatedAt":"2026-11-20T8:15:30Z"`), "updatedAt" + badTime},
		{adding(`"updatedAt":"2026-11-20T08:15:30,5Z"`), "updatedAt" + badTime},
		{adding(`"expiresAt":"2026-11-20T24:00:00Z"`), "expiresAt" + badTime},
		{adding(`"expiresAt":"2026-11-20T08:15:30+24:00"`), "expiresAt" + badTime},
		{adding(`"expiresAt":"2026-11-20T08:15:30+02:60"`), "expiresAt" + badTime},
		{adding(`"expiresAt":"2026-11-20T08:15:30.Z"`), "expiresAt" + badTime},
		{adding(`"expiresAt":"2026-11-20T08:15:30+0200"`), "expiresAt" + badTime},
		{adding(`"expiresAt":"2026-11-20T08:15:61Z"`), "expiresAt" + badTime},
		{adding(`"expiresAt":"2026-06-30T23:59:60Z"`), "expiresAt" + badTime}, // a leap second
		{adding(`"dispatchUntil":"9999-12-31T23:59:59-00:01"`), "dispatchUntil" + badTime},
		{adding(`"dispatchUntil":"0000-12-31T23:59:59Z"`), "dispatchUntil" + badTime},
		{adding(`"dispatchUntil":"0001-01-01T00:00:00.5Z"`), "dispatchUntil" + badTime},

		{with(t, `250`, `-1`), "total: must be 0 or more"},
		{adding(`"discount":-1`), "discount: must be 0 or more"},
		{adding(`"subtotal":201`), "subtotal: must be the sum of the lines' totals"},
		{adding(`"subtotal":-200`), "subtotal: must be the sum of the lines' totals"},
		{with(t, `"customer":{}`, `"customer":{"userId":-1}`), "customer.userId: must be 0 or more"},

		{with(t, `"unitPrice":100`, `"unitPrice":-100`), line + "unitPrice: must be 0 or more"},
		{with(t, `"quantity":2`, `"quantity":0`), line + "quantity: must be 1 or more"},
		{with(t, `"quantity":2`, `"quantity":-9223372036854775808`), line + "quantity: must be 1 or more"},
		{inLine(`"originalUnitPrice":-1`), line + "originalUnitPrice: must be 0 or more"},
		{inLine(`"basePrice":-1`), line + "basePrice: must be 0 or more"},
		{inLine(`"totalPrice":199`), line + "totalPrice: must be unit price times quantity"},
		{with(t, `"quantity":2`, `"quantity":9223372036854775807`), line + "totalPrice: unit price times quantity must fit into 64 bits"},
		{
			with(t, `{"id":7,`, `{"id":8,"productName":"","unitPrice":9223372036854775807,"quantity":1},{"id":7,`),
			"lineItems[1].totalPrice: the sum of the lines' totals must fit into 64 bits",
		},
		{with(t, `{"id":7,`, `{"id":7,"productName":"","unitPrice":1,"quantity":1},{"id":7,`), "lineItems[1].id: is the id of an earlier line item"},
		{inLine(`"pickupDate":"21/11/2026"`), line + "pickupDate: must be a day as in 2026-11-20"},
		{inLine(`"deliveryDate":"2026-02-30"`), line + "deliveryDate: must be a day as in 2026-11-20"},
		{inLine(`"deliveryDate":"2026-11-20T00:00:00Z"`), line + "deliveryDate: must be a day as in 2026-11-20"},
		{
			inLine(`"extendedAttributes":` + strings.Repeat("[", 101) + strings.Repeat("]", 101)),
			line + "extendedAttributes: must not be nested deeper than 100 levels",
		},
		// The message names the first of several problems.
		{strings.Replace(with(t, `355`, `0`), `"quantity":2`, `"quantity":0`, 1), "merchantId: must be 1 or more"},
	})
}

func TestParseRefusesTexts(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ω", ingest.MaxTextLength+1)
	const tooLong = ": must have at most 10,000 characters"
	const nul = ": contains a NUL character"
	check(t, []bad{
		{adding(`"notes":"` + long + `"`), "notes" + tooLong},
		{adding(`"notes":"` + strings.Repeat(`\u03c9`, ingest.MaxTextLength+1) + `"`), "notes" + tooLong},
		{with(t, "Pen", long), "lineItems[0].productName" + tooLong},
		{with(t, `"customer":{}`, `"customer":{"company":"`+long+`"}`), "customer.company" + tooLong},
		{adding(`"billingAddress":{"address2":"` + long + `"}`), "billingAddress.address2" + tooLong},
		{adding(`"invoiceDetails":{"article39Valid":"` + long + `"}`), "invoiceDetails.article39Valid" + tooLong},
		{inLine(`"extendedAttributes":[1,{"a":["` + long + `"]}]`), "lineItems[0].extendedAttributes[1].a[0]" + tooLong},

		{adding(`"notes":"a\u0000b"`), "notes" + nul},
		{with(t, "Λευκωσία", `\u0000`), "shippingAddress.city" + nul},
		{adding(`"invoiceDetails":{"article39Eligible":"\u0000"}`), "invoiceDetails.article39Eligible" + nul},
		{adding(`"carrier":{"trackingCodes":"\u0000"}`), "carrier.trackingCodes" + nul},
		{inLine(`"extendedAttributes":[{"a\u0000":1}]`), `lineItems[0].extendedAttributes[0]."a\x00"` + nul},
		{inLine(`"extendedAttributes":[{"a":"\u0000"}]`), "lineItems[0].extendedAttributes[0].a" + nul},
	})
	testenv.Of(ingest.Parse([]byte(adding(`"notes":"no NUL: \\u0000"`)))).Must(t)
}

// TestMessagesAreShortWithoutValues parses hostile keys and values: the messages
// stay short and contain no value.
func TestMessagesAreShortWithoutValues(t *testing.T) {
	t.Parallel()
	const secret = "secret-value"
	deep := strings.Repeat(`{"`+secret[:4]+`":`, 90) + `"\u0000"` + strings.Repeat("}", 90)
	for name, document := range map[string]string{
		"long key":      adding(`"` + strings.Repeat("κ", 100_000) + `":1`),
		"deep pointer":  inLine(`"extendedAttributes":[` + deep + `]`),
		"wrong number":  with(t, `355`, `"`+secret+`"`),
		"wrong state":   adding(`"state":"` + secret + `"`),
		"wrong time":    adding(`"updatedAt":"` + secret + `"`),
		"wrong ref":     with(t, `R-1`, `R 1`+secret),
		"bad surrogate": adding(`"notes":"\ud800` + secret + `"`),
		"bad byte":      adding(`"notes":"` + "\xff" + secret + `"`),
		"no JSON":       `{"notes":` + secret,
	} {
		message := refusal(t, document)
		if len(message) > 400 {
			t.Errorf("%s: a message of %d bytes", name, len(message))
		}
		if strings.Contains(message, secret) || strings.ContainsAny(message, "\x00\n") {
			t.Errorf("%s: %q", name, message)
		}
	}
}

func TestDocumentErrorNamesFieldAndProblem(t *testing.T) {
	t.Parallel()
	_, err := ingest.Parse([]byte(with(t, `"quantity":2`, `"quantity":0`)))
	refused, ok := errors.AsType[*ingest.DocumentError](err)
	if !ok || refused.Field != "lineItems[0].quantity" || refused.Problem != "must be 1 or more" {
		t.Errorf("error %#v", err)
	}
	_, err = ingest.Parse([]byte("[]"))
	refused, ok = errors.AsType[*ingest.DocumentError](err)
	if !ok || refused.Field != "" || !strings.HasPrefix(refused.Problem, "not a JSON object: ") {
		t.Errorf("error %#v", err)
	}
}

const stateProblem = "state: must be one of registered, in-processing, ready-for-shipment, picked-by-courier, delivered-to-pickup-point, " +
	"delivery-failed, rejected-by-merchant, canceled, completed, delivered-to-customer, return-canceled"
