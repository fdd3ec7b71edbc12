package invoiceapi

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"mime"
	"mime/multipart"
	"slices"
	"strings"
	"unicode/utf8"

	"merchantorders/internal/order"
	"merchantorders/internal/strict"
	"merchantorders/internal/web"
)

// fileName is the name of the part of a form that is the file.
const fileName = "file"

// ReadForm is ReadUpload for a body that is a form with files (RFC 7578). Its part file is
// staged as it arrives. The digest is of what the form says, without the boundary between
// its parts, which a client that repeats the request chooses anew; nil: the body is no form.
func ReadForm(ctx context.Context, contentType string, body io.Reader, stage order.StageFunc) (filename string, content order.Content, digest hash.Hash, err error) {
	f := &form{body: &io.LimitedReader{R: body, N: MaxBody + 1}, digest: sha256.New()}
	broken := f.read(ctx, contentType, stage)
	if broken == nil || errors.Is(broken, strict.ErrInvalidPayload) {
		// A body that is too big is refused as such, whatever it is. So the rest is read.
		_, unread := io.Copy(io.Discard, f.body)
		switch {
		case f.body.N == 0:
			broken = ErrBodyTooBig
		case broken == nil && unread != nil:
			broken = errCut
		case broken == nil && f.other() > maxOther:
			broken = errOther
		}
	}
	if err = broken; err == nil {
		digest = f.digest
		switch {
		case f.refusal != nil:
			err = f.refusal
		case f.filename == "":
			err = strict.Detail(strict.ErrInvalidPayload, "The form has no part file: send the file under this name, as curl -F file=@invoice.pdf does.")
		case f.content.Size == 0:
			err = strict.Detail(strict.ErrInvalidPayload, "The file is empty: was it read before it was sent?")
		}
	}
	if err != nil {
		if f.content.Staged != nil {
			f.content.Staged.Abort()
		}
		return "", order.Content{}, digest, err
	}
	f.content.InvoiceData = f.data
	return f.filename, f.content, digest, nil
}

// form is an upload as the parts of a form.
type form struct {
	body      *io.LimitedReader
	fileBytes int64    // read of the part file
	seen      []string // names of the known parts
	filename  string
	content   order.Content
	data      order.InvoiceData
	refusal   error // what is wrong with a part; nil: nothing
	digest    hash.Hash
}

var (
	errCut   = strict.Detail(strict.ErrInvalidPayload, "The body has no end of a form with the boundary of its Content-Type: it is cut, compressed, has another boundary, or is no form.")
	errOther = strict.Detail(strict.ErrInvalidPayload, "The body may have 128 KiB beside the file.")
)

// other returns how many bytes of those read are not the file.
func (f *form) other() int64 { return MaxBody + 1 - f.body.N - f.fileBytes }

// readAhead is more than what a multipart.Reader reads ahead of its parts.
const readAhead = 16 << 10

// Read implements io.Reader for the whole body. It ends a body of which too much is not the
// file: headers and fields are held in memory. What it has read ahead may be the file.
func (f *form) Read(p []byte) (int, error) {
	if f.other() > maxOther+readAhead {
		return 0, errOther
	}
	return f.body.Read(p)
}

// read reads the parts. It returns strict.ErrInvalidPayload if they are not those of a form.
func (f *form) read(ctx context.Context, contentType string, stage order.StageFunc) error {
	parts, err := web.FormParts(contentType, f)
	if err != nil {
		return err
	}
	for {
		part, err := parts.NextRawPart()
		if err == nil {
			err = f.readPart(ctx, part, stage)
		}
		switch {
		case part == nil && errors.Is(err, io.EOF):
			return nil
		case (part == nil || errors.Is(err, errCut)) && f.other() > maxOther:
			return errOther
		case part == nil, errors.Is(err, order.ErrContentUnread):
			return errCut
		case err != nil:
			return err
		}
	}
}

// readPart reads a part. Of parts with unknown names it reads nothing.
func (f *form) readPart(ctx context.Context, part *multipart.Part, stage order.StageFunc) (err error) {
	name, filename := part.FormName(), fileNameOf(part)
	_, _ = fmt.Fprintf(f.digest, "%q %q\n", name, filename) // a hash never returns an error
	known := append([]string{fileName}, order.InvoiceFields...)
	if !slices.Contains(known, name) {
		f.refuse(strict.OtherLetters(name, known...))
		return nil
	}
	again := slices.Contains(f.seen, name)
	f.seen = append(f.seen, name)
	encoding := strings.ToLower(part.Header.Get("Content-Transfer-Encoding"))
	problem := ""
	switch {
	case again:
		problem = "is there twice: send one, and one file a request"
	case !slices.Contains(plainEncodings, encoding):
		problem = "has a Content-Transfer-Encoding: send the bytes as they are"
	case name != fileName:
		var text []byte
		if text, err = io.ReadAll(part); err != nil {
			return errCut
		}
		_, _ = fmt.Fprintf(f.digest, "%q\n", text)
		if problem = f.data.Set(name, string(text)); !utf8.Valid(text) {
			problem = "is not UTF-8"
		}
	case filename == "" && !strings.Contains(part.Header.Get("Content-Disposition"), "filename*"):
		problem = "has no file name: send it as a file, as curl -F file=@invoice.pdf does"
	case filename == "", !utf8.ValidString(filename), strings.HasPrefix(filename, "=?"):
		problem = "has a file name that is not UTF-8"
	default:
		f.filename = filename
		f.content, err = order.StageContent(ctx, stage, fileReader{part, f})
		_, _ = fmt.Fprintf(f.digest, "%d %x\n", f.content.Size, f.content.SHA256)
		return err
	}
	f.refuse(fieldProblem(name, problem))
	return nil
}

// fileNameOf returns the file name of a part, without a path, also if a library writes it as in e-mail (RFC 2047);
// empty: it has none, or one in another encoding than UTF-8.
func fileNameOf(part *multipart.Part) string {
	// Not part.FileName, which also cuts at a slash of base64.
	_, params, _ := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
	filename := params["filename"]
	if decoded, err := new(mime.WordDecoder).DecodeHeader(filename); err == nil {
		filename = decoded
	}
	return filename[strings.LastIndexByte(filename, '/')+1:]
}

// plainEncodings are those of parts that are sent as they are.
var plainEncodings = []string{"", "7bit", "8bit", "binary"}

// refuse remembers the first error of a part.
func (f *form) refuse(err error) {
	if f.refusal == nil {
		f.refusal = err
	}
}

// fileReader counts what is read of the part that is the file.
type fileReader struct {
	io.Reader
	form *form
}

// Read implements io.Reader.
func (r fileReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.form.fileBytes += int64(n)
	return n, err
}
