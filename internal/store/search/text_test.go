package search

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

func customer(first, last, company, email, phone string) *order.Customer {
	return &order.Customer{FirstName: first, LastName: last, Company: company, Email: email, Phone: &phone}
}

func TestTextsOf(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		customer *order.Customer
		want     []string
	}{
		"nothing": {&order.Customer{}, []string{"rsf-1", "z1-fs"}},
		"Greek": {
			customer("ΓΙΏΡΓΟΣ", "Παπαδόπουλος", "Άλφα & Υιοί Α.Ε.", "G.Pap@Example.com", "+30 210 123-4567"),
			[]string{"eg.pap@example.com", "nαλφα", "nα", "nε", "nγιωργοσ", "nπαπαδοπουλοσ", "nυιοι", "lalfa", "la", "le", "lgiorgos", "lpapadopoulos", "lioi", "li", "p2101234567", "rsf-1", "z1-fs"},
		},
		"Latin": {
			customer("José-María", "Müller Ångström", "ﬁrst", "é@x", "0049 170 1"),
			[]string{"ee@x", "nangstrom", "nfirst", "njose", "nmaria", "nmuller", "p491701", "rsf-1", "z1-fs"},
		},
		"no letters": {customer("'", "-", " ", " ", "()"), []string{"rsf-1", "z1-fs"}},
		"long": {
			customer(strings.Repeat("ά", 100), "", "", "", ""),
			[]string{"n" + strings.Repeat("α", maxLength/2), "la", "rsf-1", "z1-fs"},
		},
	} {
		slices.Sort(test.want)
		testenv.Equal(t, name, test.want, textsOf("SF-1", test.customer, nil, new(order.MerchantData), ""))
	}
	testenv.Equal(t, "words", maxWords, len(textsOf("SF-1", customer("a b c d e f g h", "i j k l m n o p", "q r s t", "e", "1"), nil, new(order.MerchantData), "")))
}

func TestInvoiceNumbers(t *testing.T) {
	t.Parallel()
	got := textsOf("", new(order.Customer), nil, new(order.MerchantData), "Τ.Π. 7\n400001234567890\nINV/7")
	testenv.Equal(t, "words", []string{"i400001234567890 ", "i7 ", "iinv/7 ", "iτ.π. ", "iτ.π.7 "}, got)
	many := textsOf("", new(order.Customer), nil, new(order.MerchantData), strings.Repeat("a b c d e f g h i j k l m n o p q r s t u v w x y z 1 2 3\n", 3))
	testenv.Equal(t, "most words", maxNumbers, len(many))
	for text, want := range map[string]bool{
		"7": true, "Τ.Π. 7": true, "τ.π.7": true, "inv/7": true, "inv/": true, "400001234567890": true, "4000": true,
		"inv": false, "400": false, "8": false, "inv/78": false, "7 8": false,
	} {
		testenv.Equal(t, text, want, matchesAll(termsOf(&order.Search{Text: text}), 1, got))
	}
}

func TestDigits(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"2101234567": "2101234567", "+302101234567": "2101234567", "00302101234567": "2101234567", "30 2101234567": "2101234567",
		"+30 (0)210 1234567": "02101234567", "+30 210": "210", "0030-69": "69", "210 12": "21012", "+49 30 1234": "49301234", "30": "30", "302": "302", "+": "", "": "", "２１０": "210",
	} {
		testenv.Equal(t, text, want, digits(text))
	}
}

