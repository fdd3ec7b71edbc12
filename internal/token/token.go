// Package token implements the credentials of clients (decision 1): the form of a
// token, its scopes and lifetime, and authentication. It defines the Store that it
// needs and does not know HTTP or SQL. It never stores, logs or compares the text
// of a token, only its SHA-256.
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

// Prefixes of tokens. They distinguish the kinds, and secret scanners find leaked
// tokens by them.
const (
	MerchantPrefix = "mo_"
	OperatorPrefix = "mop_"
)

const (
	randomBytes    = 24 // 192 random bits
	randomDigits   = 33 // of base62, enough for randomBytes
	checksumDigits = 6  // of base62, enough for a CRC-32
	hintLength     = 4  // random letters in Token.Hint
)

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// Token is a stored token, without its text.
type Token struct {
	ID         int64 // for listing and revocation
	MerchantID int64 // 0: an operator's token
	Scopes     order.Scope
	Hint       string // the prefix and the first letters of the text; empty: of a session, nobody has the text
	Label      string // what people call it; empty: nothing

	CreatedAt time.Time
	CreatedBy int64     // id of the token that created it; 0: a command did
	ExpiresAt time.Time // zero: never
	RevokedAt time.Time // zero: not revoked
	// LastUsedAt is zero if it was never used, and accurate to about ten seconds.
	// LastUsedFrom is the address of the client at that time; empty if it is not known.
	LastUsedAt   time.Time
	LastUsedFrom string
	// Passkey is what the answers of a passkey are checked with; empty: it is none. Not set in
	// a Grant.
	Passkey string
}

// Grant is the token of an authenticated request.
type Grant struct {
	Token
	// DataVersion is the version of the merchant's data, read after the request
	// arrived. Zero for an operator's token.
	DataVersion order.DataVersion
	// NameNonce is a random number that each renaming of the merchant replaces; 0: never
	// renamed.
	NameNonce int64
	// Suspended means that the merchant is suspended: its tokens allow nothing.
	Suspended bool
	// RateLimit is the merchant's own limit; zero: the default.
	RateLimit order.RateLimit
}

// Operator reports whether the token is for the operator interface only.
func (t Token) Operator() bool { return t.MerchantID == 0 }

// Valid reports whether the token is neither expired nor revoked at a time.
func (t Token) Valid(now time.Time) bool {
	return t.RevokedAt.IsZero() && (t.ExpiresAt.IsZero() || now.Before(t.ExpiresAt))
}

// Hash is the SHA-256 of a token's text.
type Hash [sha256.Size]byte

// NewText returns the text of a new token (prefix, random part, checksum) and its hint.
func NewText(prefix string) (text, hint string) {
	var random [randomBytes]byte
	// rand.Read never returns an error.
	_, _ = rand.Read(random[:])
	body := encode(new(big.Int).SetBytes(random[:]), randomDigits)
	return prefix + body + checksum(prefix+body), prefix + body[:hintLength]
}

// ErrMalformed means that a text does not have the form of a token.
var ErrMalformed = errors.New("not a token of this service")

// HashText returns the hash of a token's text. It checks form and checksum, so
// that a malformed token needs no lookup, and returns ErrMalformed if they are
// wrong.
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

// Problem returns why the text that a client sent as its token is none, and empty if it has the
// form of one: then it is unknown, has expired or is revoked, and nobody is told which.
func Problem(text string) string {
	size := len(MerchantPrefix) + randomDigits + checksumDigits
	if strings.HasPrefix(text, OperatorPrefix) {
		size++
	}
	_, err := HashText(text)
	switch {
	case err == nil:
		return ""
	case !strings.HasPrefix(text, MerchantPrefix) && !strings.HasPrefix(text, OperatorPrefix):
		return "What is sent is no token of this service: those of merchants begin with " + MerchantPrefix + ", without quotes or brackets."
	case len(text) < size:
		return fmt.Sprintf("The token is cut: it has %d of %d characters. Copy it again.", len(text), size)
	case len(text) > size:
		return fmt.Sprintf("More than the token is sent: %d instead of %d characters. Copy it again.", len(text), size)
	}
	return "The token is mistyped: its checksum is wrong. Copy it again."
}

// checksum returns a checksum against typing errors. It does not protect against forgery.
func checksum(text string) string {
	sum := crc32.ChecksumIEEE([]byte(text))
	var digits [checksumDigits]byte
	for i := range digits {
		digits[len(digits)-1-i] = base62[sum%uint32(len(base62))]
		sum /= uint32(len(base62))
	}
	return string(digits[:])
}

// encode returns n in base62, padded with zeros.
func encode(n *big.Int, digits int) string {
	text := make([]byte, digits)
	base, digit := big.NewInt(int64(len(base62))), new(big.Int)
	for i := digits - 1; i >= 0; i-- {
		n.DivMod(n, base, digit)
		text[i] = base62[digit.Int64()]
	}
	return string(text)
}
