package ingest_test

import (
	"encoding/hex"
	"os"
	"testing"

	"merchantorders/internal/testenv"
)

// TestDigestIsStable checks the digest of decision 7's example. Digests are stored:
// with another digest, re-imported orders would be conflicts.
func TestDigestIsStable(t *testing.T) {
	t.Parallel()
	document := testenv.Of(os.ReadFile("testdata/decision7.json")).Must(t)
	digest := mustParse(t, string(document)).Digest
	const want = "d6b567cdd6ff231819065d1d691fa6f801c27c42b642281c6f54c12d842385b8"
	testenv.Equal(t, "digest", want, hex.EncodeToString(digest[:]))
}

// Proves decision 7 (absent and null; the same content).
func TestDigestOfAnotherSpelling(t *testing.T) {
	t.Parallel()
	want := mustParse(t, minimal).Digest
	for name, document := range map[string]string{
		"white space":         " {\n" + minimal[1:] + "\r\n",
		"key order":           `{"total":250,` + with(t, `"total":250,`, "")[1:],
		"key escaped":         with(t, `"total"`, `"\u0074otal"`),
		"text escaped":        with(t, `Λευκωσία`, `\u039b\u03B5υκωσία`),
		"offset":              with(t, "2026-11-20T08:15:30Z", "2026-11-20T10:15:30+02:00"),
		"fraction":            with(t, "2026-11-20T08:15:30Z", "2026-11-20T08:15:30.75Z"),
		"small letters":       with(t, "2026-11-20T08:15:30Z", "2026-11-20t08:15:30z"),
		"number":              adding(`"orderId":915664`),
		"another number":      adding(`"orderId":915665`),
		"state":               adding(`"state":"registered"`),
		"currency":            adding(`"currency":"EUR"`),
		"country":             adding(`"countryCode":"CY"`),
		"subtotal":            adding(`"subtotal":200`),
		"discount":            adding(`"discount":0`),
		"minus zero":          adding(`"discount":-0`),
		"nulls":               adding(`"updatedAt":null,"notes":null,"invoiceDetails":null,"billingAddress":null`),
		"billing address":     adding(`"billingAddress":{"city":"Λευκωσία","countryCode":"CY","street":""}`),
		"empty carrier":       adding(`"carrier":{"shipmentIds":[],"name":"","comments":null},"payment":{"name":""}`),
		"customer":            with(t, `"customer":{}`, `"customer":{"userId":0,"email":"","phone":null}`),
		"address type":        with(t, `"city":`, `"addressType":"","city":`),
		"prices":              inLine(`"originalUnitPrice":100,"basePrice":100,"totalPrice":200`),
		"flags":               inLine(`"giftWrap":false,"article39Valid":false,"article39Status":""`),
		"attributes and days": inLine(`"extendedAttributes":[ ],"pickupDate":"","deliveryDate":null,"ean":null`),
	} {
		testenv.Equal(t, name, want, mustParse(t, document).Digest)
	}
}

// TestTimesWithoutSeconds reads times as java.time prints them, without seconds that are zero.
func TestTimesWithoutSeconds(t *testing.T) {
	t.Parallel()
	want := mustParse(t, with(t, "2026-11-20T08:15:30Z", "2026-11-20T08:15:00Z")).Digest
	for _, text := range []string{"2026-11-20T08:15Z", "2026-11-20t08:15z", "2026-11-20T10:15+02:00", "2026-11-19T22:45-09:30"} {
		testenv.Equal(t, text, want, mustParse(t, with(t, "2026-11-20T08:15:30Z", text)).Digest)
	}
}

