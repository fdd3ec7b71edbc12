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
// customer, and of the merchant's own data, in a form without upper case and accents. They are stored with the order,
// so a change of this file makes stored words wrong until `check --repair` rebuilds them.

// The first letter of a word says what it is a word of, so that a search for a name
// does not read e-mail addresses.
const (
	referenceKind = "r"
	emailKind     = "e"
	phoneKind     = "p"
	nameKind      = "n"
	// Only searches of the merchant itself read these two.
	merchantReferenceKind = "m"
	noteKind              = "o"
)

const (
	// maxLength is how many bytes of a text are in its word. A database limits what an
	// index may hold.
	maxLength = 64
	// maxWords limits the words of an order without those of the note, which are at most
	// maxNoteWords.
	maxWords, maxNoteWords = 16, 32
)

// textsOf returns the words of an order in ascending order, each once.
func textsOf(reference string, customer *order.Customer, data *order.MerchantData) []string {
	words, limit := make([]string, 0, 8), maxWords
	add := func(kind, text string) {
		if text != "" && len(words) < limit {
			words = append(words, kind+cut(text))
		}
	}
	add(referenceKind, fold(reference))
	if data.Reference != nil {
		add(merchantReferenceKind, fold(*data.Reference))
	}
	add(emailKind, address(customer.Email))
	if customer.Phone != nil {
		add(phoneKind, digits(*customer.Phone))
	}
	for _, text := range []string{customer.LastName, customer.FirstName, customer.Company} {
		for _, word := range names(text) {
			add(nameKind, word)
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
