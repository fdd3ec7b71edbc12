package api_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"merchantorders/internal/api/apitest"
	"merchantorders/internal/app/apptest"
	"merchantorders/internal/config"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
	"merchantorders/internal/web"
)

var update = flag.Bool("update", false, "write the page of the requests that are refused")

// mistake is a wrong request of a beginner.
type mistake struct {
	what    string
	as      string // whose token; empty: none
	request string // method and path
	header  string // name and value; empty: none
	body    string // {...} is replaced as in the header
	names   string // what Error-Detail names, separated by |
}

const (
	accept1, reject1, upload1 = "PUT /api/orders/104", "PUT /api/orders/105", "POST /api/orders/106/invoices"
	accept2, reject2, upload2 = "PATCH /v2/orders/R-4/accept", "PATCH /v2/orders/R-5/reject", "POST /v2/orders/R-6/invoices"
	update2, answers          = "PATCH /v2/orders/R-4", "POST /v2/orders/answers"
)

// mistakes are the wrong requests, by heading of the page. R-1 is accepted, R-2 rejected, and R-3
// has three files, of which another was deleted.
var mistakes = []struct {
	heading string
	all     []mistake
}{
	{"Token", []mistake{
		{"no header", "", "GET /v2/orders", "", "", "Authorization: Bearer"},
		{"the token in `X-Api-Key`", "", "GET /v2/orders", "X-Api-Key: {merchant}", "", "Authorization: Bearer"},
		{"the token in the query", "", "GET /api/orders?token=x", "", "", "Authorization: Bearer"},
		{"the token without a scheme", "", "GET /v2/orders", "Authorization: {merchant}", "", "write Bearer"},
		{"the scheme `Token`", "", "GET /api/orders", "Authorization: Token {merchant}", "", "write Bearer"},
		{"`Bearer` alone", "", "GET /v2/orders", "Authorization: Bearer ", "", "after Bearer is missing"},
		{"`Bearer` twice", "", "GET /v2/orders", "Authorization: Bearer Bearer {merchant}", "", "begin with mo_"},
		{"the token in quotes", "", "GET /v2/orders", `Authorization: Bearer "{merchant}"`, "", "without quotes"},
		{"a variable that the shell has not replaced", "", "GET /v2/orders", "Authorization: Bearer $TOKEN", "", "begin with mo_"},
		{"a token of another service", "", "GET /v2/orders", "Authorization: Bearer eyJhbGciOiJIUzI1NiJ9.e30.x", "", "begin with mo_"},
		{"the first characters of the token", "", "GET /v2/orders", "Authorization: Bearer {cut}", "", "cut: it has 30 of 42 characters"},
		{"one character more", "", "GET /v2/orders", "Authorization: Bearer {merchant}.", "", "43 instead of 42"},
		{"two characters exchanged", "", "GET /v2/orders", "Authorization: Bearer {mistyped}", "", "mistyped|checksum"},
		{"a revoked token", "revoked", "GET /v2/orders", "", "", "unknown, expired or revoked"},
		{"Basic with the token as the name", "", "GET /api/orders", "Authorization: Basic {basic}", "", "the password of Basic, not the name"},
		{"Basic without base64", "", "GET /api/orders", "Authorization: Basic me:{merchant}", "", "the base64 of a name, a colon and the token"},
		{"a colon after `Bearer`", "", "GET /v2/orders", "Authorization: Bearer: {merchant}", "", "write Bearer, a space"},
		{"the token in a cookie", "", "GET /v2/orders", "Cookie: token={merchant}", "", "Authorization: Bearer"},
		{"the token in small letters", "", "GET /v2/orders", "Authorization: Bearer {small}", "", "Copy it again"},
		{"no scope `orders:write`", "reader", accept2, "", "", "lacks the scope orders:write"},
		{"no scope `tokens`", "merchant", "GET /v2/tokens", "", "", "lacks the scope tokens"},
		{"an operator's token", "operator", "GET /v2/orders", "", "", "operator's token|token of the merchant"},
		{"a token of a suspended merchant", "suspended", "GET /v2/orders", "", "", "suspended|ask the operator"},
		{"from a web page", "merchant", accept2, "Sec-Fetch-Site: cross-site", "", "call from your server"},
	}},
	{"Path and method", []mistake{
		{"`/orders`", "merchant", "GET /orders", "", "", "below /api|below /v2|/v2/orders meant"},
		{"`/v1/orders`", "merchant", "GET /v1/orders", "", "", "/api/orders meant"},
		{"`/api/v1/orders`", "merchant", "GET /api/v1/orders", "", "", "/api/orders meant"},
		{"`/api/v2/orders`", "merchant", "GET /api/v2/orders", "", "", "/v2/orders meant"},
		{"`/V2/orders`", "merchant", "GET /V2/orders", "", "", "/v2/orders meant"},
		{"`/v2/Orders`", "merchant", "GET /v2/Orders", "", "", "/v2/orders meant"},
		{"`/v2/orders.json`", "merchant", "GET /v2/orders.json", "", "", "/v2/orders meant"},
		{"`/v2/unanswered`", "merchant", "GET /v2/unanswered", "", "", "/v2/orders/unanswered meant"},
		{"`/index.php/api/orders`", "merchant", "GET /index.php/api/orders", "", "", "/api/orders or /v2/orders meant"},
		{"`.../without_invoice`", "merchant", "GET /v2/orders/without_invoice", "", "", "no order with this reference|/v2/orders/without-invoice meant"},
		{"`.../answer`", "merchant", "POST /v2/orders/answer", "", "{}", "/v2/orders/answers meant"},
		{"`/v2/order/{orderReference}`", "merchant", "GET /v2/order/R-1", "", "", "/v2/orders/{orderReference} meant"},
		{"`/api/order/{orderId}`", "merchant", "GET /api/order/101", "", "", "/api/orders/{orderId} meant"},
		{"`//v2/orders`", "merchant", "GET //v2/orders", "", "", "/v2/orders meant"},
		{"`.../accepted`", "merchant", "PATCH /v2/orders/R-4/accepted", "", "", "/v2/orders/{orderReference}/accept meant"},
		{"`.../invoice`", "merchant", "POST /v2/orders/R-4/invoice", "", "{}", "/v2/orders/{orderReference}/invoices meant"},
		{"`.../cancel`", "merchant", "PATCH /v2/orders/R-4/cancel", "", "", "/v2/orders/{orderReference}/accept or|/reject meant"},
		{"no number after `by-merchant-reference`", "merchant", "GET /v2/orders/by-merchant-reference", "", "", "goes on|%2F"},
		{"a slash in the merchant's own number", "merchant", "GET /v2/orders/by-merchant-reference/2026/17", "", "", "%2F"},
		{"`/v2/products`", "merchant", "GET /v2/products", "", "", "/docs"},
		{"`/openapi.json`", "", "GET /openapi.json", "", "", "/docs"},
		{"accept by `PUT`", "merchant", "PUT /v2/orders/R-4/accept", "", "", "takes PATCH"},
		{"reject by `POST`", "merchant", "POST /v2/orders/R-4/reject", "", "{}", "takes PATCH"},
		{"version 1 by `PATCH`", "merchant", "PATCH /api/orders/104", "", `{"status":"G"}`, "takes GET, HEAD, PUT"},
		{"a method in small letters", "merchant", "get /v2/orders", "", "", "capital letters"},
		{"the question of a browser (CORS)", "", "OPTIONS /v2/orders", "Access-Control-Request-Method: GET", "", "call from your server"},
		{"the override of a method", "merchant", "POST /v2/orders/R-4/accept", "X-HTTP-Method-Override: PATCH", "", "takes PATCH"},
		{"the files of an order", "merchant", "GET /v2/orders/R-3/invoices", "", "", "GET is for /v2/orders/{orderReference}"},
		{"the files of an order in version 1", "merchant", "GET /api/orders/103/invoices/1", "", "", "GET is for /api/orders/{orderId}"},
		{"an upload by `PUT`", "merchant", "PUT /v2/orders/R-6/invoices", "", "{}", "takes POST"},
		{"an order to delete", "merchant", "DELETE /v2/orders/R-4", "", "", "takes GET, HEAD, PATCH"},
		{"`/rest/v2/orders`", "merchant", "GET /rest/v2/orders", "", "", "/v2/orders meant"},
		{"`/v3/orders`", "merchant", "GET /v3/orders", "", "", "/v2/orders meant"},
		{"the question mark as `%3F`", "merchant", "GET /v2/orders%3FitemsPerPage=1", "", "", "/v2/orders meant"},
		{"`&` for the question mark", "merchant", "GET /v2/orders&state=registered", "", "", "/v2/orders meant"},
		{"`order_id` with a point", "merchant", "GET /api/orders/101.0", "", "", "without sign, point or leading zero"},
		{"`order_id` with a zero before", "merchant", "GET /api/orders/0101", "", "", "leading zero"},
		{"a reference in quotes", "merchant", "GET /v2/orders/%22R-1%22", "", "", "without spaces, quotes"},
		{"a reference encoded twice", "merchant", "GET /v2/orders/R%252D1", "", "", "letters, digits, dots, underscores and hyphens"},
		{"`order_id` in version 2", "merchant", "GET /v2/orders/101", "", "", "takes order_reference"},
		{"a reference in version 1", "merchant", "GET /api/orders/R-1", "", "", "takes order_id, in digits|/v2/orders"},
		{"a placeholder that nothing has replaced", "merchant", "GET /v2/orders/%7BorderReference%7D", "", "", "letters, digits|braces"},
		{"a space after the reference", "merchant", "PATCH /v2/orders/R-4%20/accept", "", "", "without spaces"},
		{"a variable without a value, for the reference", "merchant", "PATCH /v2/orders//accept", "", "", "is a value missing"},
		{"a variable without a value, for `order_id`", "merchant", "POST /api/orders//invoices", "", "", "is a value missing"},
		{"a token that does not exist", "operator", "DELETE /operator/tokens/999", "", "", "GET /operator/tokens lists"},
		{"a store that does not exist", "operator", "POST /operator/merchants/99/resume", "", "{}", "GET /operator/merchants lists"},
		{"an order of another store for an operator", "operator", "GET /operator/orders/R-99", "", "", "GET /operator/orders finds"},
		{"a reference in small letters", "merchant", "GET /v2/orders/r-1", "", "", "in exactly these letters"},
		{"an order of another merchant", "merchant", "GET /api/orders/201", "", "", "other merchants"},
	}},
	{"List", []mistake{
		{"a letter as the state", "merchant", "GET /v2/orders?state=O", "", "", "state must be one of registered"},
		{"a name as the status", "merchant", "GET /api/orders?status=registered", "", "", "status must be one capital letter|O, G"},
		{"page 0", "merchant", "GET /v2/orders?page=0", "", "", "page must be a whole number from 1"},
		{"a date in another form", "merchant", "GET /v2/orders?dateFrom=20/11/2026", "", "", "dateFrom must be a date of the form YYYY-MM-DD"},
		{"Unix seconds as a date", "merchant", "GET /api/orders?date_from=1795000000", "", "", "date_from must be a date of the form YYYY-MM-DD"},
		{"a day that does not exist", "merchant", "GET /api/orders?date_to=2026-11-31", "", "", "date_to must be a date"},
		{"a range that ends first", "merchant", "GET /api/orders?date_from=2026-11-21&date_to=2026-11-20", "", "", "date_from is after date_to"},
		{"a parameter twice", "merchant", "GET /v2/orders?state=completed&state=registered", "", "", "state is given twice"},
		{"a cursor of another list", "merchant", "GET /v2/orders?cursor=AAAA", "", "", "cursor is not valid|first page"},
		{"a percent sign alone", "merchant", "GET /v2/orders?state=%zz", "", "", "write % as %25"},
		{"`&amp;`", "merchant", "GET /v2/orders?page=1&amp;itemsPerPage=5", "", "", "& as it is"},
		{"a second question mark", "merchant", "GET /v2/orders?state=registered?page=2", "", "", "an & comes before"},
		{"several states", "merchant", "GET /v2/orders?state=registered,completed", "", "", "state must be one of registered"},
		{"everything on one page", "merchant", "GET /api/orders?items_per_page=all", "", "", "items_per_page must be a whole number from 1"},
		{"the name of a time zone", "merchant", "GET /v2/orders?dateFrom=2026-11-20T10:00%2B02:00%5BEurope/Athens%5D", "", "", "YYYY-MM-DD"},
		{"a day for a time", "merchant", "GET /v2/orders/unanswered?expiresBefore=2026-11-20", "", "", "such as 2026-11-20T08:15:30Z"},
		{"an unknown parameter, with `Prefer: handling=strict`", "merchant", "GET /v2/orders?states=registered", "Prefer: handling=strict", "", "the nearest one is state"},
		{"a letter forgotten in a parameter, with `Prefer: handling=strict`", "merchant", "GET /v2/orders?itemPerPage=5", "Prefer: handling=strict", "", "the nearest one is itemsPerPage"},
		{"the last event", "merchant", "GET /v2/events?after=last", "", "", "or latest"},
		{"a unit of time", "merchant", "GET /v2/events?wait=30s", "", "", "wait must be a whole number from 0 to 30"},
		{"a part of a type", "merchant", "GET /v2/events?types=created", "", "", "order.created"},
		{"too many events", "merchant", "GET /v2/events?limit=5000", "", "", "limit must be a whole number from 1 to 1000"},
	}},
	{"Answer", []mistake{
		{"no body", "merchant", accept1, "", "", "empty|JSON object"},
		{"a form", "merchant", accept1, "Content-Type: application/x-www-form-urlencoded", "status=G", "is a form|application/json"},
		{"no `status`", "merchant", accept1, "", `{"action":"accept"}`, "status is missing|G|D"},
		{"`Status`", "merchant", accept1, "", `{"Status":"G"}`, "The key is status"},
		{"a word as the status", "merchant", accept1, "", `{"status":"accepted"}`, "the text G|D"},
		{"single quotes", "merchant", accept1, "", `{'status':'G'}`, "double quotes"},
		{"a comma at the end", "merchant", accept1, "", `{"status":"G",}`, "comma"},
		{"a text without quotes", "merchant", accept1, "", `{"status":G}`, "at its byte 11|double quotes"},
		{"`NaN`", "merchant", accept1, "", `{"status":"G","total":NaN}`, "no such word as NaN|null"},
		{"Python's `None`", "merchant", accept1, "", `{"status":"G","reason":None}`, "None|null"},
		{"typographic quotes", "merchant", accept1, "", "{“status”:“G”}", "plain double quotes"},
		{"quotes of HTML", "merchant", accept1, "", `{&quot;status&quot;:&quot;G&quot;}`, "those of HTML"},
		{"a backslash", "merchant", accept1, "", `{"status":"D","note":"C:\x"}`, "backslash"},
		{"a line break in a text", "merchant", accept1, "", "{\"status\":\"D\",\"reason\":\"dam\naged\"}", `line break in them as \n`},
		{"a line break in a text with single quotes", "merchant", accept1, "", "{\"status\":\"D\",\"note\":\"red, 'M'\nblue,}\"}", `line break in them as \n`},
		{"`[object Object]`", "merchant", accept1, "", "[object Object]", "JSON.stringify"},
		{"base64 for JSON", "merchant", accept1, "", "eyJzdGF0dXMiOiJHIn0=", "is base64"},
		{"percent-encoded JSON", "merchant", accept1, "", "%7B%22status%22%3A%22G%22%7D", "percent-encoded"},
		{"compressed with deflate", "merchant", accept1, "Content-Encoding: deflate", "x\x9c\xabV", "deflate|as it is"},
		{"an object around it", "merchant", accept1, "", `{"order":{"status":"G"}}`, "status is missing at the top"},
		{"a small letter as the status", "merchant", accept1, "", `{"status":"g"}`, "the text G|D"},
		{"a misspelled key in an order document", "operator", "POST /operator/orders", "", `{"line_items":[]}`, "unknown key|the nearest one is lineItems"},
		{"an array", "merchant", accept1, "", `[{"status":"G"}]`, "array|one object"},
		{"quotes of a shell", "merchant", accept1, "", `'{"status":"G"}'`, "quotes|shell"},
		{"JSON in a JSON text", "merchant", accept1, "", `"{\"status\":\"G\"}"`, "encoded twice"},
		{"a byte order mark", "merchant", accept1, "", "\ufeff{\"status\":\"G\"}", "byte order mark"},
		{"UTF-16", "merchant", accept1, "", "{\x00\"\x00", "UTF-16"},
		{"a body that is cut", "merchant", accept1, "", `{"status":"G"`, "cut"},
		{"a key twice", "merchant", reject2, "", `{"reason":"damaged","reason":"damaged"}`, "reason is given twice"},
		{"another reason", "merchant", reject1, "", `{"status":"D","reason":"no stock"}`, "out-of-stock, damaged, wrong-price, disabled-product, wrong-product"},
		{"a reason of one's own", "merchant", reject2, "", `{"reason":"Sold out"}`, "out-of-stock, damaged, wrong-price, disabled-product, wrong-product"},
		{"a number as the reason", "merchant", reject2, "", `{"reason":1}`, "reason must be a text|out-of-stock"},
		{"`G` to reject", "merchant", reject2, "", `{"status":"G"}`, "the text D|/accept accepts"},
		{"compressed with gzip", "merchant", reject2, "Content-Encoding: gzip", "\x1f\x8b\x08", "gzip|as it is"},
		{"XML", "merchant", reject2, "Content-Type: text/xml", "<reject/>", "XML|JSON"},
		{"a body of 100 KiB", "merchant", reject2, "", `{"reason":"` + strings.Repeat("x", 100<<10) + `"}`, "65536 bytes"},
		{"accepted already", "merchant", "PUT /api/orders/101", "", `{"status":"G"}`, "in-processing (G|read the order"},
		{"rejected already", "merchant", "PATCH /v2/orders/R-2/reject", "", "", "rejected-by-merchant (D|read the order"},
		{"`status` for the merchant's own data", "merchant", update2, "", `{"status":"G"}`, "/accept or|merchantReference and merchantNote"},
		{"a state for an order", "merchant", update2, "", `{"state":"in-processing"}`, "PATCH .../accept or .../reject"},
		{"a number as the merchant's own number", "merchant", update2, "", `{"merchantReference":17}`, "merchantReference must be text"},
		{"nothing to change", "merchant", update2, "", "{}", "merchantReference is required, or merchantNote"},
		{"an empty order document", "operator", "POST /operator/orders", "", "", "it is empty"},
		{"an erasure of nobody", "operator", "POST /operator/customers/erase", "", "{}", "email is required, or merchantId and orderReference"},
		{"a misspelled key", "merchant", update2, "", `{"merchantRefrence":"17"}`, "the nearest one is merchantReference"},
		{"an object for many answers", "merchant", answers, "Content-Type: application/json", `{"orderReference":"R-4","answer":"accept"}`, "array of at most 100 answers"},
		{"lines compressed with Brotli", "merchant", answers, "Content-Encoding: br", "x", "gzip"},
	}},
	{"Invoice file", []mistake{
		{"multipart/form-data", "merchant", upload1, "Content-Type: multipart/form-data; boundary=b", "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.pdf\"\r\n\r\n%PDF\r\n--b--", "multipart|JSON object"},
		{"the PDF as the body", "merchant", upload2, "Content-Type: application/pdf", "%PDF-1.7", "contentBase64"},
		{"a `data:` URL", "merchant", upload2, "", `{"filename":"a.pdf","contentBase64":"data:application/pdf;base64,aGVsbG8="}`, "data:|only what follows"},
		{"`content`", "merchant", upload2, "", `{"filename":"a.pdf","content":"aGVsbG8="}`, "contentBase64 is missing|similar name"},
		{"`base64`", "merchant", upload2, "", `{"filename":"a.pdf","base64":"aGVsbG8="}`, "contentBase64 is missing|similar name"},
		{"`fileName`", "merchant", upload2, "", `{"fileName":"a.pdf","contentBase64":"aGVsbG8="}`, "The key is filename"},
		{"`file`", "merchant", upload2, "", `{"file":"a.pdf","contentBase64":"aGVsbG8="}`, "filename is missing|similar name"},
		{"no file name", "merchant", upload2, "", `{"contentBase64":"aGVsbG8="}`, "filename is missing"},
		{"an empty file name", "merchant", upload2, "", `{"filename":"","contentBase64":"aGVsbG8="}`, "filename is empty"},
		{"a Word file", "merchant", upload1, "", `{"filename":"a.docx","contentBase64":"aGVsbG8="}`, "filename must end with .pdf, .png, .jpeg or .jpg"},
		{"empty content", "merchant", upload2, "", `{"filename":"a.pdf","contentBase64":""}`, "contentBase64 is empty"},
		{"bytes as an array", "merchant", upload2, "", `{"filename":"a.pdf","contentBase64":[37,80]}`, "contentBase64 must be a text"},
		{"base64url", "merchant", upload2, "", `{"filename":"a.pdf","contentBase64":"-_-_"}`, "base64url"},
		{"no padding", "merchant", upload2, "", `{"filename":"a.pdf","contentBase64":"aGVsbG8"}`, "padded with ="},
		{"a space for each plus", "merchant", upload2, "", `{"filename":"a.pdf","contentBase64":"aGVs bG8="}`, "space"},
		{"the PDF as a text", "merchant", upload2, "", `{"filename":"a.pdf","contentBase64":"%PDF-1.7"}`, "encode it in base64"},
		{"the key of the content twice", "merchant", upload2, "", `{"filename":"a.pdf","contentBase64":"aGVs","contentBase64":"aGVs"}`, "given twice"},
		{"Windows-1253", "merchant", upload2, "", "{\"filename\":\"\xe1.pdf\",\"contentBase64\":\"aGVs\"}", "UTF-8"},
		{"two JSON objects", "merchant", upload2, "", `{"filename":"a.pdf"}{"contentBase64":"aGVs"}`, "Something follows|one object"},
		{"Python's `b'...'`", "merchant", upload2, "", `{"filename":"a.pdf","contentBase64":"b'aGVs'"}`, "contentBase64 has other characters|b'...'"},
		{"the type of a form for JSON", "merchant", upload2, "Content-Type: multipart/form-data; boundary=b", `{"filename":"a.pdf","contentBase64":"aGVs"}`, "Content-Type|is no form"},
		{"Windows-1253 in a form", "merchant", upload2, "Content-Type: multipart/form-data; boundary=b", "--b\r\nContent-Disposition: form-data; name=\"number\"\r\n\r\n\xe11\r\n--b--", "number is not UTF-8"},
		{"the type of JSON for a form", "merchant", upload2, "Content-Type: application/json", "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.pdf\"\r\n\r\n%PDF\r\n--b--", "multipart/form-data|let the library"},
		{"a file name in ISO 8859-7", "merchant", upload2, "Content-Type: multipart/form-data; boundary=b", "--b\r\nContent-Disposition: form-data; name=\"file\"; filename*=ISO-8859-7''%E1.pdf\r\n\r\n%PDF\r\n--b--", "file name that is not UTF-8"},
		{"a field of 200 KiB in a form", "merchant", upload2, "Content-Type: multipart/form-data; boundary=b", "--b\r\nContent-Disposition: form-data; name=\"number\"\r\n\r\n" + strings.Repeat("x", 200<<10) + "\r\n--b--", "128 KiB beside the file"},
		{"line breaks escaped twice", "merchant", upload2, "", `{"filename":"a.pdf","contentBase64":"aGVs\\nbG8="}`, "other characters"},
		{"a number of spaces", "merchant", upload2, "", `{"filename":"a.pdf","contentBase64":"aGVs","number":" "}`, "number must not be empty|leave it out"},
		{"the address of the file", "merchant", upload2, "", `{"filename":"a.pdf","contentBase64":"https://shop.example/a.pdf"}`, "address|content of the file"},
		{"the name of the file, as for curl", "merchant", upload1, "", `{"filename":"a.pdf","contentBase64":"@invoice.pdf"}`, "is a name"},
		{"a form without a boundary", "merchant", upload2, "Content-Type: multipart/form-data", "x", "boundary"},
		{"a form with the file under another name", "merchant", upload2, "Content-Type: multipart/form-data; boundary=b", "--b\r\nContent-Disposition: form-data; name=\"invoice\"; filename=\"a.pdf\"\r\n\r\n%PDF\r\n--b--", "no part file"},
		{"a kind in capitals", "merchant", upload2, "", `{"filename":"a.pdf","contentBase64":"aGVs","kind":"Invoice"}`, "kind must be one of invoice"},
		{"a mark with letters", "merchant", upload2, "", `{"filename":"a.pdf","contentBase64":"aGVs","mark":"40A"}`, "mark must be 1 to 20 digits"},
		{"a link without `https`", "merchant", upload2, "", `{"filename":"a.pdf","contentBase64":"aGVs","link":"http://x.example/7"}`, "link must begin with https://"},
		{"a range behind the end of a file", "merchant", "GET /storage/x/y/invoices/R-3/a-1.pdf", "Range: bytes=9-", "", "Range must be|bytes=0-99"},
		{"a fourth file", "merchant", "POST /v2/orders/R-3/invoices", "", `{"filename":"a.pdf","contentBase64":"aGVs"}`, "3 files|delete one"},
		{"more than 4,000,000 bytes", "merchant", upload2, "", "{big}", "4000000 bytes"},
		{"the file name to delete", "merchant", "DELETE /v2/orders/R-3/invoices/a.pdf", "", "", "in digits"},
		{"deleted already", "merchant", "DELETE /v2/orders/R-3/invoices/1", "", "", "was deleted"},
		{"a reference to delete in version 1", "merchant", "DELETE /api/orders/R-3/invoices/2", "", "", "order_id, in digits"},
	}},
	{"Condition, key and limit", []mistake{
		{"`If-Match` without quotes", "merchant", accept2, "If-Match: 104-1", "", "If-Match must be|double quotes"},
		{"`If-Match` of an earlier version", "merchant", accept2, `If-Match: "104-9"`, "", "read the order again"},
		{"`If-Match` that a proxy made weak", "merchant", accept2, `If-Match: W/"104-1"`, "", "without W/"},
		{"`If-Match` in single quotes", "merchant", accept2, "If-Match: '104-1'", "", "double quotes"},
		{"an empty `Idempotency-Key`", "merchant", accept2, "Idempotency-Key: ", "", "Idempotency-Key must be 1 to 255"},
		{"a key of another request", "merchant", accept2, "Idempotency-Key: used", "", "use a new key"},
		{"too many requests", "merchant", "GET /v2/orders", "X-Sandbox-Fault: 429", "", "Retry-After"},
	}},
}

