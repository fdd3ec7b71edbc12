package web_test

import (
	"fmt"
	"math"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"merchantorders/internal/testenv"
	"merchantorders/internal/web"
)

func TestWriteJSON(t *testing.T) {
	t.Parallel()
	recorder := httptest.NewRecorder()
	value := map[string]any{"text": "<b>&'\u2028Ω\xff"}
	testenv.NoError(t, web.WriteJSON(recorder, 418, value))
	if got, want := recorder.Body.String(), "{\"text\":\"<b>&'\\u2028Ω\\ufffd\"}\n"; recorder.Code != 418 || got != want {
		t.Errorf("status %d, body %q, want %q", recorder.Code, got, want)
	}
	testenv.Equal(t, fmt.Sprintf("Content-Length for %d bytes", recorder.Body.Len()), strconv.Itoa(recorder.Body.Len()), recorder.Header().Get("Content-Length"))
}

func TestWriteJSONFails(t *testing.T) {
	t.Parallel()
	recorder := httptest.NewRecorder()
	if err := web.WriteJSON(recorder, 200, []any{"half", math.NaN()}); err == nil {
		t.Error("no error")
	}
	if recorder.Body.Len() > 0 || len(recorder.Header()) > 0 {
		t.Errorf("written: %q, %v", recorder.Body, recorder.Header())
	}
	// Nothing of the failed value remains in the pooled buffer.
	recorder = httptest.NewRecorder()
	if err := web.WriteJSON(recorder, 200, "whole"); err != nil || recorder.Body.String() != "\"whole\"\n" {
		t.Errorf("%q, error %v", recorder.Body, err)
	}
}

func TestWriteJSONOfManySizes(t *testing.T) {
	t.Parallel()
	for _, size := range []int{300 << 10, 10, 2 << 20, 0} {
		recorder := httptest.NewRecorder()
		if err := web.WriteJSON(recorder, 200, strings.Repeat("a", size)); err != nil || recorder.Body.Len() != size+3 {
			t.Errorf("%d letters: %d bytes, error %v", size, recorder.Body.Len(), err)
		}
	}
}
