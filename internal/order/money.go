package order

import (
	"strconv"
	"strings"
)

// currencyDigits has the ISO 4217 currencies whose minor unit is not a hundredth,
// with their number of decimal digits.
var currencyDigits = map[string]int{
	"BIF": 0, "CLP": 0, "DJF": 0, "GNF": 0, "ISK": 0, "JPY": 0, "KMF": 0, "KRW": 0,
	"PYG": 0, "RWF": 0, "UGX": 0, "UYI": 0, "VND": 0, "VUV": 0, "XAF": 0, "XOF": 0, "XPF": 0,
	"BHD": 3, "IQD": 3, "JOD": 3, "KWD": 3, "LYD": 3, "OMR": 3, "TND": 3,
	"CLF": 4, "UYW": 4,
}

// ValidCurrency reports whether code has the form of an ISO 4217 code: three
// capital letters.
func ValidCurrency(code string) bool {
	return len(code) == 3 && !strings.ContainsFunc(code, func(c rune) bool { return c < 'A' || c > 'Z' })
}

// Decimal formats an amount in minor units as decimal text in major units with
// all digits of the currency: 1790 in EUR is "17.90", in JPY "1790"
// (decision 4).
func Decimal(amount int64, currency string) string {
	digits, special := currencyDigits[currency]
	if !special {
		digits = 2
	}
	text := strconv.FormatInt(amount, 10)
	if digits == 0 {
		return text
	}
	sign := ""
	if text[0] == '-' {
		sign, text = "-", text[1:]
	}
	if missing := digits + 1 - len(text); missing > 0 {
		text = strings.Repeat("0", missing) + text
	}
	point := len(text) - digits
	return sign + text[:point] + "." + text[point:]
}

// ShortDecimal formats an amount like Decimal, but as the shortest JSON number:
// 150 in EUR is "1.5", 0 is "0".
func ShortDecimal(amount int64, currency string) string {
	text := Decimal(amount, currency)
	if !strings.Contains(text, ".") {
		return text
	}
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}
