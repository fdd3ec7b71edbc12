package search

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"merchantorders/internal/order"
)

// Words are made of a reference, of the e-mail address, the phone number and the names of a
// customer, of the codes of items and parcels, and of the merchant's own data, in a form
// without upper case and accents. They are stored with the order, so a change of this file
// makes stored words wrong until `check --repair` rebuilds them.

// The first letter of a word says what it is a word of, so that a search for a name
// does not read e-mail addresses.
const (
	referenceKind = "r"
	emailKind     = "e"
	phoneKind     = "p"
	nameKind      = "n"
	codeKind      = "c"
	// endKind is a reference read backwards: its words begin with the end of the reference.
	endKind = "z"
	// Only searches of the merchant itself read these two.
	merchantReferenceKind = "m"
	noteKind              = "o"
	// 1.0 did not write the others: a name with letters that people type as Latin ones, see
	// spelling, a phone number of a field with several, and the number of an invoice.
	spellingKind    = "l"
	furtherPhone    = "t"
	numberKind      = "i" // the number or the mark of an invoice, with a space at its end
	kindsSinceFirst = spellingKind + furtherPhone + numberKind
)

const (
	// maxLength is how many bytes of a text are in its word. A database limits what an
	// index may hold.
	maxLength = 64
	// maxWords limits the words of an order without those of its codes and of the note,
	// which are at most maxCodes and maxNoteWords.
	maxWords, maxCodes, maxNoteWords, maxSpellings, maxNumbers = 16, 64, 32, 16, 24
	// minEnd is how many characters of the end of a reference, or of a code, find it. Less
	// would find a part of all orders.
	minEnd, minCode = 4, 4
)