func TestDigestOfOtherContent(t *testing.T) {
	t.Parallel()
	seen := map[[32]byte]string{}
	for _, document := range []string{
		minimal,
		with(t, `355`, `356`),
		with(t, `R-1`, `R-2`),
		with(t, `08:15:30Z`, `08:15:31Z`),
		with(t, `08:15:30Z`, `08:15:30+01:00`),
		with(t, `250`, `251`),
		with(t, `Pen`, `pen`),
		with(t, `Pen`, ``),
		with(t, `"id":7`, `"id":8`),
		with(t, `"unitPrice":100,"quantity":2`, `"unitPrice":200,"quantity":1`),
		with(t, `"city"`, `"region"`),
		with(t, `{"id":7,`, `{"id":8,"productName":"","unitPrice":0,"quantity":1},{"id":7,`),
		with(t, `}]`, `},{"id":8,"productName":"","unitPrice":0,"quantity":1}]`),
		with(t, `"customer":{}`, `"customer":{"phone":""}`),
		with(t, `"customer":{}`, `"customer":{"firstName":"ab","lastName":"c"}`),
		with(t, `"customer":{}`, `"customer":{"firstName":"a","lastName":"bc"}`),
		adding(`"state":"completed"`),
		adding(`"currency":"RON"`),
		adding(`"countryCode":""`),
		adding(`"updatedAt":"2026-11-20T08:15:30Z"`),
		adding(`"expiresAt":"2026-11-20T08:15:30Z"`),
		adding(`"notes":""`),
		adding(`"billingAddress":{}`),
		adding(`"carrier":{"shipmentIds":[1]}`),
		adding(`"carrier":{"shipmentIds":[0]}`),
		adding(`"carrier":{"comments":""}`),
		adding(`"carrier":{"deliveryToCourierEstimationDate":""}`),
		adding(`"carrier":{"deliveryToCustomerEstimationDate":""}`),
		adding(`"invoiceDetails":{"vatNumber":"1"}`),
		adding(`"invoiceDetails":{"vatNumber":"1","doy":""}`),
		adding(`"invoiceDetails":{"vatNumber":"1","article39Eligible":false}`),
		adding(`"invoiceDetails":{"vatNumber":"1","article39Eligible":true}`),
		adding(`"invoiceDetails":{"vatNumber":"1","article39Eligible":"true"}`),
		adding(`"invoiceDetails":{"vatNumber":"1","article39Eligible":""}`),
		adding(`"invoiceDetails":{"vatNumber":"1","article39Valid":false}`),
		inLine(`"ean":""`),
		inLine(`"pickupDate":"2026-11-20"`),
		inLine(`"deliveryDate":"2026-11-20"`),
		inLine(`"extendedAttributes":[1]`),
	} {
		digest := mustParse(t, document).Digest
		if other, exists := seen[digest]; exists {
			t.Errorf("one digest for\n%s\n%s", other, document)
		}
		seen[digest] = document
	}
}

// TestDigestOfAttributes checks that the attributes of a group have one digest, and
// that no two groups have the same.
func TestDigestOfAttributes(t *testing.T) {
	t.Parallel()
	seen := map[[32]byte]string{}
	for _, group := range [][]string{
		{`[]`, ` [ ] `},
		{`[{}]`, `[ { } ]`},
		{`[{"a":1,"b":[true,null]}]`, `[{"b":[true,null],"a":1}]`, `[{"\u0062":[true,null],"a":1.0}]`, `[{"b":[true,null],"a":100e-2}]`},
		{`["a/b"]`, `["a\/b"]`, `["\u0061\u002Fb"]`},
		{`["€𝄞"]`, `["\u20ac\ud834\udd1e"]`},
		{`["12"]`}, {`[12]`, `[12.0]`, `[1.2e1]`, `[120E-1]`, `[0.12e+02]`},
		{`[-12]`, `[-1.2e1]`}, {`[0]`, `[-0]`, `[0.000]`, `[0e9]`},
		{`[1200]`, `[12e2]`, `[1.20e3]`}, {`[0.001]`, `[1e-3]`, `[1.0E-03]`}, {`[1,2]`}, {`[2,1]`}, {`[[1],2]`},
		// Numbers with the same 64-bit floating-point value.
		{`[9007199254740992]`}, {`[9007199254740993]`, `[9007199254740993.0]`},
		{`[0.1]`, `[0.10]`}, {`[0.1000000000000000055511151231257827]`}, {`[1e400]`, `[10e399]`}, {`[1e401]`},
		{`[1e9999999999999999999]`}, {`[1e9999999999999999998]`},
		{`["1e2 \" 1e2"]`}, {`["100 \" 100"]`}, {`["\\",100]`, `["\\",1e2]`},
	} {
		first := mustParse(t, inLine(`"extendedAttributes":`+group[0])).Digest
		if other, exists := seen[first]; exists {
			t.Errorf("one digest for %s and %s", other, group[0])
		}
		seen[first] = group[0]
		for _, spelling := range group[1:] {
			testenv.Equal(t, group[0]+" and "+spelling, first, mustParse(t, inLine(`"extendedAttributes":`+spelling)).Digest)
		}
	}
}
