package invoiceapi

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/order"
)

// upload is what became of a body, in a form to compare.
type upload struct {
	Err      string // empty when it was read
	Filename string
	Size     int64
	SHA256   [32]byte
	Kept     string // the bytes in the draft
}

// refused is what becomes of a body that is refused.
func refused(err error) upload { return upload{Err: err.Error()} }

// accepted is what becomes of a body with content.
func accepted(filename, content string) upload {
	kept := content[:min(len(content), order.MaxInvoiceSize)]
	return upload{Filename: filename, Size: int64(len(content)), SHA256: sha256.Sum256([]byte(kept)), Kept: kept}
}

// read reads a body and checks what holds for every one: no more than one
// draft is opened, and it is discarded exactly when the body is refused.
func read(t *testing.T, body io.Reader) upload {
	t.Helper()
	store := &drafts{}
	filename, content, err := ReadUpload(body, store.open)
	if err != nil {
		if filename != "" || content != (order.Content{}) {
			t.Errorf("refused (%v) and yet returned: %q, %v", err, filename, content)
		}
		if store.opened != store.discarded {
			t.Errorf("refused (%v), %d drafts opened, %d discarded", err, store.opened, store.discarded)
		}
		return refused(err)
	}
	if store.opened != 1 || store.discarded != 0 || content.Staged != store.last {
		t.Errorf("read, %d drafts opened, %d discarded", store.opened, store.discarded)
	}
	return upload{Filename: filename, Size: content.Size, SHA256: content.SHA256, Kept: store.kept.String()}
}

