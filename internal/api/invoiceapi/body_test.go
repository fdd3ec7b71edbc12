package invoiceapi

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"

	"merchantorders/internal/order"
	"merchantorders/internal/strict"
	"merchantorders/internal/testenv"
)

// upload is the outcome of ReadUpload in a form to compare.
type upload struct {
	Err      string // empty: none
	Filename string
	Size     int64
	SHA256   [32]byte
	Staged   string // content of the staged file
	Data     order.InvoiceData
}

// refused is the outcome of a body that is refused.
func refused(err error) upload { return upload{Err: err.Error()} }

// accepted is the outcome of a body with content.
func accepted(filename, content string) upload {
	staged := content[:min(len(content), order.MaxInvoiceSize)]
	return upload{Filename: filename, Size: int64(len(content)), SHA256: sha256.Sum256([]byte(staged)), Staged: staged}
}

// read reads a body and checks what is true for every one: all staged files but
// that of accepted content are aborted.
func read(t *testing.T, body io.Reader) upload {
	t.Helper()
	files := &stagedFiles{}
	filename, content, err := ReadUpload(t.Context(), body, files.stage)
	if err != nil {
		if filename != "" || content != (order.Content{}) {
			t.Errorf("error %v, and yet returned: %q, %v", err, filename, content)
		}
		testenv.Equal(t, "aborted files", files.aborted, files.staged)
		return refused(err)
	}
	if files.staged != 2 || files.aborted != 1 || content.Staged != files.last {
		t.Errorf("%d files staged, %d aborted", files.staged, files.aborted)
	}
	return upload{Filename: filename, Size: content.Size, SHA256: content.SHA256, Staged: string(files.last.content)}
}

// readTest is a body, or a part of one, and what it is read as.
type readTest struct {
	name, text string
	want       upload
}

