package e2e

import (
	"crypto/sha256"
	"encoding/base64"
	"io"
	"strings"
	"sync"
	"testing"

	"merchantorders/internal/testenv"
)

// maxSize is the largest content, in bytes (spec 8).
const maxSize = 4_000_000

// wrapped breaks base64 into lines of 76 letters, as many encoders do.
func wrapped(content string) string {
	var out strings.Builder
	for len(content) > 76 {
		out.WriteString(content[:76] + `\r\n`)
		content = content[76:]
	}
	return out.String() + content
}

// blocks is a content one byte over the limit in which every part differs.
var blocks = sync.OnceValue(func() string {
	var out strings.Builder
	block := sha256.Sum256(nil)
	for out.Len() <= maxSize {
		out.Write(block[:])
		block = sha256.Sum256(block[:])
	}
	return out.String()[:maxSize+1]
})

// encodedBlocks is the base64 of blocks, and encodedLargest that of the largest
// content, which is blocks but for the last byte.
var (
	encodedBlocks  = sync.OnceValue(func() string { return base64.StdEncoding.EncodeToString([]byte(blocks())) })
	encodedLargest = sync.OnceValue(func() string { return base64.StdEncoding.EncodeToString([]byte(blocks()[:maxSize])) })
)

// TestUploadSize has the limit of 4,000,000 bytes, measured after decoding
// (spec 4.3, 8).
// Proves decision 6 (type, content), spec 8.
func TestUploadSize(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, s *service) {
		inEachVersion(t, func(t *testing.T, v version) {
			o, largest := s.addOne(t), blocks()[:maxSize]
			e := s.stored(t, v.uploadBase64(o, "largest.pdf", encodedLargest()))
			if got := s.do(t, get(s.path(t, e.url))).ok(t); got != largest {
				t.Errorf("the largest file comes back with %d other bytes", len(got))
			}
			e = s.stored(t, v.uploadBase64(o, "lines.pdf", wrapped(encodedLargest())))
			if got := s.do(t, get(s.path(t, e.url))).ok(t); got != largest {
				t.Errorf("the largest file in lines comes back with %d other bytes", len(got))
			}
			s.do(t, v.uploadBase64(o, "over.pdf", wrapped(encodedBlocks()))).wantRefusal(t, v, sizeTooBig, o)
			s.do(t, v.uploadBase64(o, "far-over.pdf", encodedLargest()[:2_000_000]+encodedLargest())).wantRefusal(t, v, sizeTooBig, o)
			testenv.Equal(t, "entries of the order", 2, len(s.entries(t, o)))
		})
	})
}

// maxBody is the largest body of an upload (decision 6).
const maxBody = 11 << 20

// TestUploadBodySize has the limit of 11 MiB on the whole body: it comes before
// every other check but the token's, with a length given and without, and the
// client gets to read the response. Of it 128 KiB may stand beside the content.
// Proves decision 6 (size of the body; 128 KiB besides the content).
func TestUploadBodySize(t *testing.T) {
	onSQLite(t, func(t *testing.T, s *service) {
		inEachVersion(t, func(t *testing.T, v version) {
			o, missing := s.addOne(t), placed{number: 1, reference: "missing"}
			full := v.uploadBase64(o, "a.pdf", encodedLargest()).body
			other := `{"x":"` + strings.Repeat("x", 120<<10) + `",`
			full = other + full[1:] + strings.Repeat(" ", maxBody-len(full)-len(other)+1)
			s.stored(t, post(v.invoices(o), full))
			over, garbage := full+" ", strings.Repeat("x", maxBody+1)
			streamed := func(o placed, body string) request {
				return request{method: "POST", path: v.invoices(o), stream: io.MultiReader(strings.NewReader(body))}
			}
			tests := []struct {
				name string
				r    request
				o    placed
				want refusal
			}{
				{"one byte more", post(v.invoices(o), over), o, sizeTooBig},
				{"without a length", streamed(o, over), o, sizeTooBig},
				{"not JSON", post(v.invoices(o), garbage), o, sizeTooBig},
				{"not JSON, without a length", streamed(o, garbage), o, sizeTooBig},
				{"missing order", post(v.invoices(missing), over), missing, sizeTooBig},
				{"not JSON for a missing order, without a length", streamed(missing, garbage), missing, sizeTooBig},
				{"twice the size", post(v.invoices(o), full+full), o, sizeTooBig},
				{"no token", post(v.invoices(o), over).as(noAuth), o, unauthorized},
				{"no token, without a length", streamed(o, garbage).as(noAuth), o, unauthorized},
				{"wrong type", v.uploadBase64(o, "a.exe", garbage), o, sizeTooBig},
				{"128 KiB beside the content", post(v.invoices(o), strings.Replace(full, `"x"`, `"`+strings.Repeat("y", 8<<10)+`"`, 1)[:maxBody]), o, invalidPayload},
			}
			for _, test := range tests {
				t.Run(test.name, func(t *testing.T) {
					s.do(t, test.r).wantRefusal(t, v, test.want, test.o)
				})
			}
			testenv.Equal(t, "entries of the order", 1, len(s.entries(t, o)))
		})
	})
}

