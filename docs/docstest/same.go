package docstest

import (
	"slices"
	"strings"
	"testing"

	"merchantorders/internal/testenv"
)

// Same fails the test if a document does not list exactly what the code has, in
// any order. what names the things in the failure.
func Same(t testing.TB, what string, code, document []string) {
	t.Helper()
	code, document = slices.Sorted(slices.Values(code)), slices.Sorted(slices.Values(document))
	testenv.Equal(t, what, code, document)
}

// SameErrors fails the test if the tables below a heading of a document do not list
// exactly the errors of the code, each with its cause. An error is the
// text of its cells up to there, such as "404 not_found ...".
func SameErrors(t testing.TB, file, heading string, code []string) {
	t.Helper()
	var document []string
	for _, row := range Rows(t, file, heading) {
		shown, cause := row[:len(row)-1], row[len(row)-1]
		if cause == "" {
			t.Errorf("%s has no cause", strings.Join(shown, " "))
		}
		for i, cell := range shown {
			if texts := Code(cell); len(texts) > 0 {
				shown[i] = strings.Join(texts, " ")
			}
		}
		document = append(document, strings.Join(shown, " "))
	}
	Same(t, "errors", code, document)
}
