package order

import (
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// MaxMerchantName is the longest name of a merchant, in bytes.
const MaxMerchantName = 1000

// Merchant is a merchant as the service knows it.
type Merchant struct {
	ID        int64  // the store id, positive
	Name      string // shown as the vendor company name
	CreatedAt time.Time
}

// MerchantNameProblem says what is wrong with a name, in words that follow the
// name of the field; empty when nothing is.
func MerchantNameProblem(name string) string {
	switch {
	case name == "":
		return "is required"
	case !utf8.ValidString(name) || len(name) > MaxMerchantName:
		return "must be text of at most " + strconv.Itoa(MaxMerchantName) + " bytes"
	case strings.ContainsFunc(name, unicode.IsControl):
		return "must be on one line, without control characters"
	}
	return ""
}
