package order_test

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

func TestMoney(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		amount          int64
		currency        string
		decimal, number string
	}{
		{1790, "EUR", "17.90", "17.9"},
		{1700, "EUR", "17.00", "17"},
		{1000, "EUR", "10.00", "10"},
		{0, "EUR", "0.00", "0"},
		{1, "EUR", "0.01", "0.01"},
		{10, "EUR", "0.10", "0.1"},
		{99, "EUR", "0.99", "0.99"},
		{100, "EUR", "1.00", "1"},
		{150, "EUR", "1.50", "1.5"},
		{-1, "EUR", "-0.01", "-0.01"},
		{-50, "EUR", "-0.50", "-0.5"},
		{-100, "EUR", "-1.00", "-1"},
		{-12345, "EUR", "-123.45", "-123.45"},
		{1790, "JPY", "1790", "1790"},
		{100, "JPY", "100", "100"},
		{0, "JPY", "0", "0"},
		{-5, "JPY", "-5", "-5"},
		{1790, "KWD", "1.790", "1.79"},
		{7, "KWD", "0.007", "0.007"},
		{0, "KWD", "0.000", "0"},
		{-1, "KWD", "-0.001", "-0.001"},
		{12345, "CLF", "1.2345", "1.2345"},
		{5, "CLF", "0.0005", "0.0005"},
		{1790, "ZZZ", "17.90", "17.9"}, // two digits for an unknown currency
		{math.MaxInt64, "EUR", "92233720368547758.07", "92233720368547758.07"},
		{math.MinInt64, "EUR", "-92233720368547758.08", "-92233720368547758.08"},
		{math.MinInt64, "JPY", "-9223372036854775808", "-9223372036854775808"},
	} {
		testenv.Equal(t, fmt.Sprintf("Decimal(%d, %s)", test.amount, test.currency), test.decimal, order.Decimal(test.amount, test.currency))
		got := order.ShortDecimal(test.amount, test.currency)
		testenv.Equal(t, fmt.Sprintf("Number(%d, %s)", test.amount, test.currency), test.number, got)
		if !json.Valid([]byte(got)) {
			t.Errorf("Number(%d, %s) = %q is no JSON number", test.amount, test.currency, got)
		}
	}
}

func TestCurrencyForm(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]bool{
		"EUR": true, "JPY": true, "KWD": true, "XXX": true,
		"": false, "EU": false, "EURO": false, "eur": false, "E1R": false, "ΕUR": false, "€": false, "EU\x00": false,
	} {
		testenv.Equal(t, fmt.Sprintf("ValidCurrency(%q)", code), want, order.ValidCurrency(code))
	}
}

func TestValidVATRate(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"0": true, "24": true, "6.5": true, "24.00": true, "8.875": true, "0.0": true, "100": true, "100.00": true, "99.999": true,
		"": false, "100.1": false, "101": false, "024": false, "00": false, "-1": false, "+1": false, "6,5": false, "6.": false, ".5": false, "1e1": false,
		"24%": false, " 24": false, "24\n": false, "6.1234": false, "٢٤": false,
	} {
		testenv.Equal(t, text, want, order.ValidVATRate(text))
	}
}
