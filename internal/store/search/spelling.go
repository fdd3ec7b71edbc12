package search

import (
	"strings"
	"unicode/utf8"
)

// plainLatin are the Latin letters that no accent makes, as people type them without.
var plainLatin = strings.NewReplacer("ß", "ss", "æ", "ae", "œ", "oe", "ø", "o", "ł", "l", "đ", "d", "ð", "d", "þ", "th", "ı", "i", "ħ", "h")

// latin are the letters that people write in several ways with Latin ones, and how spelling
// writes them. Of these ways it keeps what differs least: papadopoulou, christos, vasilis.
var latin = strings.NewReplacer(
	// Greek, folded.
	"αυ", "af", "ευ", "ef", "ου", "ou", "γγ", "g", "γκ", "g",
	"α", "a", "β", "f", "γ", "g", "δ", "d", "ε", "e", "ζ", "z", "η", "i", "θ", "th", "ι", "i", "κ", "k", "λ", "l", "μ", "m", "ν", "n", "ξ", "x",
	"ο", "o", "π", "p", "ρ", "r", "σ", "s", "τ", "t", "υ", "i", "φ", "f", "χ", "x", "ψ", "ps", "ω", "o",
	// Latin spellings of the Greek letters above.
	"th", "th", "ch", "x", "kh", "x", "ks", "x", "ph", "f", "ng", "g", "gk", "g", "gg", "g", "ou", "ou", "au", "af", "av", "af", "eu", "ef", "ev", "ef",
	"b", "f", "v", "f", "c", "k", "q", "k", "w", "o", "y", "i", "h", "x",
)

// spelling returns a folded word with Latin letters, in the form in which words are equal
// that differ by how people write them so: Greek in Latin letters, and letters that they do
// not have on their keyboard. Doubled letters are one.
func spelling(word string) string {
	if rest, found := strings.CutPrefix(word, "μπ"); found {
		word = "β" + rest
	} else if rest, found := strings.CutPrefix(word, "mp"); found {
		word = "b" + rest
	}
	var once strings.Builder
	last := utf8.RuneError
	for _, r := range latin.Replace(plainLatin.Replace(word)) {
		if r != last {
			once.WriteRune(r)
		}
		last = r
	}
	return once.String()
}