func TestReadUpload(t *testing.T) {
	t.Parallel()
	payload, hello := refused(ErrPayload), accepted("a.pdf", "hello")
	deep := func(n int) string {
		return `{"x":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `,"filename":"a.pdf","contentBase64":"aGVsbG8="}`
	}
	tests := []struct {
		name, body string
		want       upload
	}{
		{"plain", `{"filename":"a.pdf","contentBase64":"aGVsbG8="}`, hello},
		{"content first", `{"contentBase64":"aGVsbG8=","filename":"a.pdf"}`, hello},
		{"white space", " \r\n\t{ \"filename\" : \"a.pdf\" ,\n\"contentBase64\"\t: \"aGVsbG8=\" } \n", hello},
		{"file name with escapes", `{"filename":"\u03c4\"\\\/\ud83e\uddfe.pdf","contentBase64":"aGVsbG8="}`, accepted("τ\"\\/🧾.pdf", "hello")},
		{"file name with NUL", `{"filename":"\u0000.pdf","contentBase64":"aGVsbG8="}`, accepted("\x00.pdf", "hello")},
		{"300 Greek letters", `{"filename":"` + strings.Repeat("τ", 300) + `","contentBase64":"aGVsbG8="}`, accepted(strings.Repeat("τ", 300), "hello")},
		{"one byte", `{"filename":"a.pdf","contentBase64":"AA=="}`, accepted("a.pdf", "\x00")},

		{"unknown members", `{"a":1,"filename":"a.pdf","b":{"filename":5,"contentBase64":"x","c":[{}]},"contentBase64":"aGVsbG8=","d":null}`, hello},
		{"members inside another", `{"x":{"filename":"a.pdf","contentBase64":"aGVsbG8="}}`, payload},
		{"content inside another", `{"filename":"a.pdf","x":{"contentBase64":"aGVsbG8="}}`, payload},
		{"content name as a value", `{"x":"contentBase64","filename":"a.pdf","y":["contentBase64","aGVs"],"contentBase64":"aGVsbG8="}`, hello},
		{"value after the content name as a value", `{"x":"contentBase64","filename":"a.pdf"}`, payload},
		{"unknown member that is no JSON", `{"filename":"a.pdf","contentBase64":"aGVsbG8=","x":tru}`, payload},
		{"unknown member with a number that is none", `{"filename":"a.pdf","contentBase64":"aGVsbG8=","x":01}`, payload},
		{"escaped name", `{"filename":"a.pdf","content\u0042ase64":"aGVsbG8="}`, hello},
		{"every letter of the name escaped", `{"\u0066\u0069\u006c\u0065\u006e\u0061\u006d\u0065":"a.pdf","\u0063\u006f\u006e\u0074\u0065\u006e\u0074\u0042\u0061\u0073\u0065\u0036\u0034":"aGVsbG8="}`, hello},
		{"longer name that begins so", `{"filename":"a.pdf","\u0063\u006f\u006e\u0074\u0065\u006e\u0074\u0042\u0061\u0073\u0065\u0036\u0034x":"aGVsbG8="}`, payload},
		{"longer name that begins so, before the content", `{"\u0063\u006f\u006e\u0074\u0065\u006e\u0074\u0042\u0061\u0073\u0065\u0036\u0034x":"?","filename":"a.pdf","contentBase64":"aGVsbG8="}`, hello},
		{"name in other letters", `{"filename":"a.pdf","contentbase64":"aGVsbG8="}`, payload},
		{"file name's name in capitals", `{"FILENAME":"a.pdf","contentBase64":"aGVsbG8="}`, payload},
		{"long s", `{"filename":"a.pdf","contentBa\u017fe64":"aGVsbG8="}`, payload},
		{"both spellings are one name", `{"filename":"a.pdf","contentBase64":"aGVsbG8=","content\u0042ase64":"aGVsbG8="}`, payload},

		{"content twice", `{"filename":"a.pdf","contentBase64":"aGVsbG8=","contentBase64":"aGVsbG8="}`, payload},
		{"content twice, first no text", `{"filename":"a.pdf","contentBase64":1,"contentBase64":"aGVsbG8="}`, payload},
		{"content twice, then empty", `{"filename":"a.pdf","contentBase64":"aGVsbG8=","contentBase64":""}`, payload},
		{"file name twice", `{"filename":"a.pdf","filename":"a.pdf","contentBase64":"aGVsbG8="}`, payload},
		{"unknown member twice", `{"x":1,"x":1,"filename":"a.pdf","contentBase64":"aGVsbG8="}`, payload},
		{"member twice inside another", `{"filename":"a.pdf","contentBase64":"aGVsbG8=","x":[{"y":1,"y":1}]}`, payload},

		{"no file name", `{"contentBase64":"aGVsbG8="}`, payload},
		{"empty file name", `{"filename":"","contentBase64":"aGVsbG8="}`, payload},
		{"file name null", `{"filename":null,"contentBase64":"aGVsbG8="}`, payload},
		{"file name a number", `{"filename":1,"contentBase64":"aGVsbG8="}`, payload},
		{"file name an array", `{"filename":["a.pdf"],"contentBase64":"aGVsbG8="}`, payload},
		{"no content", `{"filename":"a.pdf"}`, payload},
		{"empty content", `{"filename":"a.pdf","contentBase64":""}`, payload},
		{"content of line breaks", `{"filename":"a.pdf","contentBase64":"\n\r\n\r"}`, payload},
		{"content null", `{"filename":"a.pdf","contentBase64":null}`, payload},
		{"content a number", `{"filename":"a.pdf","contentBase64":12345678}`, payload},
		{"content an array", `{"filename":"a.pdf","contentBase64":["aGVsbG8="]}`, payload},
		{"content an object", `{"filename":"a.pdf","contentBase64":{"contentBase64":"aGVsbG8="}}`, payload},
		{"content true", `{"filename":"a.pdf","contentBase64":true}`, payload},

		{"empty body", ``, payload},
		{"white space only", "  \n", payload},
		{"empty object", `{}`, payload},
		{"null", `null`, payload},
		{"array", `[{"filename":"a.pdf","contentBase64":"aGVsbG8="}]`, payload},
		{"array of names", `["contentBase64","aGVsbG8=","filename","a.pdf"]`, payload},
		{"array with a colon", `["contentBase64":"aGVsbG8="]`, payload},
		{"text", `"{\"filename\":\"a.pdf\"}"`, payload},
		{"form", `filename=a.pdf&contentBase64=aGVsbG8%3D`, payload},
		{"byte order mark", "\ufeff" + `{"filename":"a.pdf","contentBase64":"aGVsbG8="}`, payload},
		{"text after", `{"filename":"a.pdf","contentBase64":"aGVsbG8="} x`, payload},
		{"object after", `{"filename":"a.pdf","contentBase64":"aGVsbG8="}{}`, payload},
		{"brace after", `{"filename":"a.pdf","contentBase64":"aGVsbG8="}}`, payload},
		{"NUL after", `{"filename":"a.pdf","contentBase64":"aGVsbG8="}` + "\x00", payload},
		{"no closing brace", `{"filename":"a.pdf","contentBase64":"aGVsbG8="`, payload},
		{"ends in the content", `{"filename":"a.pdf","contentBase64":"aGVsbG8=`, payload},
		{"ends in an escape", `{"filename":"a.pdf","contentBase64":"aGVsbG8=\u00`, payload},
		{"comma at the end", `{"filename":"a.pdf","contentBase64":"aGVsbG8=",}`, payload},
		{"no comma", `{"filename":"a.pdf" "contentBase64":"aGVsbG8="}`, payload},
		{"no colon", `{"filename":"a.pdf","contentBase64" "aGVsbG8="}`, payload},
		{"comma for colon", `{"filename":"a.pdf","contentBase64","aGVsbG8="}`, payload},
		{"two contents", `{"filename":"a.pdf","contentBase64":"aGVs" "bG8="}`, payload},
		{"single quotes", `{'filename':'a.pdf','contentBase64':'aGVsbG8='}`, payload},
		{"comment", `{"filename":"a.pdf",/**/"contentBase64":"aGVsbG8="}`, payload},
		{"closing bracket for brace", `{"filename":"a.pdf","contentBase64":"aGVsbG8="]`, payload},
		{"closed too often before", `}{"filename":"a.pdf","contentBase64":"aGVsbG8="}`, payload},
		{"nested as deep as may be", deep(9_999), hello},
		{"nested too deep", deep(10_000), payload},

		{"invalid UTF-8 in the file name", `{"filename":"` + "\xff" + `.pdf","contentBase64":"aGVsbG8="}`, payload},
		{"invalid UTF-8 in the content", `{"filename":"a.pdf","contentBase64":"aGVs` + "\xff" + `G8="}`, payload},
		{"invalid UTF-8 in an unknown member", `{"filename":"a.pdf","contentBase64":"aGVsbG8=","x":"` + "\xc3" + `"}`, payload},
		{"lone surrogate in the file name", `{"filename":"\ud83e.pdf","contentBase64":"aGVsbG8="}`, payload},
		{"lone surrogate in an unknown name", `{"filename":"a.pdf","contentBase64":"aGVsbG8=","\udc00":1}`, payload},
		{"control character in the file name", "{\"filename\":\"a\n.pdf\",\"contentBase64\":\"aGVsbG8=\"}", payload},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			wantRead(t, test.body, test.want)
		})
	}
}

