package search

import (
	"strings"
	"unicode/utf8"
)

// plainLatin are the Latin letters that no accent makes, as people type them without, and ου as
// people type it after the looks of its letters.
var plainLatin = strings.NewReplacer("ß", "ss", "æ", "ae", "œ", "oe", "ø", "o", "ł", "l", "đ", "d", "ð", "d", "þ", "th", "ı", "i", "ħ", "h", "oy", "ou")

// romanized are Greek letters, folded, in Latin ones as passports have them (ELOT 743).
var romanized = strings.NewReplacer(
	"αυ", "av", "ευθ", "efth", "ευκ", "efk", "ευσ", "efs", "ευτ", "eft", "ευφ", "eff", "ευ", "ev", "ου", "ou", "γγ", "ng",
	"α", "a", "β", "v", "γ", "g", "δ", "d", "ε", "e", "ζ", "z", "η", "i", "θ", "th", "ι", "i", "κ", "k", "λ", "l", "μ", "m", "ν", "n", "ξ", "x",
	"ο", "o", "π", "p", "ρ", "r", "σ", "s", "τ", "t", "υ", "y", "φ", "f", "χ", "ch", "ψ", "ps", "ω", "o",
)

// latin are the Latin letters for Greek ones that people write in several ways: by the sound, or
// by the looks, as h for η, w for ω and 8 for θ. Of these ways it keeps what differs least:
// papadopoulou, vasilis.
var latin = strings.NewReplacer(
	"ths", "tis", "khs", "kis", "phs", "pis", "ghs", "gis", "8h", "thi", "th", "th", "ch", "x", "ks", "x", "ph", "f", "ng", "g", "gk", "g", "gg", "g", "mb", "mp", "nd", "nt",
	"ou", "ou", "au", "af", "av", "af", "ay", "af", "eu", "ef", "ev", "ef", "ey", "ef",
	"bh", "fi", "dh", "di", "fh", "fi", "kh", "ki", "lh", "li", "mh", "mi", "nh", "ni", "rh", "ri", "sh", "si", "vh", "fi", "wh", "oi", "xh", "xi", "zh", "zi", "hl", "il",
	"b", "f", "v", "f", "c", "k", "q", "k", "w", "o", "u", "ou", "y", "i", "h", "x", "3", "x", "8", "th",
)

// beginnings are what words begin with, as latin writes it.
var beginnings = [][2]string{{"mp", "b"}, {"nt", "d"}, {"hra", "ira"}, {"yian", "gian"}, {"yan", "gian"}, {"yior", "gior"}, {"yor", "gior"}}

// spelling returns a folded word in the form in which words are equal that differ by how people
// write them in Latin letters: Greek, and letters that they do not have on their keyboard.
// Doubled letters are one.
func spelling(word string) string {
	word = romanized.Replace(plainLatin.Replace(word))
	for _, begin := range beginnings {
		if rest, found := strings.CutPrefix(word, begin[0]); found {
			word = begin[1] + rest
			break
		}
	}
	var once strings.Builder
	last := utf8.RuneError
	for _, r := range latin.Replace(word) {
		if r != last {
			once.WriteRune(r)
		}
		last = r
	}
	return once.String()
}

// sounds are two letters with the sound of one.
var sounds = strings.NewReplacer("ει", "ι", "οι", "ι")

// spellings returns the spellings of a word of a name: that of its letters, and another one if
// people write less of them, as in irini, ikonomou and ekaterini.
func spellings(word string) []string {
	all := []string{spelling(word)}
	sound := sounds.Replace(word)
	if rest, found := strings.CutPrefix(sound, "αι"); found {
		sound = "ε" + rest
	}
	if sound != word {
		all = append(all, spelling(sound))
	}
	return all
}
