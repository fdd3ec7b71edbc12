package s3

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"merchantorders/internal/filestore/s3test"
	"merchantorders/internal/testenv"
)

// newObject returns an object of a bucket in memory, whose parts have up to 10 bytes.
func newObject(t *testing.T, memory http.Handler) *object {
	t.Helper()
	server := httptest.NewServer(memory)
	t.Cleanup(server.Close)
	opened := testenv.Of(OpenObject(Bucket{
		Name: "backups", Region: s3test.Region, Endpoint: server.URL, Credentials: Credentials{AccessKeyID: "key", SecretAccessKey: "secret"},
	}, "a.tar")).Must(t)
	o := opened.(*object)
	o.maxPart = 10
	return o
}

// TestObject writes objects of no, one and several parts, in pieces, and reads them.
func TestObject(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 9, 10, 11, 20, 1015} {
		memory := new(s3test.Memory)
		o := newObject(t, memory)
		content := bytes.Repeat([]byte("0123456"), 145)[:size]
		testenv.Of(o.Exists(t.Context())).Want(t, "exists", false)
		testenv.NoError(t, o.Write(t.Context(), func(w io.Writer) error {
			for rest := content; len(rest) > 0; {
				n := min(len(rest), 17)
				if _, err := w.Write(rest[:n]); err != nil {
					return err
				}
				rest = rest[n:]
			}
			return nil
		}))
		opened := testenv.Of(o.Open(t.Context())).Must(t)
		got, err := io.ReadAll(opened)
		if err := errors.Join(err, opened.Close()); err != nil || !bytes.Equal(got, content) {
			t.Errorf("%d bytes: read %q, %v", size, got, err)
		}
		testenv.Of(o.Exists(t.Context())).Want(t, "exists", true)
		testenv.Equal(t, "written again", fs.ErrExist, o.Write(t.Context(), func(w io.Writer) error { _, err := io.WriteString(w, "other"); return err }))
		if memory.Objects() != 1 || memory.Uploads() != 0 {
			t.Errorf("%d objects and %d uploads are left", memory.Objects(), memory.Uploads())
		}
	}
}

// TestObjectFails writes objects that fail in the middle, or that the bucket does not keep:
// nothing is left.
func TestObjectFails(t *testing.T) {
	t.Parallel()
	stop := errors.New("stop")
	for name, test := range map[string]struct {
		keep func([]byte) []byte
		etag string
		err  error // of the writer
		kept bool
	}{
		"a tag of its own": {nil, `"tag-3"`, nil, true},
		"nothing kept":     {func([]byte) []byte { return nil }, "", nil, false},
		"a part kept":      {func(content []byte) []byte { return content[10:] }, "", nil, false},
		"other bytes kept": {bytes.ToUpper, `"tag-3"`, nil, false},
		"a writer stops":   {nil, "", stop, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			memory := &s3test.Memory{Keep: test.keep, ETag: test.etag}
			o := newObject(t, memory)
			err := o.Write(t.Context(), func(w io.Writer) error {
				_, err := w.Write(bytes.Repeat([]byte("x"), 29))
				return errors.Join(err, test.err)
			})
			if (err == nil) != test.kept || test.err != nil && !errors.Is(err, test.err) || memory.Objects() > 0 != test.kept || memory.Uploads() != 0 {
				t.Errorf("%v; %d objects and %d uploads are left", err, memory.Objects(), memory.Uploads())
			}
		})
	}
}

// TestObjectOfServer writes an object of two parts to a real server, and reads it. Nothing
// replaces it, also not what began before it was there.
func TestObjectOfServer(t *testing.T) {
	t.Parallel()
	name, endpoint := s3test.Bucket(t)
	opened, err := OpenObject(Bucket{
		Name: name, Region: s3test.Region, Endpoint: endpoint, Credentials: Credentials{AccessKeyID: s3test.AccessKey, SecretAccessKey: s3test.SecretKey},
	}, "of/a server.tar")
	testenv.NoError(t, err)
	o := opened.(*object)
	o.maxPart = 5 << 20 // the least that servers take
	content := bytes.Repeat([]byte("0123456"), 1<<20)
	write := func(w io.Writer) error { _, err := w.Write(content); return err }
	err = o.Write(t.Context(), func(w io.Writer) error { return errors.Join(o.Write(t.Context(), write), write(w)) })
	testenv.Equal(t, "a second object", fs.ErrExist, err)
	read := testenv.Of(o.Open(t.Context())).Must(t)
	got, err := io.ReadAll(read)
	if err := errors.Join(err, read.Close()); err != nil || !bytes.Equal(got, content) {
		t.Errorf("read %d bytes, %v", len(got), err)
	}
	for upload := range o.store.client.ListIncompleteUploads(t.Context(), name, "", true) {
		t.Errorf("left: %+v", upload)
	}
}

// TestObjectIsRefused asks for an object with wrong settings: the error says what is wrong, which
// the response to HEAD does not.
func TestObjectIsRefused(t *testing.T) {
	t.Parallel()
	for code, status := range map[string]int{
		"NoSuchBucket": http.StatusNotFound, "AuthorizationHeaderMalformed": http.StatusBadRequest, "ExpiredToken": http.StatusBadRequest,
		"SignatureDoesNotMatch": http.StatusForbidden, "RequestTimeTooSkewed": http.StatusForbidden,
	} {
		o := newObject(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = fmt.Fprintf(w, "<Error><Code>%s</Code></Error>", code)
		}))
		if _, err := o.Exists(t.Context()); err == nil || !strings.Contains(err.Error(), explanations[code]) {
			t.Errorf("%s: error %v", code, err)
		}
	}
}
