package strict_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"merchantorders/internal/strict"
	"merchantorders/internal/testenv"
)

// TestParseObjectRefuses checks bodies that encoding/json accepts, and others.
func TestParseObjectRefuses(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"empty":                        ``,
		"spaces":                       " \n\t",
		"no JSON":                      `status=G`,
		"cut":                          `{"status":"G"`,
		"cut within a text":            `{"status":"G`,
		"null":                         `null`,
		"null with spaces":             ` null `,
		"array":                        `[{"status":"G"}]`,
		"text":                         `"G"`,
		"number":                       `1`,
		"true":                         `true`,
		"text after it":                `{"status":"G"} garbage`,
		"a second object":              `{"status":"G"}{"status":"D"}`,
		"a comma after it":             `{"status":"G"},`,
		"a NUL after it":               "{\"status\":\"G\"}\x00",
		"the same name twice":          `{"status":"G","status":"D"}`,
		"the same name twice, escaped": `{"status":"G","\u0073tatus":"D"}`,
		"twice within":                 `{"details":{"a":1,"a":2}}`,
		"invalid UTF-8 in a text":      "{\"status\":\"\xff\"}",
		"invalid UTF-8 in a name":      "{\"\xff\":1}",
		"invalid UTF-8 elsewhere":      "{\"other\":[\"\xed\xa0\x80\"]}",
		"lone surrogate":               `{"status":"\ud800"}`,
		"lone low surrogate":           `{"status":"\udc00"}`,
		"lone surrogate in a name":     `{"\ud800":1}`,
		"byte order mark":              "\ufeff{}",
		"UTF-16":                       "{\x00}\x00",
		"single quotes":                `{'status':'G'}`,
		"name without quotes":          `{status:"G"}`,
		"comma at the end":             `{"status":"G",}`,
		"comment":                      `{"status":"G"/* accept */}`,
		"line end in a text":           "{\"status\":\"G\n\"}",
		"not a number":                 `{"a":NaN}`,
		"number with a zero first":     `{"a":01}`,
		"unknown escape":               `{"a":"\x41"}`,
		"too deep":                     `{"a":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}`,
	} {
		object, err := strict.ParseObject([]byte(body))
		if !errors.Is(err, strict.ErrInvalidPayload) || object != nil {
			t.Errorf("%s: %v, error %v", name, object, err)
		}
	}
}

func TestParseObject(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		body   string
		text   string
		isText bool
		has    bool
		null   bool
	}{
		{`{"status":"G"}`, "G", true, true, false},
		{" \r\n{ \"status\" :\t\"G\" } \n", "G", true, true, false},
		{`{"\u0073tatus":"\u0047"}`, "G", true, true, false},
		{`{"status":""}`, "", true, true, false},
		{`{"status":"Ω\ud83d\ude00\u0000"}`, "Ω😀\x00", true, true, false},
		{`{"status":"G","details":{"status":"D"},"other":[1,null,{}]}`, "G", true, true, false},
		{`{"status":"G","STATUS":"D","Status":1}`, "G", true, true, false},
		{`{"status":null}`, "", false, true, true},
		{`{"status":1}`, "", false, true, false},
		{`{"status":true}`, "", false, true, false},
		{`{"status":["G"]}`, "", false, true, false},
		{`{"status":{}}`, "", false, true, false},
		{`{}`, "", false, false, false},
		{`{"STATUS":"G"}`, "", false, false, false},
		{`{"Status":"G"}`, "", false, false, false},
		{`{"\u017ftatus":"G"}`, "", false, false, false}, // a long s
		{`{"status ":"G"}`, "", false, false, false},
	} {
		object, err := strict.ParseObject([]byte(test.body))
		if err != nil || object == nil {
			t.Errorf("%s: %v, error %v", test.body, object, err)
			continue
		}
		if text, ok := object.Text("status"); text != test.text || ok != test.isText {
			t.Errorf("%s: text %q, %v", test.body, text, ok)
		}
		if object.Has("status") != test.has || object.Null("status") != test.null {
			t.Errorf("%s: has %v, null %v", test.body, object.Has("status"), object.Null("status"))
		}
	}
}

