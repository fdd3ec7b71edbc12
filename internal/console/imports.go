package console

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"

	"merchantorders/internal/ingest"
	"merchantorders/internal/order"
	"merchantorders/internal/strict"
	"merchantorders/internal/web"
)

// importsView is the data of the page that imports files with one item a line.
type importsView struct {
	Kind   string   // of the form that was sent: orders or changes; empty: none
	Form   formView // that was sent
	Result *importResult
}

// newImportForm returns the field of one of the forms.
func newImportForm(v importsView, kind string) fieldView {
	field := fieldView{Name: kind}
	if v.Kind == kind {
		field.Problem = v.Form.Problem("file")
	}
	return field
}

// imports serves GET /operator/imports.
func (s *site) imports(w http.ResponseWriter, r *web.Request) error {
	return s.showImports(w, r, http.StatusOK, importsView{Form: newForm(nil)})
}

func (s *site) showImports(w http.ResponseWriter, r *web.Request, status int, view importsView) error {
	if !r.Caller.Can(order.ScopeOrdersIngest) && !r.Caller.Can(order.ScopeOrdersTransition) {
		return web.ErrForbidden
	}
	return s.show(w, r, status, "imports", view)
}

// importOrders serves POST /operator/imports/orders: a file with an order document a
// line. The rules are those of the operator interface.
func (s *site) importOrders(w http.ResponseWriter, r *web.Request) error {
	return s.importFile(w, r, "orders", ingest.Documents(s.Orders.Prepare, s.Orders.Import, r.Caller))
}

// importChanges serves POST /operator/imports/changes: a file with a transition or a
// correction of an order a line.
func (s *site) importChanges(w http.ResponseWriter, r *web.Request) error {
	return s.importFile(w, r, "changes", ingest.Changes(s.Orders, r.Caller, ""))
}

// importFile handles the lines of the file of a form, and sends the page that shows the
// result. The file may have any length: it is not stored.
func (s *site) importFile(w http.ResponseWriter, r *web.Request, kind string, lines ingest.Lines) error {
	view, result := importsView{Kind: kind, Form: newForm(nil)}, &importResult{}
	stream, end := web.OpenBody(w, r)
	file, err := formFile(stream)
	if err == nil {
		result.Tally, err = lines.Run(stream.Context(), file, result.add)
	}
	stopping := errors.Is(context.Cause(stream.Context()), web.ErrStopping)
	end()
	switch {
	case errors.Is(err, errNoFile):
		view.Form.refuse("file", "imports.nofile")
	case errors.Is(err, strict.ErrInvalidPayload):
		return err
	case result.Last == 0 && errors.Is(err, ingest.ErrInput):
		view.Form.refuse("file", "imports.unreadable")
	case result.Last == 0 && err == nil:
		view.Form.refuse("file", "imports.empty")
	case result.Last == 0:
		return err
	case err != nil:
		s.Log.Warn("an import in the console ended early", "last_line", result.Last, "error", err)
		result.Problem = importProblem(err, stopping)
	}
	if !view.Form.valid() {
		return s.showImports(w, r, http.StatusUnprocessableEntity, view)
	}
	view.Result = result
	return s.showImports(w, r, http.StatusOK, view)
}

// importProblem returns the key of a message: why an import ended before the end of its
// file.
func importProblem(err error, stopping bool) string {
	switch {
	case stopping:
		return "imports.stopping"
	case errors.Is(err, ingest.ErrInput):
		return "imports.broken"
	case errors.Is(err, order.ErrUnavailable):
		return "imports.unavailable"
	}
	return "imports.failed"
}

// errNoFile is the error of a form in which no file was chosen.
var errNoFile = errors.New("no file is chosen")

// formFile returns the file of a form as it arrives, decompressed if it is compressed
// with gzip.
func formFile(stream *web.Stream) (io.Reader, error) {
	parts, err := web.FormParts(stream.Header.Get("Content-Type"), stream)
	if err != nil {
		return nil, err
	}
	for range maxParts {
		part, err := parts.NextPart()
		switch {
		case errors.Is(err, io.EOF):
			return nil, errNoFile
		case err != nil:
			return nil, strict.ErrInvalidPayload
		case part.FormName() == "file" && part.FileName() != "":
			return decompressed(part)
		}
	}
	return nil, errNoFile
}

// decompressed returns the content of a file that may be compressed with gzip.
func decompressed(file io.Reader) (io.Reader, error) {
	buffered := bufio.NewReader(file)
	magic, err := buffered.Peek(2)
	if err != nil || !bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		return buffered, nil // an error comes again with the next Read
	}
	content, err := gzip.NewReader(buffered)
	if err != nil {
		return nil, errors.Join(ingest.ErrInput, err)
	}
	return content, nil
}