func TestMatchesAll(t *testing.T) {
	t.Parallel()
	words := textsOf("SF-2026-0000017", customer("Γιώργος", "Παπαδόπουλος", "Tea & Co", "George.P@example.com", "+30 2101234567"), []string{"GR123456789, 52 0001", "", "SKU-77 red", "5201234567890", "5201234567890"}, new(order.MerchantData), "")
	const legacyID = 900017
	for _, test := range []struct {
		search order.Search
		want   bool
	}{
		{order.Search{}, true},
		{order.Search{Name: "παπαδοπουλος γιωργος"}, true},
		{order.Search{Name: "ΠΑΠ"}, true},
		{order.Search{Name: "γιώ Παπαδ"}, true},
		{order.Search{Name: "γιώ Νικολ"}, false},
		{order.Search{Name: "παδο"}, false},
		{order.Search{Name: "george"}, false},
		{order.Search{Name: "!"}, false},
		{order.Search{Name: " "}, true},
		{order.Search{Email: "george.p@"}, true},
		{order.Search{Email: "example.com"}, false},
		{order.Search{Phone: "+30 210"}, true},
		{order.Search{Phone: "210 123"}, true},
		{order.Search{Phone: "123"}, false},
		{order.Search{Phone: "+"}, false},
		{order.Search{Reference: "sf-2026"}, true},
		{order.Search{Reference: "2026"}, false},
		{order.Search{Reference: "0017"}, true},
		{order.Search{Reference: "017"}, false},
		{order.Search{Reference: "6-0000017"}, true},
		{order.Search{Reference: "0018"}, false},
		{order.Search{Text: "0017"}, true},
		{order.Search{Text: "παπα 0017 gr1234"}, true},
		{order.Search{Text: "sku-77"}, true},
		{order.Search{Text: "520 1234 567890"}, true},
		{order.Search{Text: "520"}, false},
		{order.Search{Text: "7890"}, false},
		{order.Search{Name: "sku-77"}, false},
		{order.Search{Text: "sf-2026 παπα tea george."}, true},
		{order.Search{Text: "+30 210 1234567"}, true},
		{order.Search{Text: "\u202a+30\u00a0210\u00a01234567\u202c\ufeff"}, true},
		{order.Search{Text: "#SF-2026, “παπα” \u200bgr1234:"}, true},
		{order.Search{Text: "900017"}, true},
		{order.Search{Text: "90001"}, false},
		{order.Search{Text: "Παπαδόπουλος-Νίκου"}, true}, // the longest part decides
		{order.Search{Text: "nobody"}, false},
		{order.Search{Text: "\u0301"}, false},
		{order.Search{Text: "\u200b"}, false},
		{order.Search{Name: "γ π", Email: "x"}, false},
	} {
		testenv.Equal(t, fmt.Sprintf("%+v", test.search), test.want, matchesAll(termsOf(&test.search), legacyID, words))
	}
}

// TestPhones finds each number of a field.
func TestPhones(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"2101234567 6971234567":             {"2101234567", "6971234567"},
		"2101234567, 697 123 4567":          {"2101234567", "6971234567"},
		"210 1234567 697 1234567":           {"2101234567", "6971234567"},
		"210-1234567/6971234567":            {"2101234567", "6971234567"},
		"+302101234567+306971234567":        {"2101234567", "6971234567"},
		"+30 2101234567 00306971234567":     {"2101234567", "6971234567"},
		"2101234567\u00a0ή\u00a06971234567": {"2101234567", "6971234567"},
		"+30 (0)210 1234567":                {"2101234567"},
		"0044 (0)20 7946 0958":              {"442079460958"},
		"+44 20 7946 0958; +49 30 123456":   {"442079460958", "4930123456"},
		"210 1234567 εσωτ. 12":              {"2101234567"},
		"12 34":                             nil,
	} {
		customer := customer("", "", "", "", text)
		testenv.Equal(t, text, want, phones(text))
		for _, number := range want {
			if !matchesAll(termsOf(&order.Search{Phone: number}), 1, textsOf("R", customer, nil, new(order.MerchantData), "")) {
				t.Errorf("%q is not found by %s", text, number)
			}
		}
	}
	if !matchesAll(termsOf(&order.Search{Phone: "+30 (0)210"}), 1, textsOf("R", customer("", "", "", "", "2101234567"), nil, new(order.MerchantData), "")) {
		t.Error("a number is not found by +30 (0)210")
	}
}