// TestErrorDetails sends wrong requests of the kinds that beginners send. What the response says
// beside its published body names the cure, and no value of the request. The page of all: go test ./internal/api -run TestErrorDetails -update.
// Proves decision 1 (which 401), decision 5 (Error-Detail).
func TestErrorDetails(t *testing.T) {
	t.Parallel()
	s := startWith(t, apptest.Setup{Flags: config.Serve{Sandbox: true}})
	tokens, parts := s.makeMistakesPossible(t)
	var page strings.Builder
	page.WriteString("# Refused requests\n\nWrong requests as beginners send them, and what the service says; a test writes this page.\nMessages of version 1 and of invoice files stand for their missing code.\n")
	count := 0
	for _, part := range mistakes {
		fmt.Fprintf(&page, "\n## %s\n\n| request | status | code | `Error-Detail` |\n|---|---|---|---|\n", part.heading)
		for _, m := range part.all {
			count++
			method, path, _ := strings.Cut(m.request, " ")
			var header []string
			if name, value, ok := strings.Cut(m.header, ": "); ok {
				header = []string{name, parts.Replace(value)}
			}
			got := s.Send(tokens[m.as], method, path, parts.Replace(m.body), header...)
			detail := got.Header.Get(web.DetailHeader)
			if detail == "" || strings.Contains(detail, "R-") || strings.Contains(detail, s.merchant[3:20]) {
				t.Errorf("%s: the detail is empty, or has values of the request: %q", m.what, detail)
			}
			for name := range strings.SplitSeq(m.names, "|") {
				if got.Status < 400 || got.Status > 499 || !strings.Contains(detail, name) {
					t.Errorf("%s: %d %s, %q does not name %s", m.what, got.Status, got.Body, detail, name)
				}
			}
			var body struct {
				Message string
				Error   struct{ Code string }
			}
			testenv.NoError(t, json.Unmarshal([]byte(got.Body), &body))
			fmt.Fprintf(&page, "| %s | %d | `%s` | %s |\n", m.what, got.Status, body.Error.Code+body.Message, detail)
		}
	}
	testenv.Equal(t, "wrong requests", 190, count)
	const file = "../../docs/guide/error-details.md"
	if *update {
		testenv.NoError(t, os.WriteFile(file, []byte(page.String()), 0o644))
	}
	written := testenv.Of(os.ReadFile(file)).Must(t)
	testenv.Equal(t, "write the page again with -update", strings.Split(page.String(), "\n"), strings.Split(string(written), "\n"))
}