// wantRead reads a body that comes whole and one that comes in bytes, and
// checks the expectation itself against the plain reading of it.
func wantRead(t *testing.T, body string, want upload) {
	t.Helper()
	if diff := cmp.Diff(want, plainRead([]byte(body))); diff != "" {
		t.Errorf("the expectation is wrong (-want +plain):\n%s", diff)
	}
	if diff := cmp.Diff(want, read(t, strings.NewReader(body))); diff != "" {
		t.Errorf("whole (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, read(t, iotest.OneByteReader(strings.NewReader(body)))); diff != "" {
		t.Errorf("in single bytes (-want +got):\n%s", diff)
	}
}

func TestReadUploadBrokenBody(t *testing.T) {
	t.Parallel()
	good := bodyOf(noise(100_000), asIs)
	broken := errors.New("connection reset")
	for _, cut := range []int{0, 1, 20, 40, 70_000, len(good) - 1, len(good)} {
		body := io.MultiReader(strings.NewReader(good[:cut]), iotest.ErrReader(broken))
		if diff := cmp.Diff(refused(ErrPayload), read(t, body)); diff != "" {
			t.Errorf("broken after %d bytes (-want +got):\n%s", cut, diff)
		}
	}
	tooBig := io.MultiReader(strings.NewReader(good), strings.NewReader(strings.Repeat(" ", MaxBody)), iotest.ErrReader(broken))
	if diff := cmp.Diff(refused(ErrBodyTooBig), read(t, tooBig)); diff != "" {
		t.Errorf("broken after the limit (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(refused(ErrPayload), read(t, stuckReader{})); diff != "" {
		t.Errorf("stuck (-want +got):\n%s", diff)
	}
}

// stuckReader gives nothing, and no error either.
type stuckReader struct{}

func (stuckReader) Read([]byte) (int, error) { return 0, nil }

func TestReadUploadDraftFaults(t *testing.T) {
	t.Parallel()
	large := bodyOf(noise(200_000), asIs)
	tests := []struct {
		name  string
		body  string
		store *drafts
		want  error
	}{
		{"cannot be opened", large, &drafts{openFault: syscall.ENOSPC}, syscall.ENOSPC},
		{"full at once", large, &drafts{room: 0, writeFault: syscall.ENOSPC}, syscall.ENOSPC},
		{"full later", large, &drafts{room: 100_000, writeFault: syscall.ENOSPC}, syscall.ENOSPC},
		{"short write", large, &drafts{room: 100_000, writeShort: true}, io.ErrShortWrite},
		{"cannot be opened for little", bodyOf([]byte("hello"), asIs), &drafts{openFault: syscall.ENOSPC}, syscall.ENOSPC},
		{"full for little", bodyOf([]byte("hello"), asIs), &drafts{writeFault: syscall.ENOSPC}, syscall.ENOSPC},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			filename, content, err := ReadUpload(strings.NewReader(test.body), test.store.open)
			if !errors.Is(err, test.want) || errors.Is(err, ErrPayload) || errors.Is(err, ErrBodyTooBig) {
				t.Errorf("error %v, want %v alone", err, test.want)
			}
			if filename != "" || content != (order.Content{}) {
				t.Errorf("returned %q, %v", filename, content)
			}
			if test.store.opened != test.store.discarded {
				t.Errorf("%d drafts opened, %d discarded", test.store.opened, test.store.discarded)
			}
		})
	}
}

