package docstest

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/testenv"
)

func TestFields(t *testing.T) {
	t.Parallel()
	type part struct {
		X string          `json:"x"`
		Y json.RawMessage `json:"y,omitempty"`
	}
	type whole struct {
		A int    `json:"a"`
		B *part  `json:"b"`
		C []part `json:"c"`
		D any    `json:"d"`
		E []int  `json:"e"`
		F string `json:"-"`
	}
	want := []string{"a", "b.x", "b.y", "c.x", "c.y", "d", "e"}
	testenv.Equal(t, "fields", want, Fields(whole{}))
}

func TestCode(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff([]string{"a b", "c"}, Code("`a b`, and `c` of d")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCells(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff([]string{"a", "", "`b`"}, cells("| a | | `b` |")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
