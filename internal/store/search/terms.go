package search

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"merchantorders/internal/order"
)

// term is a part of a search. An order has it if one of its words begins with one of
// the prefixes, or if it has the legacy id. So no order has a term without both.
type term struct {
	Prefixes []string
	LegacyID int64 // 0: none
}

// maxTerms limits the terms of a search; the others are ignored. Each costs a read.
const maxTerms = 5

// termsOf returns the terms of a search, the longest first: an order is found if it has
// all of them.
func termsOf(search *order.Search) []term {
	var terms []term
	add := func(kind, text string, prefixes ...string) {
		if strings.TrimSpace(text) == "" {
			return
		}
		if len(prefixes) == 0 {
			terms = append(terms, term{}) // a text without letters and digits: nothing has it
		}
		for _, prefix := range prefixes {
			terms = append(terms, newTerm(kind, prefix))
		}
	}
	add(referenceKind, search.Reference, fold(search.Reference))
	if end := endOfReference(search.Reference); end != "" {
		terms[len(terms)-1].add(endKind, end)
	}
	add(emailKind, search.Email, address(search.Email))
	add(phoneKind, search.Phone, phoneOf(search.Phone))
	if number := phoneOf(search.Phone); number != "" {
		terms[len(terms)-1].add(furtherPhone, number)
	}
	before := len(terms)
	words := names(search.Name)
	add(nameKind, search.Name, words...)
	for i, word := range words {
		terms[before+i].addSpelling(word)
	}
	for _, part := range parts(search.Text) {
		terms = append(terms, anyTerm(part, search.MerchantData))
	}
	slices.SortStableFunc(terms, func(a, b term) int { return b.length() - a.length() })
	return terms[:min(len(terms), maxTerms)]
}

// around are signs that people copy with a reference, a name or an address, and that none begins
// or ends with.
const around = "#\"'“”„«»<>,;:"

// parts divides a text at its spaces, unless it is one phone number. What is copied from other
// programs may have invisible characters.
func parts(text string) []string {
	all := strings.Fields(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, text))
	if len(all) == 0 {
		return strings.Fields(text) // nothing has it
	}
	if isPhone(strings.Join(all, "")) {
		return []string{strings.Join(all, "")}
	}
	for i, part := range all {
		all[i] = cmp.Or(strings.Trim(part, around), part)
	}
	return all
}

// isPhone reports whether a text has digits and nothing that phone numbers do not have.
func isPhone(text string) bool {
	return strings.ContainsAny(text, "0123456789") && strings.Trim(text, "0123456789+-()./ ") == ""
}

// newTerm returns a term with one prefix, or with none if the prefix is empty.
func newTerm(kind, prefix string) term {
	var t term
	t.add(kind, prefix)
	return t
}

func (t *term) add(kind, prefix string) {
	if prefix != "" {
		t.Prefixes = append(t.Prefixes, kind+cut(prefix))
	}
}

// addSpelling adds how a word of a name may be stored in other letters: Greek for Latin ones that
// were typed, and Latin for Greek ones.
func (t *term) addSpelling(word string) {
	if strings.ContainsFunc(word, func(r rune) bool { return unicode.Is(unicode.Latin, r) }) {
		t.add(spellingKind, spelling(word))
	}
	if other := romanized.Replace(plainLatin.Replace(word)); other != word {
		t.add(nameKind, other)
	}
}

// anyTerm returns the term of a text that may be anything, also the merchant's own data if
// merchantData is set.
func anyTerm(text string, merchantData bool) term {
	term := newTerm(referenceKind, fold(text))
	term.add(endKind, endOfReference(text))
	if codes := codes(text); len(codes) > 0 {
		term.add(codeKind, codes[0])
	}
	if number := fold(text); len(number) < minCode {
		term.add(numberKind, number+" ") // the whole number
	} else {
		term.add(numberKind, number)
	}
	term.add(emailKind, address(text))
	longest := ""
	if words := names(text); len(words) > 0 {
		// Of Anna-Maria the longest part: another Maria is found too.
		longest = slices.MaxFunc(words, func(a, b string) int { return len(a) - len(b) })
	}
	if isPhone(text) {
		term.add(phoneKind, phoneOf(text))
		term.add(furtherPhone, phoneOf(text))
		term.LegacyID, _ = order.ParseID(text)
	} else {
		term.add(nameKind, longest)
		term.addSpelling(longest)
	}
	if merchantData {
		term.add(merchantReferenceKind, fold(text))
		term.add(noteKind, longest)
	}
	return term
}

// length returns the length of the shortest prefix of a term, which finds most orders.
func (t term) length() int {
	shortest := maxLength
	for _, prefix := range t.Prefixes {
		shortest = min(shortest, len(prefix))
	}
	return shortest
}

// matchesAll reports whether an order with a legacy id and words has all terms.
func matchesAll(terms []term, legacyID int64, words []string) bool {
	for _, term := range terms {
		if !term.has(legacyID, words) {
			return false
		}
	}
	return true
}

func (t term) has(legacyID int64, words []string) bool {
	if t.LegacyID != 0 && t.LegacyID == legacyID {
		return true
	}
	return slices.ContainsFunc(t.Prefixes, func(prefix string) bool {
		return slices.ContainsFunc(words, func(word string) bool { return strings.HasPrefix(word, prefix) })
	})
}