// makeMistakesPossible prepares orders, and returns the tokens and the parts of mistakes.
func (s *service) makeMistakesPossible(t *testing.T) (tokens map[string]string, parts *strings.Replacer) {
	t.Helper()
	s.expect("PATCH", "/v2/orders/R-1/accept", "", 200, `{"success":true}`)
	s.expect("PATCH", "/v2/orders/R-2/reject", "", 200, `{"success":true}`)
	for i := range 4 {
		s.Send(s.merchant, "POST", "/v2/orders/R-3/invoices", apptest.UploadBody("a.pdf", []byte("x"))).WantStatus(t, 200)
		if i == 0 {
			s.Send(s.merchant, "DELETE", "/v2/orders/R-3/invoices/1", "").WantStatus(t, 200)
		}
	}
	s.Send(s.merchant, "PATCH", "/v2/orders/R-9/accept", "", "Idempotency-Key", "used").WantStatus(t, 200)
	const suspended = 401
	testenv.NoError(t, s.Merchants.Add(t.Context(), order.Command(), suspended, "Suspended", order.Options[order.Merchant]{}))
	testenv.Of(s.Merchants.Suspend(t.Context(), order.Command(), suspended, "a reason", order.Options[order.Merchant]{})).Must(t)
	revoked := s.NewToken(apitest.MerchantID, order.DefaultScopes)
	testenv.Of(s.Tokens.RevokeID(t.Context(), order.Command(), testenv.Of(s.Tokens.ID(t.Context(), revoked)).Must(t), order.Options[int64]{})).Must(t)
	i := 5
	for s.merchant[i] == s.merchant[i+1] {
		i++
	}
	mistyped := s.merchant[:i] + s.merchant[i+1:i+2] + s.merchant[i:i+1] + s.merchant[i+2:]
	return map[string]string{
			"merchant": s.merchant, "operator": s.operator, "suspended": s.NewToken(suspended, order.DefaultScopes), "revoked": revoked,
			"reader": s.NewToken(apitest.MerchantID, order.ScopeOrdersRead),
		}, strings.NewReplacer("{merchant}", s.merchant, "{cut}", s.merchant[:30], "{mistyped}", mistyped,
			"{small}", strings.ToLower(s.merchant), "{basic}", base64.StdEncoding.EncodeToString([]byte(s.merchant+":")),
			"{big}", apptest.UploadBody("a.pdf", bytes.Repeat([]byte("x"), order.MaxInvoiceSize+1)))
}
