package client_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"merchantorders/client"
	"merchantorders/internal/testenv"
)

// received is the body of an upload.
type received struct {
	Filename      string
	ContentBase64 []byte
	length        int64 // as announced
	read          int
}

// uploads starts a service that records uploads and refuses the first ones.
func uploads(t *testing.T, refuse int, options ...client.Option) (*fake, func() []received) {
	t.Helper()
	var mu sync.Mutex
	var all []received
	f := newFake(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		got := received{length: r.ContentLength, read: len(body)}
		if err := json.Unmarshal(body, &got); err != nil || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("body %.100q: %v; header %v", body, err, r.Header)
		}
		mu.Lock()
		defer mu.Unlock()
		all = append(all, got)
		if len(all) <= refuse {
			response(w, 503, flat("Not now."))
			return
		}
		response(w, 200, goodUploaded)
	}, options...)
	return f, func() []received { mu.Lock(); defer mu.Unlock(); return all }
}

// onlyReader hides all methods but Read.
type onlyReader struct{ io.Reader }

func TestUploadContent(t *testing.T) {
	t.Parallel()
	big := bytes.Repeat([]byte("0123456789abcdef"), client.MaxInvoiceSize/16)
	file := filepath.Join(t.TempDir(), "a.pdf")
	testenv.NoError(t, os.WriteFile(file, append([]byte("skip"), big[:100_000]...), 0o600))
	opened := testenv.Of(os.Open(file)).Must(t)
	t.Cleanup(func() { _ = opened.Close() })
	testenv.Of(opened.Seek(4, io.SeekStart)).Must(t)
	pipe, pipeWriter, err := os.Pipe()
	testenv.NoError(t, err)
	t.Cleanup(func() { _ = pipe.Close() })
	go func() { _, _ = pipeWriter.Write(big[:50_000]); _ = pipeWriter.Close() }()
	for name, test := range map[string]struct {
		content io.Reader
		want    []byte
	}{
		"one byte":            {strings.NewReader("x"), []byte("x")},
		"two bytes":           {strings.NewReader("xy"), []byte("xy")},
		"three bytes":         {strings.NewReader("xyz"), []byte("xyz")},
		"none":                {strings.NewReader(""), []byte{}},
		"a piece":             {bytes.NewReader(big[:24<<10]), big[:24<<10]},
		"a piece and one":     {bytes.NewReader(big[:24<<10+1]), big[:24<<10+1]},
		"the largest":         {bytes.NewReader(big), big},
		"a file":              {opened, big[:100_000]},
		"a pipe":              {pipe, big[:50_000]},
		"a slow reader":       {onlyReader{iotest.OneByteReader(bytes.NewReader(big[:1000]))}, big[:1000]},
		"a buffer":            {bytes.NewBuffer(big[:1000]), big[:1000]},
		"largest, unseekable": {onlyReader{bytes.NewReader(big)}, big},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, all := uploads(t, 2)
			name := "τιμή \"1\"\\\n.pdf"
			testenv.Of(f.client.UploadInvoice(t.Context(), "SF-1", name, test.content)).Must(t)
			got := all()
			if len(got) != 3 {
				t.Fatalf("sent %d times", len(got))
			}
			for _, one := range got {
				if one.Filename != name || !bytes.Equal(one.ContentBase64, test.want) || one.length != int64(one.read) {
					t.Errorf("name %q, %d bytes, want %d; length %d of %d", one.Filename, len(one.ContentBase64), len(test.want), one.length, one.read)
				}
			}
		})
	}
}

func TestUploadTooBig(t *testing.T) {
	t.Parallel()
	f, all := uploads(t, 0)
	big := make([]byte, client.MaxInvoiceSize+1)
	for _, content := range []io.Reader{bytes.NewReader(big), onlyReader{bytes.NewReader(big)}} {
		_, err := f.client.UploadInvoice(t.Context(), "SF-1", "a.pdf", content)
		testenv.Equal(t, "status", 0, wantKind(t, err, client.ErrFileTooBig).Status)
	}
	testenv.Equal(t, "requests", 0, len(all()))
}

// brokenSeeker reports a larger size than it can read.
type brokenSeeker struct {
	*bytes.Reader
	err error
}

func (s brokenSeeker) Read(p []byte) (int, error) {
	if s.Len() < 1000 {
		return 0, s.err
	}
	return s.Reader.Read(p[:min(len(p), 100)])
}

