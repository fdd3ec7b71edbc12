package invoiceapi

import (
	"bytes"
	"encoding/base64"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"merchantorders/internal/strict"
	"merchantorders/internal/testenv"
)

// plainRead reads a body in the plainest way: all of it, then its JSON, then its
// base64. ReadUpload must have the same outcome.
func plainRead(body []byte) upload {
	if len(body) > MaxBody {
		return refused(ErrBodyTooBig)
	}
	var raw map[string]jsontext.Value
	compact := jsontext.Value(slices.Clone(body))
	if compact.Compact() != nil || json.Unmarshal(body, &raw) != nil || len(compact)-len(raw["contentBase64"]) > 128<<10 {
		return refused(strict.ErrInvalidPayload)
	}
	for name := range raw {
		if lower := strings.ToLower(strings.ReplaceAll(name, "ſ", "s")); (lower == "filename" || lower == "contentbase64") && name != "filename" && name != "contentBase64" {
			return refused(strict.ErrInvalidPayload)
		}
	}
	var form struct {
		Filename *string `json:"filename"`
		Content  *string `json:"contentBase64"`
	}
	if json.Unmarshal(body, &form) != nil || form.Filename == nil || *form.Filename == "" || form.Content == nil {
		return refused(strict.ErrInvalidPayload)
	}
	text := strings.NewReplacer("\r", "", "\n", "").Replace(*form.Content)
	content, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(content) == 0 {
		return refused(strict.ErrInvalidPayload)
	}
	return accepted(*form.Filename, string(content))
}

func FuzzReadUpload(f *testing.F) {
	for _, test := range bodyTests() {
		f.Add([]byte(test.text))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		want := plainRead(body)
		for name, reader := range map[string]io.Reader{
			"whole":                   bytes.NewReader(body),
			"single bytes":            iotest.OneByteReader(bytes.NewReader(body)),
			"halves":                  iotest.HalfReader(bytes.NewReader(body)),
			"end with the last bytes": iotest.DataErrReader(bytes.NewReader(body)),
		} {
			testenv.Equal(t, name, want, read(t, reader))
		}
	})
}

// FuzzReadUploadContent fuzzes the content alone, which FuzzReadUpload would rarely
// reach.
func FuzzReadUploadContent(f *testing.F) {
	for _, test := range base64Tests() {
		f.Add(test.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		body := `{"filename":"a.pdf","contentBase64":"` + text + `"}`
		want := plainRead([]byte(body))
		for name, reader := range map[string]io.Reader{
			"whole":        strings.NewReader(body),
			"single bytes": iotest.OneByteReader(strings.NewReader(body)),
		} {
			testenv.Equal(t, name, want, read(t, reader))
		}
	})
}
