package docstest

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Same fails the test if a document does not list exactly what the code has, in
// any order. what names the things in the failure.
func Same(t testing.TB, what string, code, document []string) {
	t.Helper()
	code, document = slices.Sorted(slices.Values(code)), slices.Sorted(slices.Values(document))
	if diff := cmp.Diff(code, document); diff != "" {
		t.Errorf("%s (-code +document):\n%s", what, diff)
	}
}
