package invoiceapi

import (
	"encoding/base64"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"merchantorders/internal/order"
	"merchantorders/internal/strict"
	"merchantorders/internal/testenv"
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
	for _, test := range []struct {
		name  string
		wrap  func(string) string
		sizes []int
	}{
		{"as it is", asIs, all},
		{"lines of 76", linesOf(76, `\r\n`), all},
		{"lines of 64", linesOf(64, `\n`), small},
		{"lines of 61", linesOf(61, `\u000a`), small},
		{"slash escape", func(text string) string { return strings.ReplaceAll(text, "/", `\/`) }, all},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			for _, size := range test.sizes {
				content := noise(size)
				got := read(t, strings.NewReader(bodyOf(content, test.wrap)))
				// No diff here: it would be of megabytes.
				testenv.Equal(t, fmt.Sprintf("%d bytes", size), accepted("a.pdf", string(content)), got)
			}
		})
	}
}

func TestReadUploadBodyLimit(t *testing.T) {
	t.Parallel()
	hello := accepted("a.pdf", "hello")
	// Spaces between before and after make each body as long as needed.
	for name, test := range map[string]struct {
		before, after string
		good          bool
	}{
		"space after":         {`{"filename":"a.pdf","contentBase64":"aGVsbG8="}`, "", true},
		"space in the object": {`{"filename":"a.pdf",`, `"contentBase64":"aGVsbG8="}`, true},
		"an unknown member":   {`{"x":"`, `","filename":"a.pdf","contentBase64":"aGVsbG8="}`, false},
		"no JSON":             {"x", "", false},
		"no base64":           {`{"filename":"a.pdf","contentBase64":"`, `"}`, false},
		"text after":          {`{"filename":"a.pdf","contentBase64":"aGVsbG8="}x`, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fits := test.before + strings.Repeat(" ", MaxBody-len(test.before)-len(test.after)) + test.after
			want := refused(strict.ErrInvalidPayload)
			if test.good {
				want = hello
			}
			testenv.Equal(t, "11 MiB", want, read(t, strings.NewReader(fits)))
			over := test.before + " " + fits[len(test.before):]
			testenv.Equal(t, "11 MiB and a byte", refused(ErrBodyTooBig), read(t, strings.NewReader(over)))
		})
	}
}

// TestReadUploadOther checks the bound on what is neither content nor white space,
// to the byte, wherever it stands.
// Proves decision 6 (128 KiB besides the content).
func TestReadUploadOther(t *testing.T) {
	t.Parallel()
	const start, end = `{"contentBase64":"`, `","filename":"a.pdf"`
	for name, test := range map[string]struct{ before, after string }{
		"a string":               {`,"x":"`, `"}`},
		"a name":                 {`,"`, `":1}`},
		"the file name":          {`,"x":{"filename":"`, `"}}`},
		"a number":               {`,"x":[{},[],1`, `]}`},
		"strings and separators": {`,"x":[{"y":"", "z" : [null , true]}, "`, "\"]\n}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rest := start + end + test.before + test.after
			compact := jsontext.Value(rest)
			testenv.NoError(t, compact.Compact())
			// The content's quotes do not count.
			fill := 128<<10 - len(compact) + len(`""`)
			wantRead(t, start+"aGVsbG8="+end+test.before+strings.Repeat("1", fill)+test.after, accepted("a.pdf", "hello"))
			wantRead(t, start+"aGVsbG8="+end+test.before+strings.Repeat("1", fill+1)+test.after, refused(strict.ErrInvalidPayload))
		})
	}
}

// TestReadUploadManyNames checks that a body full of names costs no more memory
// than an upload. It is not parallel, because it counts all allocations.
// Proves decision 6 (128 KiB besides the content).
func TestReadUploadManyNames(t *testing.T) {
	var flat, nested strings.Builder
	for i := 0; flat.Len() < MaxBody-100; i++ {
		flat.WriteString(`"` + strconv.FormatInt(int64(i), 36) + `":1,`)
		nested.WriteString(`{"` + strconv.FormatInt(int64(i), 36) + `":1},`)
	}
	nestedText := nested.String()[:MaxBody-100]
	for name, body := range map[string]string{
		"flat":     `{` + flat.String() + `"filename":"a.pdf","contentBase64":"aGVsbG8="}`,
		"in value": `{"filename":"a.pdf","contentBase64":"aGVsbG8=","x":{` + flat.String() + `"":1}}`,
		"nested":   `{"filename":"a.pdf","contentBase64":"aGVsbG8=","x":[` + nestedText[:strings.LastIndex(nestedText, ",")] + `]}`,
		"deep":     `{"filename":"a.pdf","contentBase64":"aGVsbG8=","x":` + strings.Repeat(`{"x":`, 9_000) + "1" + strings.Repeat(`}`, 9_000) + "}",
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got := read(t, strings.NewReader(body))
		runtime.ReadMemStats(&after)
		if name != "deep" && got != refused(strict.ErrInvalidPayload) {
			t.Errorf("%s: read %+v", name, got)
		}
		// The staged file of the test grows in memory, and the body is read from there.
		if used := after.TotalAlloc - before.TotalAlloc; used > 8*MaxBody {
			t.Errorf("%s: %d MiB for a body of %d MiB", name, used>>20, len(body)>>20)
		}
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
			testenv.Equal(t, "result", refused(ErrBodyTooBig), read(t, io.MultiReader(strings.NewReader(start), endless)))
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
