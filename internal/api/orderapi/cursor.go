package orderapi

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// CursorName is the parameter of a list that says where the page before ended.
// Only the service writes its values, into the Links of an answer.
const CursorName = "cursor"

// checkLength is how many bytes of a hash tell that a cursor belongs to a list.
// It keeps mistakes out: nobody can reach another merchant's orders with one.
const checkLength = 8

// newCursor returns the text of a cursor: where the page with a number begins in
// the list of a merchant and filter.
func newCursor(merchantID int64, filter order.Filter, page int64, after order.Cursor) string {
	var body []byte
	for _, n := range []int64{page, after.CreatedAt.Unix(), after.LegacyID} {
		body = binary.AppendVarint(body, n)
	}
	return base64.RawURLEncoding.EncodeToString(append(body, check(body, merchantID, filter)...))
}

// check is the hash that ends the cursors of a list. The size of its pages may
// change on the way.
func check(body []byte, merchantID int64, filter order.Filter) []byte {
	sum := sha256.Sum256(fmt.Appendf(nil, "%x %d %t %v %d %d", body, merchantID, filter.AnyState, filter.States, filter.From, filter.To))
	return sum[:checkLength]
}

// ReadCursor has a filter begin where the cursor of a request says, if it has
// one. The error is a *web.ParamError when no list of this merchant and filter
// gave it.
func ReadCursor(query web.Query, merchantID int64, filter *order.Filter) error {
	text, err := query.Text(CursorName)
	if err != nil || text == "" {
		return err
	}
	wrong := &web.ParamError{Name: CursorName, Problem: "is none that this list gave"}
	whole, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(whole) < checkLength {
		return wrong
	}
	body := whole[:len(whole)-checkLength]
	if string(check(body, merchantID, *filter)) != string(whole[len(body):]) {
		return wrong
	}
	var numbers [3]int64
	for i := range numbers {
		n, length := binary.Varint(body)
		if length <= 0 {
			return wrong
		}
		numbers[i], body = n, body[length:]
	}
	if len(body) > 0 || numbers[0] < 1 {
		return wrong
	}
	filter.Page, filter.After = numbers[0], &order.Cursor{CreatedAt: time.Unix(numbers[1], 0).UTC(), LegacyID: numbers[2]}
	return nil
}
