package web

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/strict"
)

// maxQuery is the length of the longest query, in bytes.
const maxQuery = 8 << 10

// CheckQuery returns a *strict.ParamError if the query of a request is too long.
func CheckQuery(r *Request) error {
	if len(r.URL.RawQuery) > maxQuery {
		return &strict.ParamError{Name: "query", Problem: "is longer than " + strconv.Itoa(maxQuery) + " bytes"}
	}
	return nil
}

// Query parses the query of a request. A known parameter with an empty value counts as
// absent; a parameter given twice is an error (decision 3). Methods return the value of
// an absent parameter for one that is wrong. Every error is a *strict.ParamError.
type Query struct {
	strict.FirstError
	values url.Values
}

// ParseQuery returns the query of a request, without parameters that its route does not take.
func ParseQuery(r *Request) *Query {
	q := ParseRawQuery(r.URL.RawQuery)
	if r.params != nil {
		maps.DeleteFunc(q.values, func(name string, _ []string) bool { return paramOf(name, r.params) == "" })
	}
	return q
}

// ParseRawQuery returns the query of an address.
func ParseRawQuery(raw string) *Query {
	q := &Query{}
	var err error
	if q.values, err = url.ParseQuery(raw); err != nil {
		q.Refuse("query", "is malformed; write % as %25 and ; as %3B", ", and & as it is, not as &amp;")
	}
	return q
}

// Refuse is that of strict.FirstError, with a hint to a mistake that any parameter may have.
func (q *Query) Refuse(name, problem string, hints ...string) {
	if strings.Contains(q.values.Get(name), "?") {
		hints = append(hints, "; an & comes before a further parameter, not a ?")
	}
	q.FirstError.Refuse(name, problem, hints...)
}

// Text returns a parameter unchanged, empty if it is absent.
func (q *Query) Text(name string) string {
	values := q.values[name]
	switch len(values) {
	case 0:
		return ""
	case 1:
		return values[0]
	}
	q.Refuse(name, "is given twice")
	return ""
}

// OneOf returns a parameter that is one of some words, empty if it is absent.
func (q *Query) OneOf(name string, words ...string) string {
	text := q.Text(name)
	if text != "" && !slices.Contains(words, text) {
		problem := "must be " + words[0]
		if len(words) > 1 {
			problem = "must be one of " + strings.Join(words, ", ")
		}
		q.Refuse(name, problem)
		return ""
	}
	return text
}

// Int returns a parameter that is a whole number in plain digits, from minimum to
// maximum. It returns absent if there is no such parameter. The hints are those of a ParamError.
func (q *Query) Int(name string, absent, minimum, maximum int64, hints ...string) int64 {
	text := q.Text(name)
	if text == "" {
		return absent
	}
	n, problem := strict.ParseInt(text, minimum, maximum)
	if problem != "" {
		q.Refuse(name, problem, hints...)
		return absent
	}
	return n
}

// Limit is Int for the number of rows of a page, from 1.
func (q *Query) Limit(absent, maximum int) int {
	return int(q.Int("limit", int64(absent), 1, int64(maximum)))
}

// CursorName is the parameter of a list that says where the page before ended. The service
// has made its values.
const CursorName = "cursor"

// Cursor sets numbers to those of the parameter cursor, which EncodeCursor has made for a
// list, and reports whether there is one.
func (q *Query) Cursor(list string, numbers ...*int64) bool {
	text := q.Text(CursorName)
	if text == "" || DecodeCursor(text, list, numbers...) {
		return text != ""
	}
	q.RefuseCursor()
	return false
}

// RefuseCursor records that the cursor is not one of the list.
func (q *Query) RefuseCursor() {
	q.Refuse(CursorName, "is not valid; start again from the first page")
}

// First returns the first name of a parameter, see Route.Takes, that the query has with a
// value, or its first name if it has none of them.
func (q *Query) First(param string) string {
	for name := range strings.SplitSeq(param, "|") {
		if values := q.values[name]; len(values) > 1 || len(values) == 1 && values[0] != "" {
			return name
		}
	}
	name, _, _ := strings.Cut(param, "|")
	return name
}

