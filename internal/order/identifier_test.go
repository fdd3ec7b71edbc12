package order_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

func TestParseID(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text string
		id   int64
		ok   bool
	}{
		{"1", 1, true},
		{"915664", 915664, true},
		{"9223372036854775807", 9223372036854775807, true},
		{"9223372036854775808", 0, true}, // the form is right, but it identifies nothing
		{"99999999999999999999999", 0, true},
		{"0", 0, false},
		{"00", 0, false},
		{"007", 0, false},
		{"+1", 0, false},
		{"-1", 0, false},
		{"1.0", 0, false},
		{"1e3", 0, false},
		{"1_000", 0, false},
		{"0x10", 0, false},
		{"", 0, false},
		{" 1", 0, false},
		{"1 ", 0, false},
		{"1\x00", 0, false},
		{"١", 0, false}, // a digit, but not an ASCII one
		{"abc", 0, false},
	} {
		if id, ok := order.ParseID(test.text); id != test.id || ok != test.ok {
			t.Errorf("ParseID(%q) = %d, %v, want %d, %v", test.text, id, ok, test.id, test.ok)
		}
	}
}

func FuzzParseID(f *testing.F) {
	for _, seed := range []string{"1", "007", "+1", "9223372036854775807", "9223372036854775808", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		id, ok := order.ParseID(text)
		if id < 0 || id > 0 && (!ok || strconv.FormatInt(id, 10) != text) {
			t.Errorf("ParseID(%q) = %d, %v", text, id, ok)
		}
	})
}

func TestValidReference(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"SF-2026-000123":        true,
		"a":                     true,
		"0":                     true,
		"A.b_c-d":               true,
		"a..b":                  true,
		strings.Repeat("a", 64): true,
		strings.Repeat("a", 65): false,
		"":                      false,
		".":                     false,
		"..":                    false,
		".a":                    false,
		"-a":                    false,
		"_a":                    false,
		"a/b":                   false,
		`a\b`:                   false,
		"a b":                   false,
		"a%2Fb":                 false,
		"a\x00":                 false,
		"a\n":                   false,
		"\xff\xfe":              false,
		"Ωα":                    false,
		"a:b":                   false,
		"unanswered":            false,
		"Unanswered":            true,
	} {
		testenv.Equal(t, fmt.Sprintf("ValidReference(%q)", text), want, order.ValidReference(text))
	}
}