// textsOf returns the words of an order in ascending order, each once.
func textsOf(reference string, customer *order.Customer, itemCodes []string, data *order.MerchantData, invoiceNumbers string) []string {
	words, limit := make([]string, 0, 16), maxWords
	add := func(kind, text string) {
		if text != "" && len(words) < limit {
			words = append(words, kind+cut(text))
		}
	}
	add(referenceKind, fold(reference))
	add(endKind, endOfReference(reference))
	if data.Reference != nil {
		add(merchantReferenceKind, fold(*data.Reference))
	}
	add(emailKind, address(customer.Email))
	if customer.Phone != nil {
		add(phoneKind, digits(*customer.Phone))
	}
	var spelled []string
	for _, text := range []string{customer.LastName, customer.FirstName, customer.Company} {
		for _, word := range names(text) {
			add(nameKind, word)
			if !isPlain(word) {
				spelled = append(spelled, spellings(word)...)
			}
		}
	}
	limit = len(words) + maxSpellings
	for _, word := range spelled {
		add(spellingKind, word)
	}
	if customer.Phone != nil {
		limit = len(words) + maxPhones
		for _, number := range phones(*customer.Phone) {
			if !strings.HasPrefix(digits(*customer.Phone), number) {
				add(furtherPhone, number)
			}
		}
	}
	limit = len(words) + maxCodes
	for _, text := range itemCodes {
		for _, code := range codes(text) {
			if word := codeKind + cut(code); !slices.Contains(words, word) {
				add(codeKind, code)
			}
		}
	}
	limit = len(words) + maxNumbers
	for line := range strings.SplitSeq(invoiceNumbers, "\n") {
		all := strings.Fields(fold(line))
		if len(all) > 1 {
			all = append(all, strings.Join(all, "")) // people leave out the spaces
		}
		for _, number := range all {
			add(numberKind, number+" ")
		}
	}
	if data.Note != nil {
		limit = len(words) + maxNoteWords
		for _, word := range names(strings.Join(strings.Fields(*data.Note), " ")) { // of all lines
			add(noteKind, word)
		}
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// endOfReference returns a reference, or the end of one, backwards; empty: it is too short.
func endOfReference(text string) string {
	letters := []byte(fold(text))
	if len(letters) < minEnd || !isPlain(text) {
		return ""
	}
	slices.Reverse(letters)
	return string(letters)
}

// codes returns the codes of a text, divided as people list them. It leaves out those that
// are too short.
func codes(text string) []string {
	all := strings.FieldsFunc(fold(text), func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(",;|", r) })
	return slices.DeleteFunc(all, func(code string) bool { return len(code) < minCode })
}

// endOf returns the lowest text above every word that begins with a prefix. No word
// contains this noncharacter.
func endOf(prefix string) string { return prefix + "\U0010ffff" }

// fold returns a text in lower case without accents: compatible forms of a character
// are one (NFKD), and so are both forms of sigma.
func fold(text string) string {
	if isPlain(text) {
		return strings.ToLower(text)
	}
	var folded strings.Builder
	// In lower case first, because the lower case of some characters decomposes.
	for _, r := range norm.NFKD.String(strings.ToLower(text)) {
		switch r = unicode.ToLower(r); {
		case r == 'ς':
			folded.WriteRune('σ')
		case r == utf8.RuneError, unicode.IsMark(r):
		case unicode.IsGraphic(r):
			folded.WriteRune(r)
		}
	}
	return folded.String()
}

// isPlain reports whether a text is printable ASCII.
func isPlain(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}

// address returns an e-mail address as it is compared.
func address(text string) string { return strings.ReplaceAll(fold(text), " ", "") }

// names returns the words of a name: letters and digits, divided by anything else.
func names(text string) []string {
	return strings.FieldsFunc(fold(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// greece is the country code that people leave out.
const greece = "30"

// nationalDigits is how many digits a Greek number has without the country code.
const nationalDigits = 10

// digits returns the digits of a phone number, without the prefix of an international
// call and without the country code of Greece, so that one number has one form.
func digits(text string) string {
	text = strings.TrimSpace(norm.NFKD.String(text))
	international := strings.HasPrefix(text, "+")
	number := strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, text)
	if rest, found := strings.CutPrefix(number, "00"); found {
		international, number = true, rest
	}
	rest, found := strings.CutPrefix(number, greece)
	if found && (international || len(rest) == nationalDigits) {
		return rest
	}
	return number
}

// trunkZero is the zero of national calls, which people write in brackets into international
// numbers.
const trunkZero = "(0)"

// phoneOf returns the digits of one phone number as people write it.
func phoneOf(text string) string {
	text = strings.TrimSpace(norm.NFKD.String(text))
	if strings.HasPrefix(text, "+") || strings.HasPrefix(text, "00") {
		text = strings.Replace(text, trunkZero, "", 1)
	}
	return digits(text)
}

const (
	// maxPhones is how many phone numbers of a field find their order.
	maxPhones = 4
	// minPhone is how many digits a part of a field has that is a number of its own.
	minPhone = 7
)

// phones returns the phone numbers of a field in which people have written several: divided
// by what is no part of a number, by the + of the next one, or by a space after a whole Greek
// number.
func phones(text string) (numbers []string) {
	text = strings.ReplaceAll(norm.NFKD.String(text), "+", "\x00+")
	parts := strings.FieldsFunc(text, func(r rune) bool { return (r < '0' || r > '9') && !strings.ContainsRune("+-(). ", r) })
	for _, part := range parts {
		rest := ""
		for word := range strings.FieldsSeq(part) {
			rest += " " + word
			if number := phoneOf(rest); len(number) == nationalDigits && (number[0] == '2' || number[0] == '6') {
				numbers, rest = append(numbers, number), ""
			}
		}
		if number := phoneOf(rest); len(number) >= minPhone {
			numbers = append(numbers, number)
		}
	}
	return numbers
}

// cut returns the beginning of a text that a word holds.
func cut(text string) string {
	if len(text) <= maxLength {
		return text
	}
	end := maxLength
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}
