package invoiceapi

import (
	"encoding/base64"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/order"
)

// bodyOf returns a valid body with content. wrap transforms its base64.
func bodyOf(content []byte, wrap func(string) string) string {
	return `{"filename":"a.pdf","contentBase64":"` + wrap(base64.StdEncoding.EncodeToString(content)) + `"}`
}

// asIs transforms nothing.
func asIs(text string) string { return text }

// linesOf returns a transformation into lines of n characters.
func linesOf(n int, lineBreak string) func(string) string {
	return func(text string) string {
		var b strings.Builder
		for len(text) > n {
			b.WriteString(text[:n] + lineBreak)
			text = text[n:]
		}
		return b.String() + text + lineBreak
	}
}

// noise returns n random bytes, always the same.
func noise(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{byte(n)}).Read(b)
	return b
}

func TestReadUploadSizes(t *testing.T) {
	t.Parallel()
	small := []int{1, 24_574, 24_575, 24_576, 24_577, 49_151, 49_152, 49_153, 100_000}
	all := append(slices.Clone(small), order.MaxInvoiceSize, order.MaxInvoiceSize+1)
	tests := []struct {
		name  string
		wrap  func(string) string
		sizes []int
	}{
		{"as it is", asIs, all},
		{"lines of 76", linesOf(76, `\r\n`), all},
		{"lines of 64", linesOf(64, `\n`), small},
		{"lines of 61", linesOf(61, `\u000a`), small},
		{"slash escape", func(text string) string { return strings.ReplaceAll(text, "/", `\/`) }, small},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			for _, size := range test.sizes {
				content := noise(size)
				got := read(t, strings.NewReader(bodyOf(content, test.wrap)))
				// No diff here: it would be of megabytes.
				if want := accepted("a.pdf", string(content)); got != want {
					t.Errorf("%d bytes: read %d, staged %d, err %q", size, got.Size, len(got.Staged), got.Err)
				}
			}
		})
	}
}

func TestReadUploadBodyLimit(t *testing.T) {
	t.Parallel()
	hello := accepted("a.pdf", "hello")
	// Spaces between before and after make each body as long as needed.
	grow := map[string]struct {
		before, after string
		good          bool
	}{
		"space after":         {`{"filename":"a.pdf","contentBase64":"aGVsbG8="}`, "", true},
		"space in the object": {`{"filename":"a.pdf",`, `"contentBase64":"aGVsbG8="}`, true},
		"an unknown member":   {`{"x":"`, `","filename":"a.pdf","contentBase64":"aGVsbG8="}`, true},
		"no JSON":             {"x", "", false},
		"no base64":           {`{"filename":"a.pdf","contentBase64":"`, `"}`, false},
		"text after":          {`{"filename":"a.pdf","contentBase64":"aGVsbG8="}x`, "", false},
	}
	for name, test := range grow {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fits := test.before + strings.Repeat(" ", MaxBody-len(test.before)-len(test.after)) + test.after
			want := refused(ErrPayload)
			if test.good {
				want = hello
			}
			if diff := cmp.Diff(want, read(t, strings.NewReader(fits))); diff != "" {
				t.Errorf("8 MiB (-want +got):\n%s", diff)
			}
			over := test.before + " " + fits[len(test.before):]
			if diff := cmp.Diff(refused(ErrBodyTooBig), read(t, strings.NewReader(over))); diff != "" {
				t.Errorf("8 MiB and a byte (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadUploadContentUpToTheBodyLimit(t *testing.T) {
	t.Parallel()
	frame := len(bodyOf(nil, asIs))
	largest := noise((MaxBody - frame) / 4 * 3)
	if got, want := read(t, strings.NewReader(bodyOf(largest, asIs))), accepted("a.pdf", string(largest)); got != want {
		t.Errorf("read %d, staged %d, err %q, want %d", got.Size, len(got.Staged), got.Err, want.Size)
	}
	over := bodyOf(append(largest, noise(3)...), asIs)
	if diff := cmp.Diff(refused(ErrBodyTooBig), read(t, strings.NewReader(over))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestReadUploadEndless checks that a body is not read far beyond the limit.
func TestReadUploadEndless(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]string{
		"in the content":         `{"filename":"a.pdf","contentBase64":"`,
		"in the file name":       `{"filename":"`,
		"after an error in JSON": `{]`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			endless := &endlessReader{}
			got := read(t, io.MultiReader(strings.NewReader(start), endless))
			if diff := cmp.Diff(refused(ErrBodyTooBig), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if endless.read > MaxBody+1 {
				t.Errorf("%d bytes were read", endless.read)
			}
		})
	}
}

// endlessReader returns the letter A forever.
type endlessReader struct{ read int64 }

func (r *endlessReader) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'A'
	}
	r.read += int64(len(p))
	return len(p), nil
}