// TestReadUploadOpensNothingInVain shows that bodies with nothing to keep do
// not even open a draft.
func TestReadUploadOpensNothingInVain(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		``, `{}`, `{"filename":"a.pdf"}`, `{"filename":"a.pdf","contentBase64":""}`,
		`{"contentBase64":"aGVsbG8="}`, `{"contentBase64":"aGVsbG8=","filename":"a.pdf"} x`, `{"contentBase64":"data:,","filename":"a.pdf"}`,
	} {
		store := &drafts{}
		if _, _, err := ReadUpload(strings.NewReader(body), store.open); !errors.Is(err, ErrPayload) {
			t.Errorf("%s: %v, want ErrPayload", body, err)
		}
		if store.opened != 0 {
			t.Errorf("%s: a draft was opened", body)
		}
	}
}

// drafts opens drafts that keep what is written, and counts them.
type drafts struct {
	openFault  error
	writeFault error // of what is written after room bytes
	writeShort bool  // the same, but no error
	room       int

	opened, discarded int
	last              order.StagedFile
	kept              bytes.Buffer
}

func (d *drafts) open() (order.StagedFile, error) {
	if d.openFault != nil {
		return nil, d.openFault
	}
	d.opened++
	d.last = &memoryDraft{store: d}
	return d.last, nil
}

// memoryDraft is a draft that no test publishes.
type memoryDraft struct {
	order.StagedFile
	store *drafts
}

func (m *memoryDraft) Write(p []byte) (int, error) {
	s := m.store
	if (s.writeFault != nil || s.writeShort) && s.kept.Len()+len(p) > s.room {
		n, _ := s.kept.Write(p[:max(s.room-s.kept.Len(), 0)])
		return n, s.writeFault
	}
	return s.kept.Write(p)
}

func (m *memoryDraft) Abort() { m.store.discarded++ }
