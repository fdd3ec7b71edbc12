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

// Merchant is a seller in the marketplace.
type Merchant struct {
	ID        int64  // the store id, positive
	Name      string // shown as the vendor company name
	CreatedAt time.Time
}

// MerchantNameProblem returns what is wrong with a merchant name, as a phrase
// that follows the name of the field. It returns "" for a valid name.
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