// TestParseObjectKnown checks that a known name in other letters is refused.
func TestParseObjectKnown(t *testing.T) {
	t.Parallel()
	for body, refused := range map[string]bool{
		`{"status":"G","reason":"x"}`:     false,
		`{"status":"G","stat":1,"":2}`:    false,
		`{"status":"G","reasons":1}`:      false,
		`{"status":"G","x":{"Status":1}}`: false,
		`{"Status":"G"}`:                  true,
		`{"status":"G","STATUS":"G"}`:     true,
		`{"status":"G","REASON":"x"}`:     true,
		`{"status":"G","reaSon":null}`:    true,
		`{"\u017ftatus":"G"}`:             true, // a long s
	} {
		if _, err := strict.ParseObject([]byte(body), "status", "reason"); errors.Is(err, strict.ErrInvalidPayload) != refused {
			t.Errorf("%s: error %v, want refused %v", body, err, refused)
		}
	}
}

// TestSyntaxDetail checks that the detail of broken JSON says where it is broken.
func TestSyntaxDetail(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"a":"b, 'c'","d":NaN}`: "no such word", `{"a":"b,}","c":}`: "at its byte 16:", `{"a":1,b:2}`: "keys need", "{\"a\":[1,\n]}": "remove the comma", `{"a":1,,}`: "remove the comma", `{"a":1, }`: "remove the comma", `{"a":1,“b”:2}`: "typographic",
		`{"a":{"b":1,"b":1}}`: "b is given twice", "\x00{\x00}": "UTF-16",
		`{"status":G}`: "at its byte 11:", `{"status" "G"}`: "at its byte 11:", `{"status":“G”}`: "at its byte 11:",
		"\n {\"a\":\"b\nc\"}": "at its byte 10:", `{"a":True}`: "at its byte 6:", `{"a":"b"/*c*/}`: "at its byte 9:", `{"a":"\x"}`: "at its byte 7:",
	} {
		_, err := strict.ParseObject([]byte(body))
		if detailed, ok := errors.AsType[strict.Detailed](err); !ok || !strings.Contains(detailed.Detail(), want) {
			t.Errorf("%s: want %s, got %+v", body, want, detailed)
		}
	}
}

func FuzzParseObject(f *testing.F) {
	for _, seed := range []string{
		`{"status":"G"}`, `{"status":null,"reason":"damaged"}`, `{"status":"G"} x`, `{"a":1,"a":2}`, `null`, `[]`, ``, `{"a":"\ud800"}`, "{\"a\":\"\xff\"}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		object, err := strict.ParseObject(body)
		if err != nil {
			if !errors.Is(err, strict.ErrInvalidPayload) || object != nil {
				t.Errorf("%q: %v, error %v", body, object, err)
			}
			return
		}
		// encoding/json must decode an accepted body in the same way.
		var lenient map[string]any
		if err := json.Unmarshal(body, &lenient); err != nil || lenient == nil || len(lenient) != len(object) {
			t.Errorf("%q: %v here, %v elsewhere, error %v", body, object, lenient, err)
		}
		for name, value := range lenient {
			text, isText := object.Text(name)
			if other, otherIs := value.(string); text != other || isText != otherIs || !object.Has(name) || object.Null(name) != (value == nil) {
				t.Errorf("%q: %s is %q, elsewhere %v", body, name, text, value)
			}
		}
	})
}

func TestEcho(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, want string }{
		{"", ""},
		{"SF-1", "SF-1"},
		{"<b>\x00\"", "<b>\x00\""},
		{"a\xffb\xc3", "a\ufffdb\ufffd"},
		{strings.Repeat("a", 256), strings.Repeat("a", 256)},
		{strings.Repeat("a", 257), strings.Repeat("a", 256)},
		{strings.Repeat("€", 1000), strings.Repeat("€", 256)},
		{strings.Repeat("\xff", 1000), strings.Repeat("\ufffd", 256)},
	} {
		testenv.Equal(t, fmt.Sprintf("Echo(%.20q)", test.text), test.want, strict.Echo(test.text))
	}
}