// Only returns the parameters with certain names that have a value.
func (q *Query) Only(names ...string) url.Values {
	only := make(url.Values)
	for _, name := range names {
		if value := q.values.Get(name); value != "" {
			only.Set(name, value)
		}
	}
	return only
}

// Day returns a parameter of the form YYYY-MM-DD, and order.NoDay if it is absent. A
// time may follow the date: the day is that of the time in UTC (decision 3).
func (q *Query) Day(name string) order.Day {
	text := q.Text(name)
	if text == "" {
		return order.NoDay
	}
	day, ok := order.ParseDay(text)
	if !ok {
		var t time.Time
		t, ok = parseTime(text)
		day = order.DayOf(t)
	}
	if !ok {
		q.Refuse(name, "must be a date of the form YYYY-MM-DD")
		return order.NoDay
	}
	return day
}

// Time returns a parameter that is a date with a time, zero if it is absent.
func (q *Query) Time(name string) time.Time {
	text := q.Text(name)
	if text == "" {
		return time.Time{}
	}
	t, ok := parseTime(text)
	if !ok {
		q.Refuse(name, "must be a time such as 2026-11-20T08:15:30Z")
	}
	return t
}

// Days returns the days of two parameters, of which the first must not be the later one.
func (q *Query) Days(from, to string) (first, last order.Day) {
	if first, last = q.Day(from), q.Day(to); first != order.NoDay && last != order.NoDay && first > last {
		q.Refuse(from, "is after "+to)
	}
	return first, last
}

// dayTime is a date with a time, as clients print it, also with a space before the offset. A
// plus that the client does not escape arrives as a space.
var dayTime = regexp.MustCompile(`^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(?:Z| ?([+ -])(\d\d)(?::?(\d\d))?)?$`)

// parseTime parses a date with a time, which is UTC if it has no zone.
func parseTime(text string) (time.Time, bool) {
	parts := dayTime.FindStringSubmatch(text)
	if parts == nil {
		return time.Time{}, false
	}
	date, clock, sign, hours, minutes := parts[1], parts[2], parts[3], parts[4], cmp.Or(parts[5], "00")
	zone := "Z"
	switch sign {
	case "-":
		zone = "-" + hours + ":" + minutes
	case "+", " ":
		zone = "+" + hours + ":" + minutes
	}
	return order.ParseTime(date + "T" + clock + zone)
}

// CutPage returns the first limit rows of a page that was read with one row more, and
// the key after which the next page begins; nil if there is none. limit 0 means that
// all rows were read.
func CutPage[T any](rows []T, limit int, key func(T) int64) ([]T, *int64) {
	if limit == 0 || len(rows) <= limit {
		return rows, nil
	}
	next := key(rows[limit-1])
	return rows[:limit], &next
}

// cursorChecksumLength is how many bytes of a hash bind a cursor to its list. The hash
// catches mistakes. It is no secret: a cursor gives no access to anything.
const cursorChecksumLength = 8

// EncodeCursor returns the text of a cursor: numbers that say where a page of a list
// ended. list is what identifies the list, such as its filters: the cursor is not valid
// for another one. Empty: the cursor is valid for any list.
func EncodeCursor(list string, numbers ...int64) string {
	var body []byte
	for _, n := range numbers {
		body = binary.AppendVarint(body, n)
	}
	return base64.RawURLEncoding.EncodeToString(append(body, cursorChecksum(body, list)...))
}

// DecodeCursor sets numbers to those of a cursor. It reports whether the text is a
// cursor of the list with as many numbers.
func DecodeCursor(text, list string, numbers ...*int64) bool {
	body, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return false
	}
	if list != "" {
		end := len(body) - cursorChecksumLength
		if end < 0 || string(cursorChecksum(body[:end], list)) != string(body[end:]) {
			return false
		}
		body = body[:end]
	}
	for _, number := range numbers {
		n, length := binary.Varint(body)
		if length <= 0 {
			return false
		}
		*number, body = n, body[length:]
	}
	return len(body) == 0
}

// cursorChecksum returns the end of a cursor; nil if it is valid for any list.
func cursorChecksum(body []byte, list string) []byte {
	if list == "" {
		return nil
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%x %s", body, list))
	return sum[:cursorChecksumLength]
}