// TestUploadChecks has the order of checks of an upload: token,
// body, order, condition, extension, size, count. If a request has two faults, the response names
// the earlier one.
// Proves decision 5 (v2 files, one form), decision 6 (order of checks), decision 6 (type,
// content), spec 4.1, spec 4.2.
func TestUploadChecks(t *testing.T) {
	onSQLite(t, func(t *testing.T, s *service) {
		readOnly := s.newToken(t, "orders:read", "orders:write")
		inEachVersion(t, func(t *testing.T, v version) {
			full, free := s.addOne(t), s.addOne(t)
			missing := placed{number: 999_999_999, reference: "missing"}
			for range 3 {
				s.uploaded(t, v, full, "a.pdf", "x")
			}
			tests := []struct {
				name string
				r    request
				o    placed
				want refusal
			}{
				{"token before body", post(v.invoices(free), "garbage").as(noAuth), free, unauthorized},
				{"scope before body", post(v.invoices(free), "garbage").by(readOnly), free, forbidden},
				{"scope before order", v.upload(missing, "a.pdf", "x").by(readOnly), missing, forbidden},
				{"body before order", v.uploadBase64(missing, "a.pdf", "*"), missing, invalidPayload},
				{"body before extension", v.uploadBase64(free, "a.exe", "*"), free, invalidPayload},
				{"body before count", v.uploadBase64(full, "a.pdf", ""), full, invalidPayload},
				{"order before extension", v.upload(missing, "a.exe", "x"), missing, uploadOrderNotFound},
				{"order before size", v.uploadBase64(missing, "a.pdf", encodedBlocks()), missing, uploadOrderNotFound},
				{"order before condition", v.upload(missing, "a.pdf", "x").with("If-Match", `"a"`), missing, uploadOrderNotFound},
				{"condition before extension", v.upload(free, "a.exe", "x").with("If-Match", `"a"`), free, preconditionFailed},
				{"condition before size", v.uploadBase64(free, "a.pdf", encodedBlocks()).with("If-Match", `"a"`), free, preconditionFailed},
				{"order", v.upload(missing, "a.pdf", "x"), missing, uploadOrderNotFound},
				{"extension of a folder", v.upload(free, "a.pdf/", "x"), free, typeNotSupported},
				{"extension after a NUL", v.upload(free, "a.pdf\x00.html", "x"), free, typeNotSupported},
				{"extension before size", v.uploadBase64(free, "a.exe", encodedBlocks()), free, typeNotSupported},
				{"extension before count", v.upload(full, "a.exe", "x"), full, typeNotSupported},
				{"size before count", v.uploadBase64(full, "a.pdf", encodedBlocks()), full, sizeTooBig},
				{"count", v.upload(full, "a.pdf", "x"), full, tooManyFiles},
			}
			for _, test := range tests {
				t.Run(test.name, func(t *testing.T) {
					s.do(t, test.r).wantRefusal(t, v, test.want, test.o)
				})
			}
			testenv.Equal(t, "entries after all of them", 0, len(s.entries(t, free)))
		})
	})
}