// bodyTests are bodies.
func bodyTests() []readTest {
	payload, hello := refused(strict.ErrInvalidPayload), accepted("a.pdf", "hello")
	deep := func(n int) string {
		return `{"x":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `,"filename":"a.pdf","contentBase64":"aGVsbG8="}`
	}
	return []readTest{
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
}

// Proves decision 5 (bodies, strict parsing), decision 6 (body, base64), spec 4.3.
func TestReadUpload(t *testing.T) {
	t.Parallel()
	for _, test := range bodyTests() {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			wantRead(t, test.text, test.want)
		})
	}
}

// wantRead reads a body that arrives at once and one that arrives byte by byte, and
// checks the expectation against plainRead.
func wantRead(t *testing.T, body string, want upload) {
	t.Helper()
	testenv.Equal(t, "the expectation is wrong", want, plainRead([]byte(body)))
	testenv.Equal(t, "whole", want, read(t, strings.NewReader(body)))
	testenv.Equal(t, "in single bytes", want, read(t, iotest.OneByteReader(strings.NewReader(body))))
}

func TestReadUploadBrokenBody(t *testing.T) {
	t.Parallel()
	good := bodyOf(noise(100_000), asIs)
	broken := errors.New("connection reset")
	for _, cut := range []int{0, 1, 20, 40, 70_000, len(good) - 1, len(good)} {
		body := io.MultiReader(strings.NewReader(good[:cut]), iotest.ErrReader(broken))
		testenv.Equal(t, fmt.Sprintf("broken after %d bytes", cut), refused(strict.ErrInvalidPayload), read(t, body))
	}
	tooBig := io.MultiReader(strings.NewReader(good), strings.NewReader(strings.Repeat(" ", MaxBody)), iotest.ErrReader(broken))
	testenv.Equal(t, "broken after the limit", refused(ErrBodyTooBig), read(t, tooBig))
	testenv.Equal(t, "stuck", refused(strict.ErrInvalidPayload), read(t, stuckReader{}))
}

// stuckReader returns neither bytes nor an error.
type stuckReader struct{}

func (stuckReader) Read([]byte) (int, error) { return 0, nil }

func TestReadUploadStagingFails(t *testing.T) {
	t.Parallel()
	large, little := bodyOf(noise(200_000), asIs), bodyOf([]byte("hello"), asIs)
	for _, test := range []struct {
		name  string
		body  string
		files *stagedFiles
		want  error
	}{
		{"body cannot be staged", large, &stagedFiles{stageErr: syscall.ENOSPC}, syscall.ENOSPC},
		{"content cannot be staged", large, &stagedFiles{stageErr: syscall.ENOSPC, stages: 1}, syscall.ENOSPC},
		{"full at once", large, &stagedFiles{writeErr: syscall.ENOSPC}, syscall.ENOSPC},
		{"full in the body", large, &stagedFiles{room: 100_000, writeErr: syscall.ENOSPC}, syscall.ENOSPC},
		{"full in the content", large, &stagedFiles{room: len(large) + 100_000, writeErr: syscall.ENOSPC}, syscall.ENOSPC},
		{"short write", large, &stagedFiles{room: 100_000, shortWrite: true}, io.ErrShortWrite},
		{"short write of the content", large, &stagedFiles{room: len(large) + 100_000, shortWrite: true}, io.ErrShortWrite},
		{"body cannot be read", large, &stagedFiles{readErr: syscall.EIO}, syscall.EIO},
		{"little cannot be staged", little, &stagedFiles{stageErr: syscall.ENOSPC}, syscall.ENOSPC},
		{"full for little", little, &stagedFiles{writeErr: syscall.ENOSPC}, syscall.ENOSPC},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			filename, content, err := ReadUpload(t.Context(), strings.NewReader(test.body), test.files.stage)
			if !errors.Is(err, test.want) || errors.Is(err, strict.ErrInvalidPayload) || errors.Is(err, ErrBodyTooBig) {
				t.Errorf("error %v, want %v alone", err, test.want)
			}
			testenv.Equal(t, "content of "+filename, order.Content{}, content)
			testenv.Equal(t, "aborted files", test.files.aborted, test.files.staged)
		})
	}
}

// TestReadUploadStagesNoInvalidContent checks that of a refused body nothing but
// the body itself is staged.
func TestReadUploadStagesNoInvalidContent(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		``, `{}`, `{"filename":"a.pdf"}`, `{"filename":"a.pdf","contentBase64":""}`,
		`{"contentBase64":"aGVsbG8="}`, `{"contentBase64":"aGVsbG8=","filename":"a.pdf"} x`, `{"contentBase64":"data:,","filename":"a.pdf"}`,
	} {
		files := &stagedFiles{}
		if _, _, err := ReadUpload(t.Context(), strings.NewReader(body), files.stage); !errors.Is(err, strict.ErrInvalidPayload) {
			t.Errorf("%s: %v, want strict.ErrInvalidPayload", body, err)
		}
		if files.staged != 1 || files.aborted != 1 {
			t.Errorf("%s: %d files staged, %d aborted", body, files.staged, files.aborted)
		}
	}
}

// TestReadUploadWaitsForDecoder checks that an upload whose client disconnects
// while it waits to be decoded ends.
func TestReadUploadWaitsForDecoder(t *testing.T) {
	for range cap(decoders) {
		release := testenv.Of(acquireDecoder(t.Context())).Must(t)
		defer release()
	}
	ctx, disconnect := context.WithCancel(t.Context())
	body := strings.NewReader(bodyOf([]byte("hello"), asIs))
	files := &stagedFiles{}
	done := make(chan error)
	go func() {
		_, _, err := ReadUpload(ctx, body, files.stage)
		done <- err
	}()
	disconnect()
	testenv.Equal(t, "error", context.Canceled, <-done)
	testenv.Equal(t, "aborted files", files.aborted, files.staged)
}

// stagedFiles stages files in memory and counts them.
type stagedFiles struct {
	stageErr   error // after stages files
	stages     int
	writeErr   error // after room bytes
	shortWrite bool  // the same without an error
	room       int
	readErr    error

	staged, aborted int
	last            *memoryFile
}

func (f *stagedFiles) stage(context.Context) (order.StagedFile, error) {
	if f.stageErr != nil && f.staged == f.stages {
		return nil, f.stageErr
	}
	f.staged++
	f.last = &memoryFile{files: f}
	return f.last, nil
}

// memoryFile is a staged file that no test commits.
type memoryFile struct {
	order.StagedFile
	files   *stagedFiles
	content []byte
}

func (m *memoryFile) Write(p []byte) (int, error) {
	f := m.files
	if (f.writeErr != nil || f.shortWrite) && len(p) > f.room {
		return f.room, f.writeErr
	}
	f.room -= len(p)
	m.content = append(m.content, p...)
	return len(p), nil
}

func (m *memoryFile) Content() (*io.SectionReader, error) {
	return io.NewSectionReader(bytes.NewReader(m.content), 0, int64(len(m.content))), m.files.readErr
}

func (m *memoryFile) Abort() { m.files.aborted++ }
