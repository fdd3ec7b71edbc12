package docstest

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Same holds what a table of a document lists to what the code has, both in any
// order. what names them in the failure.
func Same(t testing.TB, what string, code, document []string) {
	t.Helper()
	code, document = slices.Sorted(slices.Values(code)), slices.Sorted(slices.Values(document))
	if diff := cmp.Diff(code, document); diff != "" {
		t.Errorf("%s (-code +document):\n%s", what, diff)
	}
}
