package token_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash/crc32"
	"math/big"
	"regexp"
	"strings"
	"testing"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
	"merchantorders/internal/token"
)

const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

func TestTextForm(t *testing.T) {
	t.Parallel()
	for prefix, want := range map[string]*regexp.Regexp{
		token.MerchantPrefix: regexp.MustCompile(`^mo_[0-9A-Za-z]{39}$`),
		token.OperatorPrefix: regexp.MustCompile(`^mop_[0-9A-Za-z]{39}$`),
	} {
		seen := make(map[string]bool)
		for range 200 {
			text, hint := token.NewText(prefix)
			if !want.MatchString(text) || seen[text] {
				t.Fatalf("%q is not a new token", text)
			}
			seen[text] = true
			if len(hint) != len(prefix)+4 || !strings.HasPrefix(text, hint) {
				t.Errorf("hint %q of %q", hint, text)
			}
			testenv.Of(token.HashText(text)).Want(t, text, sha256.Sum256([]byte(text)))
		}
	}
}

// TestEntropy checks that the random part has at least 160 bits, and
// that every position but the first two, which hold the remainder of 192 bits, uses
// the whole alphabet.
// Proves decision 1 (form, storage of a token).
func TestEntropy(t *testing.T) {
	t.Parallel()
	const samples = 4000
	counts := make([]map[byte]int, 33)
	highest := new(big.Int)
	for range samples {
		text, _ := token.NewText(token.MerchantPrefix)
		random := text[len(token.MerchantPrefix):][:33]
		value := new(big.Int)
		for i := range random {
			if counts[i] == nil {
				counts[i] = make(map[byte]int)
			}
			counts[i][random[i]]++
			value.Mul(value, big.NewInt(62)).Add(value, big.NewInt(int64(strings.IndexByte(digits, random[i]))))
		}
		if value.BitLen() > 192 {
			t.Fatalf("%s is more than 192 bits", random)
		}
		if value.Cmp(highest) > 0 {
			highest = value
		}
	}
	testenv.Equal(t, fmt.Sprintf("the highest of %d random parts has bits", samples), 192, highest.BitLen())
	for i, count := range counts[2:] {
		testenv.Equal(t, fmt.Sprintf("letters at position %d", i+2), 62, len(count))
		for letter, n := range count {
			if n > samples/62*3 {
				t.Errorf("position %d: %c in %d of %d tokens", i+2, letter, n, samples)
			}
		}
	}
}

// signed returns a text with the checksum of a token.
func signed(text string) string {
	sum, out := crc32.ChecksumIEEE([]byte(text)), make([]byte, 6)
	for i := 5; i >= 0; i-- {
		out[i] = digits[sum%62]
		sum /= 62
	}
	return text + string(out)
}

// Proves decision 1 (form, storage of a token).
func TestHashText(t *testing.T) {
	t.Parallel()
	body := strings.Repeat("aB3", 11)
	good, operator := signed("mo_"+body), signed("mop_"+body)
	swapped := []byte(good)
	swapped[5], swapped[6] = swapped[6], swapped[5]
	for name, test := range map[string]struct {
		text string
		good bool
	}{
		"merchant":                       {good, true},
		"operator":                       {operator, true},
		"zeros":                          {signed("mo_" + strings.Repeat("0", 33)), true},
		"empty":                          {"", false},
		"prefix alone":                   {"mo_", false},
		"operator prefix alone":          {"mop_", false},
		"no prefix":                      {good[3:], false},
		"another prefix":                 {signed("xx_" + body), false},
		"prefix in capitals":             {signed("MO_" + body), false},
		"the other kind's prefix":        {"mop_" + good[3:], false},
		"one letter other":               {"mo_b" + good[4:], false},
		"two letters swapped":            {string(swapped), false},
		"last letter other":              {good[:41] + string(digits[(strings.IndexByte(digits, good[41])+1)%62]), false},
		"checksum left out":              {good[:36], false},
		"one letter short":               {good[:41], false},
		"one letter more":                {good + "0", false},
		"short, but signed":              {signed("mo_" + body[1:]), false},
		"long, but signed":               {signed("mo_" + body + "0"), false},
		"a foreign letter, but signed":   {signed("mo_" + body[:32] + "-"), false},
		"a space, but signed":            {signed("mo_ " + body[:32]), false},
		"a NUL, but signed":              {signed("mo_" + body[:16] + "\x00" + body[17:]), false},
		"invalid UTF-8, but signed":      {signed("mo_" + body[:16] + "\xff" + body[17:]), false},
		"an underscore more, but signed": {signed("mop" + body[:32] + "__"), false},
		"space before":                   {" " + good, false},
		"space after":                    {good + " ", false},
		"line end after":                 {good + "\n", false},
		"twice":                          {good + good, false},
	} {
		hash, err := token.HashText(test.text)
		if test.good != (err == nil) || !test.good && (!errors.Is(err, token.ErrMalformed) || hash != token.Hash{}) {
			t.Errorf("%s: %q: error %v", name, test.text, err)
		}
		if test.good && hash != sha256.Sum256([]byte(test.text)) {
			t.Errorf("%s: not the SHA-256 of the text", name)
		}
	}
}

