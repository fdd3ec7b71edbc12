package docstest

import (
	"encoding/json"
	"testing"

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
	testenv.Equal(t, "fields", []string{"a", "b.x", "b.y", "c.x", "c.y", "d", "e"}, Fields(whole{}))
}

func TestCode(t *testing.T) {
	t.Parallel()
	testenv.Equal(t, "code", []string{"a b", "c"}, Code("`a b`, and `c` of d"))
}

func TestCells(t *testing.T) {
	t.Parallel()
	testenv.Equal(t, "cells", []string{"a", "", "`b`"}, cells("| a | | `b` |"))
}
