package strict

import (
	"cmp"
	"fmt"
	"strings"
)

// Detailed is an error that also says what helps whoever sent the request: what is wrong,
// and what is right. The published bodies have no room for it.
type Detailed interface {
	error
	// Detail returns one or two sentences without a value that may be personal or secret.
	Detail() string
}

// Detail returns an error with a detail, which its first wrapper decides: err still is what it
// was to errors.Is and errors.As.
func Detail(err error, format string, args ...any) error {
	return &detailed{err, fmt.Sprintf(format, args...)}
}

type detailed struct {
	error
	detail string
}

// Detail implements Detailed.
func (e *detailed) Detail() string { return e.detail }

// Unwrap returns the error without its detail.
func (e *detailed) Unwrap() error { return e.error }

// Nearest returns the word that a misspelled one means: one of the words in other letters, with
// few letters wrong, or else the one that has the longest part of it or is that part. Empty: none
// of them.
func Nearest(misspelled string, words ...string) string {
	text := plainWord(misspelled)
	if len(text) < 2 || len(text) > 64 {
		return ""
	}
	wrong, nearest := max(1, min(len(text)/3, 3))+1, ""
	shared, part := 3, ""
	for _, word := range words {
		meant := plainWord(word)
		shorter, longer := min(len(text), len(meant)), max(len(text), len(meant))
		if longer-shorter < wrong {
			if distance := Distance(text, meant); distance < wrong {
				wrong, nearest = distance, word
			}
		}
		if shorter > shared && (strings.Contains(meant, text) || strings.Contains(text, meant)) {
			shared, part = shorter, word
		}
	}
	return cmp.Or(nearest, part)
}

// KnownHint returns the Hint of a name that is not known: the known ones, and which of them or of
// others it may mean.
func KnownHint(name string, known []string, others ...string) string {
	hint := "; known are " + strings.Join(known, ", ")
	if nearest := Nearest(name, append(others, known...)...); nearest != "" {
		hint = "; the nearest one is " + nearest + hint
	}
	return hint
}

// plainWord returns a word in small letters without the signs between its parts.
func plainWord(word string) string {
	return wordSigns.Replace(strings.ToLower(word))
}

var wordSigns = strings.NewReplacer("_", "", "-", "", ".", "")

// Distance returns how many bytes must be added, removed or replaced to make b of a (the
// Levenshtein distance).
func Distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
