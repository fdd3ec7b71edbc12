package console

import (
	"bytes"
	"fmt"
	"html/template"
	"regexp"

	"merchantorders/internal/pagetemplate"
)

// compared are templates that execute each page also with html/template.
type compared struct {
	*pagetemplate.Set
	source *template.Template
}

// formKeys are what differs from one rendering to the next.
var formKeys = regexp.MustCompile(`name="key" value="[A-Z2-7]{26}"`)

func (c compared) Append(buffer []byte, name string, data any) ([]byte, error) {
	got, err := c.Set.Append(buffer, name, data)
	if err != nil {
		return got, err
	}
	var want bytes.Buffer
	if err := c.source.ExecuteTemplate(&want, name, data); err != nil {
		return got, err
	}
	a, b := formKeys.ReplaceAll(got, nil), formKeys.ReplaceAll(want.Bytes(), nil)
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return nil, fmt.Errorf("%s: got\n%s\nwant\n%s", name, a[max(0, i-100):min(len(a), i+100)], b[max(0, i-100):min(len(b), i+100)])
		}
	}
	if len(a) != len(b) {
		return nil, fmt.Errorf("%s has %d bytes, want %d", name, len(a), len(b))
	}
	return got, nil
}

// In all tests of this package each page is compared with that of html/template.
func init() {
	compile = func(set *template.Template, functions pagetemplate.Functions, names ...string) (templates, error) {
		s, err := pagetemplate.Compile(set, functions, names...)
		return compared{s, set}, err
	}
}