// TestSpelling finds names that people type in Latin letters.
func TestSpelling(t *testing.T) {
	t.Parallel()
	for typed, name := range map[string]string{
		"papadopoulou": "Παπαδοπούλου", "papadop": "Παπαδοπούλου", "giorgos": "Γιώργος", "christos": "Χρήστος", "xristos": "Χρήστος", "hristos": "ΧΡΗΣΤΟΣ",
		"vasilis": "Βασίλης", "basilis": "Βασίλης", "Evangelia": "Ευαγγελία", "efthymiou": "Ευθυμίου", "michalis": "Μιχάλης", "kyriaki": "Κυριακή",
		"Bampis": "Μπάμπης", "mpampis": "Μπάμπης", "konstan": "Κωνσταντίνος", "theodorou": "Θεοδώρου", "psarra": "Ψαρρά", "ilias": "Ηλίας", "angelos": "Άγγελος",
		"papadopoylou": "Παπαδοπούλου", "PAPADOPOYLOY": "Παπαδοπούλου", "papadopulu": "Παπαδοπούλου", "Lukas": "Λουκάς", "Dhmhtrhs": "Δημήτρης", "Kwsths": "Κωστής", "Panagiwths": "Παναγιώτης",
		"papadakhs": "Παπαδάκης", "Basilhs": "Βασίλης", "Hlias": "Ηλίας", "Hraklhs": "Ηρακλής", "Haris": "Χάρης", "Mixahl": "Μιχαήλ", "Michail": "Μιχαήλ", "Zwh": "Ζωή",
		"A8hna": "Αθηνά", "8eodwrou": "Θεοδώρου", "Ey8ymiou": "Ευθυμίου", "Ale3andros": "Αλέξανδρος", "Aleksandros": "Αλέξανδρος", "Xenos": "Ξένος", "Sophia": "Σοφία",
		"Stayros": "Σταύρος", "Eyaggelia": "Ευαγγελία", "Haralambos": "Χαράλαμπος", "Ntina": "Ντίνα", "dina": "Ντίνα", "Mpoykas": "Μπούκας", "Yiannis": "Γιάννης", "Yorgos": "Γιώργος",
		"irini": "Ειρήνη", "Eirhnh": "Ειρήνη", "Ikonomou": "Οικονόμου", "oikonomoy": "Οικονόμου", "Vasiliou": "Βασιλείου", "vasile": "Βασιλείου", "Ekaterini": "Αικατερίνη", "Aikaterini": "Αικατερίνη",
		"strasse": "Straße", "łukasz": "Łukasz", "Lukasz": "Łukasz", "sorensen": "Sørensen", "Dorde": "Đorđe", "muller": "Müller", "Straße": "Straße",
	} {
		words := textsOf("R", customer("", name, "", "", ""), nil, new(order.MerchantData), "")
		for _, search := range []order.Search{{Name: typed}, {Text: typed}} {
			if !matchesAll(termsOf(&search), 1, words) {
				t.Errorf("%+v does not find %s: %q", search, name, words)
			}
		}
	}
	for typed, name := range map[string]string{
		"Łukasz": "Lukasz", "Straße": "Strasse", "Παπαδοπούλου": "Papadopoulou", "Papadopoylou": "Papadopoulou", "Χρυσή": "Chrysi", "Ευθυμίου": "Efthymiou", "άννα": "ANNA",
	} {
		words := textsOf("R", customer("", name, "", "", ""), nil, new(order.MerchantData), "")
		if !matchesAll(termsOf(&order.Search{Name: typed}), 1, words) || slices.ContainsFunc(words, func(word string) bool { return word[0] == 'l' }) {
			t.Errorf("%s in plain letters is not found by %s: %q", name, typed, words)
		}
	}
	for typed, name := range map[string]string{"papadopoulou": "Παπαδόπουλος", "Hlias": "Χλόη", "irini": "Ρένα", "maria": "Μαριέττα"} {
		if words := textsOf("R", customer("", name, "", "", ""), nil, new(order.MerchantData), ""); matchesAll(termsOf(&order.Search{Name: typed}), 1, words) {
			t.Errorf("%s finds %s: %q", typed, name, words)
		}
	}
}

// FuzzWords checks what the store relies on: words are in one form, can be stored in
// every database, and whole names, addresses and numbers find their order.
func FuzzWords(f *testing.F) {
	f.Add("Γιώργος", "x@example.com", "+30 210")
	f.Add("ẞİﬀ ϓ Σς\u0345", "a b\x00", "００30")
	f.Add("\xff\U0010ffff", "Kΐ\u1fd3", "٣")
	f.Fuzz(func(t *testing.T, name, email, phone string) {
		words := textsOf("R", customer(name, name, "", email, phone), nil, new(order.MerchantData), "")
		if len(words) > maxWords+maxSpellings+maxPhones || !slices.IsSorted(words) {
			t.Errorf("words %q", words)
		}
		for _, word := range words {
			if !utf8.ValidString(word) || len(word) > maxLength+1 || strings.ContainsFunc(word, func(r rune) bool { return r < ' ' }) ||
				word >= endOf(word[:1]) || fold(word) != word {
				t.Errorf("word %q, folded %q", word, fold(word))
			}
		}
		if len(words) >= maxWords {
			return // some are left out
		}
		for _, search := range []order.Search{{Name: name}, {Email: email}, {Phone: phone}} {
			terms := termsOf(&search)
			if slices.ContainsFunc(terms, func(term term) bool { return len(term.Prefixes) == 0 }) {
				continue // nothing to find
			}
			if !matchesAll(terms, 1, words) {
				t.Errorf("%+v with the terms %v does not find %q", search, terms, words)
			}
		}
	})
}