func FuzzHashText(f *testing.F) {
	for range 4 {
		merchant, _ := token.NewText(token.MerchantPrefix)
		operator, _ := token.NewText(token.OperatorPrefix)
		f.Add(merchant)
		f.Add(operator)
	}
	for _, seed := range []string{"", "mo_", "mop_", signed("mo_" + strings.Repeat("-", 33)), strings.Repeat("\xff", 42)} {
		f.Add(seed)
	}
	form := regexp.MustCompile(`^mop?_[0-9A-Za-z]{39}$`)
	f.Fuzz(func(t *testing.T, text string) {
		// Any text, and the same text with a valid checksum.
		for _, text := range []string{text, signed(text), signed("mo_" + text)} {
			hash, err := token.HashText(text)
			if err != nil {
				if !errors.Is(err, token.ErrMalformed) || hash != (token.Hash{}) {
					t.Errorf("%q: hash %x, error %v", text, hash, err)
				}
				continue
			}
			if !form.MatchString(text) || signed(text[:len(text)-6]) != text || hash != sha256.Sum256([]byte(text)) {
				t.Errorf("%q is accepted as a token", text)
			}
		}
	})
}

func TestParseScopes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]order.Scope{
		"orders:read":    order.ScopeOrdersRead,
		"orders:write":   order.ScopeOrdersWrite,
		"invoices:write": order.ScopeInvoicesWrite,
		"orders:read,orders:write,invoices:write": order.DefaultScopes,
		"invoices:write,orders:read":              order.ScopeOrdersRead | order.ScopeInvoicesWrite,
		"tokens,webhooks":                         order.ScopeTokens | order.ScopeWebhooks,
		"orders:read,orders:read":                 order.ScopeOrdersRead,
	} {
		got, err := order.ParseScopes(strings.Split(text, ","), order.MerchantScopes)
		if err != nil || got != want {
			t.Errorf("ParseScopes(%q) = %v, error %v", text, got, err)
		}
		testenv.Of(order.ParseScopes(got.Names(), order.MerchantScopes)).Want(t, "parsed again", got)
	}
	for _, text := range []string{
		"", " ", ",", "orders:read,", ",orders:read", "orders", "Orders:Read", "orders:read orders:write", "orders:read;orders:write", "*", "all", "admin", "audit",
	} {
		if got, err := order.ParseScopes(strings.Split(text, ","), order.MerchantScopes); err == nil || got != 0 {
			t.Errorf("ParseScopes(%q) = %v, error %v", text, got, err)
		}
	}
}

func TestScopes(t *testing.T) {
	t.Parallel()
	for scopes, want := range map[order.Scope]string{
		order.DefaultScopes:  "orders:read,orders:write,invoices:write",
		order.MerchantScopes: "orders:read,orders:write,invoices:write,tokens,webhooks",
		order.OperatorScopes: "orders:read,tokens,webhooks,orders:ingest,orders:transition,merchants,audit,customers",
	} {
		testenv.Equal(t, fmt.Sprintf("%d", scopes), want, scopes.String())
		testenv.Of(order.ParseScopes(scopes.Names(), scopes)).Want(t, "parsed again", scopes)
	}
	if scopes, err := order.ParseScopes(nil, order.MerchantScopes); err == nil {
		t.Errorf("no names are %v", scopes)
	}
	testenv.Equal(t, "no scope", "", order.Scope(0).String())
	for have := range order.DefaultScopes + 1 {
		for wanted := range order.DefaultScopes + 1 {
			all := true
			for _, one := range []order.Scope{order.ScopeOrdersRead, order.ScopeOrdersWrite, order.ScopeInvoicesWrite} {
				if wanted&one != 0 && have&one == 0 {
					all = false
				}
			}
			testenv.Equal(t, fmt.Sprintf("%q has %q", have, wanted), all, have.Has(wanted))
		}
	}
}

func TestValid(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		name             string
		expires, revoked time.Time
		want             bool
	}{
		{"for ever", time.Time{}, time.Time{}, true},
		{"expires later", now.Add(time.Nanosecond), time.Time{}, true},
		{"expires now", now, time.Time{}, false},
		{"expired", now.Add(-time.Second), time.Time{}, false},
		{"revoked", time.Time{}, now.Add(-time.Second), false},
		{"revoked now", time.Time{}, now, false},
		// Another instance's clock may be ahead: revoked is revoked.
		{"revoked in the future", now.Add(time.Hour), now.Add(time.Minute), false},
	} {
		testenv.Equal(t, test.name+": valid", test.want, token.Token{ExpiresAt: test.expires, RevokedAt: test.revoked}.Valid(now))
	}
}
