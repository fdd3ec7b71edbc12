// Package token is about credentials: their form, their scopes, how long they
// are good, and how a text that a client sends becomes the merchant it acts
// for (decision 1). It owns the Store it needs. It must not know HTTP, SQL or
// orders, and it never keeps, logs or compares a token's text: only a SHA-256
// of it.
package token

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash/crc32"
	"math/big"
	"strings"
	"time"

	"merchantorders/internal/order"
)

// Prefixes of a token's text. They tell the kinds apart and let secret
// scanners find a leaked one.
const (
	MerchantPrefix = "mo_"
	OperatorPrefix = "mop_"
)

const (
	randomBytes    = 24 // 192 random bits
	randomDigits   = 33 // of base62, enough for randomBytes
	checksumDigits = 6  // of base62, enough for a CRC-32
	hintLength     = 4  // random letters that a listing shows
)

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// Scope is a set of rights.
type Scope uint8

// The rights that a merchant's token may have.
const (
	OrdersRead    Scope = 1 << iota // list and read orders, download invoice files
	OrdersWrite                     // accept and reject
	InvoicesWrite                   // upload and withdraw invoice files

	AllScopes = OrdersRead | OrdersWrite | InvoicesWrite
)

var scopeNames = []struct {
	scope Scope
	name  string
}{
	{OrdersRead, "orders:read"},
	{OrdersWrite, "orders:write"},
	{InvoicesWrite, "invoices:write"},
}

// String returns the names of the scopes, separated by commas.
func (s Scope) String() string {
	var names []string
	for _, row := range scopeNames {
		if s&row.scope != 0 {
			names = append(names, row.name)
		}
	}
	return strings.Join(names, ",")
}

// Has reports whether s includes all of wanted.
func (s Scope) Has(wanted Scope) bool { return s&wanted == wanted }

// ParseScopes reads names separated by commas. None at all is an error.
func ParseScopes(text string) (Scope, error) {
	var all Scope
next:
	for name := range strings.SplitSeq(text, ",") {
		for _, row := range scopeNames {
			if strings.TrimSpace(name) == row.name {
				all |= row.scope
				continue next
			}
		}
		return 0, fmt.Errorf("%q is not a scope: there are orders:read, orders:write, invoices:write", name)
	}
	return all, nil
}

// Token is a credential as the service keeps it, without its text.
type Token struct {
	ID         int64  // what a listing shows and a revocation names
	MerchantID int64  // 0: an operator's token
	Scopes     Scope  // none for an operator's token
	Hint       string // the first letters of its text

	CreatedAt  time.Time
	ExpiresAt  time.Time // zero: never
	RevokedAt  time.Time // zero: not revoked
	LastUsedAt time.Time // zero: never used; kept to about a minute
}

// Grant is a token as a request presents it.
type Grant struct {
	Token
	// DataVersion is the version of the merchant's data, read after the request
	// arrived. Zero for an operator's token.
	DataVersion order.DataVersion
}

// Operator reports whether the token is good for the operator interface, and
// for nothing else.
func (t Token) Operator() bool { return t.MerchantID == 0 }

// Valid reports whether the token is in force at a moment.
func (t Token) Valid(now time.Time) bool {
	return t.RevokedAt.IsZero() && (t.ExpiresAt.IsZero() || now.Before(t.ExpiresAt))
}

// Hash is what is kept of a token's text.
type Hash [sha256.Size]byte

// NewText makes the text of a new token: prefix, random part, checksum.
func NewText(prefix string) (text, hint string) {
	var random [randomBytes]byte
	// crypto/rand never fails: it ends the program where there is no randomness.
	_, _ = rand.Read(random[:])
	body := encode(new(big.Int).SetBytes(random[:]), randomDigits)
	return prefix + body + checksum(prefix+body), prefix + body[:hintLength]
}

// ErrMalformed says that a text cannot be a token of ours, whatever is stored.
var ErrMalformed = errors.New("not a token of this service")

// HashText checks form and checksum, so that a malformed token costs no
// look-up, and returns what a store knows the token by, or ErrMalformed.
func HashText(text string) (Hash, error) {
	prefix := MerchantPrefix
	if strings.HasPrefix(text, OperatorPrefix) {
		prefix = OperatorPrefix
	}
	if !strings.HasPrefix(text, prefix) || len(text) != len(prefix)+randomDigits+checksumDigits {
		return Hash{}, ErrMalformed
	}
	if strings.Trim(text[len(prefix):], base62) != "" {
		return Hash{}, ErrMalformed
	}
	body, sum := text[:len(text)-checksumDigits], text[len(text)-checksumDigits:]
	if checksum(body) != sum {
		return Hash{}, ErrMalformed
	}
	return sha256.Sum256([]byte(text)), nil
}

// checksum guards against typing errors, not against forgery.
func checksum(text string) string {
	sum := crc32.ChecksumIEEE([]byte(text))
	var digits [checksumDigits]byte
	for i := range digits {
		digits[len(digits)-1-i] = base62[sum%uint32(len(base62))]
		sum /= uint32(len(base62))
	}
	return string(digits[:])
}

// encode writes n in base62, padded with zeros to a number of digits.
func encode(n *big.Int, digits int) string {
	text := make([]byte, digits)
	base, digit := big.NewInt(int64(len(base62))), new(big.Int)
	for i := digits - 1; i >= 0; i-- {
		n.DivMod(n, base, digit)
		text[i] = base62[digit.Int64()]
	}
	return string(text)
}