// TestUploadReaderFails checks that an error of the caller's reader is returned and
// not retried.
func TestUploadReaderFails(t *testing.T) {
	t.Parallel()
	errDisk := errors.New("disk on fire")
	f, all := uploads(t, 0)
	for name, content := range map[string]io.Reader{
		"seekable":   brokenSeeker{bytes.NewReader(make([]byte, 100_000)), errDisk},
		"unseekable": onlyReader{iotest.ErrReader(errDisk)},
	} {
		_, err := f.client.UploadInvoice(t.Context(), "SF-1", "a.pdf", content)
		e := wantKind(t, err, nil)
		if !errors.Is(e, errDisk) || e.Tries > 1 || !strings.Contains(e.Message, "disk on fire") {
			t.Errorf("%s: %+v", name, e)
		}
	}
	testenv.Equal(t, "complete bodies", 0, len(all()))
}

// TestUploadEndsReading checks that an early response ends the call and that the
// content is not read afterwards, which the race detector would report.
func TestUploadEndsReading(t *testing.T) {
	t.Parallel()
	f := newFake(t, always(400, flat("The file type is not supported.")))
	content := make([]byte, client.MaxInvoiceSize)
	for range 3 {
		reader := bytes.NewReader(content)
		_, err := f.client.UploadInvoice(t.Context(), "SF-1", "a.txt", reader)
		wantKind(t, err, client.ErrFileType)
		reader.Reset(content) // the caller's again
		content[0]++
	}
}

func TestDownload(t *testing.T) {
	t.Parallel()
	var length int
	f := newFake(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/storage/gone.pdf":
			response(w, 404, flat("The invoice was not found."))
		case "/storage/bucket.pdf":
			w.Header().Set("Content-Type", "application/xml")
			w.WriteHeader(http.StatusNotFound)
		case "/storage/locked.pdf":
			w.WriteHeader(http.StatusForbidden)
		case "/storage/zipped.pdf":
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = io.WriteString(w, "zipped")
		default:
			w.Header().Set("Content-Type", "application/pdf")
			_, _ = w.Write(make([]byte, length))
		}
	})
	get := func(c *client.Client, name string) (client.File, error) {
		return c.DownloadInvoice(t.Context(), client.Invoice{ID: 7, URL: f.URL + "/storage/" + name})
	}
	for _, length = range []int{0, 1, client.MaxInvoiceSize} {
		file, err := get(f.client, "%CF%84%20a.pdf")
		if err != nil || file.Name != "τ a.pdf" || file.MediaType != "application/pdf" || len(file.Content) != length {
			t.Errorf("%d bytes: %q, %q, %d, %v", length, file.Name, file.MediaType, len(file.Content), err)
		}
	}
	length = client.MaxInvoiceSize + 1
	for name, kind := range map[string]error{
		"big.pdf": client.ErrResponse, "zipped.pdf": client.ErrResponse, "gone.pdf": client.ErrInvoiceNotFound, "bucket.pdf": client.ErrInvoiceNotFound,
	} {
		_, err := get(f.client, name)
		wantKind(t, err, kind)
	}
	elsewhere, err := client.New("http://127.0.0.1:1", secret)
	testenv.NoError(t, err)
	_, err = get(elsewhere, "locked.pdf")
	testenv.Contains(t, "error", wantKind(t, err, client.ErrForbidden).Message, "the client did not send the token")
}

// TestUploadCutInTheBody breaks the connection while the content is sent.
func TestUploadCutInTheBody(t *testing.T) {
	t.Parallel()
	content := bytes.Repeat([]byte("invoice "), 100_000)
	var n int
	var got []byte
	f := newFake(t, func(w http.ResponseWriter, r *http.Request) {
		if n++; n < 4 {
			_, _ = io.CopyN(io.Discard, r.Body, int64(n)*100_000)
			panic(http.ErrAbortHandler)
		}
		var body struct{ ContentBase64 string }
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		got, _ = base64.StdEncoding.DecodeString(body.ContentBase64)
		response(w, 200, goodUploaded)
	})
	testenv.Of(f.client.UploadInvoice(context.Background(), "SF-1", "a.pdf", bytes.NewReader(content))).Must(t)
	testenv.Equal(t, "what arrived", content, got)
}
