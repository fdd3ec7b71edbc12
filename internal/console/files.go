package console

import (
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"

	"merchantorders/internal/order"
	"merchantorders/internal/strict"
	"merchantorders/internal/web"
)

const (
	// maxUploadForm is the largest form with files, in bytes: as many files as an
	// order may have, with room for what surrounds them.
	maxUploadForm = order.MaxInvoices*order.MaxInvoiceSize + 1<<20
	// maxField is the largest field of such a form that is not a file.
	maxField = 1 << 10
	// maxParts is how many parts such a form may have.
	maxParts = 16
)

// uploadResult is what became of one file of a form.
type uploadResult struct {
	Name    string
	Problem string // key of a message; empty: the file is stored
}

// uploadProblems are the refusals of a file and their messages.
var uploadProblems = []struct {
	err     error
	message string
}{
	{order.ErrUnsupportedFileType, "upload.type"},
	{order.ErrFileTooBig, "upload.big"},
	{order.ErrEmptyFile, "upload.empty"},
	{order.ErrTooManyFiles, "upload.many"},
	{order.ErrIdempotencyKeyInUse, "upload.running"},
}

// uploadFiles serves POST /orders/{reference}/files, a form with one or more files.
// Each file is an upload of its own: those that are refused do not affect the others.
func (s *site) uploadFiles(w http.ResponseWriter, r *web.Request) error {
	var results []uploadResult
	form, err := eachFile(r, maxParts, func(form url.Values, part *multipart.Part) error {
		data, problem := invoiceDataOf(form)
		if problem == "" && len(results) > 0 && data != (order.InvoiceData{}) {
			problem = "upload.one"
		}
		var err error
		if problem == "" {
			problem, err = s.uploadFile(r, form, part, r.PathValue("reference"), data)
		}
		if err == nil {
			results = append(results, uploadResult{part.FileName(), problem})
		}
		return err
	})
	if errors.Is(err, errFormTooLarge) {
		results, err = append(results, uploadResult{Problem: "upload.form"}), nil
	}
	if err != nil {
		return err
	}
	return s.uploaded(w, r, form, results)
}

// invoiceDataOf returns what a form says of its file, or the key of a message. A field that is
// empty was not filled in.
func invoiceDataOf(form url.Values) (data order.InvoiceData, problem string) {
	for _, name := range order.InvoiceFields {
		text := strings.TrimSpace(form.Get(name))
		if name == "mark" {
			text = strings.Join(strings.Fields(text), "") // people write long numbers in groups
		}
		if text != "" && data.Set(name, text) != "" {
			problem = "upload.data"
		}
	}
	return data, problem
}

// errFormTooLarge: a form is larger than maxUploadForm. Its first files are handled.
var errFormTooLarge = errors.New("the form is too large")

// eachFile calls a function for each file of a form of at most limit parts, with the fields
// before it, and returns all fields. Errors: those of fn, strict.ErrInvalidPayload,
// errFormTooLarge.
func eachFile(r *web.Request, limit int, fn func(form url.Values, part *multipart.Part) error) (url.Values, error) {
	web.ExtendUploadDeadline(r)
	body := &io.LimitedReader{R: r.Body, N: maxUploadForm}
	parts, err := web.FormParts(r.Header.Get("Content-Type"), body)
	if err != nil {
		return nil, err
	}
	form := make(url.Values)
	for range limit {
		var part *multipart.Part
		if part, err = parts.NextPart(); errors.Is(err, io.EOF) {
			return form, nil
		} else if err != nil {
			err = strict.ErrInvalidPayload
			break
		}
		if part.FileName() != "" {
			if err = fn(form, part); err != nil {
				break
			}
			continue
		}
		var value []byte
		if value, err = io.ReadAll(io.LimitReader(part, maxField)); err != nil {
			err = strict.ErrInvalidPayload
			break
		}
		if part.FormName() != "file" { // a form without a chosen file has an empty one
			form.Add(part.FormName(), string(value))
		}
	}
	if err == nil {
		err = strict.ErrInvalidPayload // too many parts
	}
	if body.N == 0 && errors.Is(err, strict.ErrInvalidPayload) {
		err = errFormTooLarge
	}
	return form, err
}

// uploadFile stores the file of a part with an order, or returns the key of a message: why not.
func (s *site) uploadFile(r *web.Request, form url.Values, part *multipart.Part, reference string, data order.InvoiceData) (problem string, err error) {
	content, err := order.StageContent(r.Context(), s.Orders.StageFile, part)
	if errors.Is(err, order.ErrContentUnread) {
		return "", strict.ErrInvalidPayload
	} else if err != nil {
		return "", err
	}
	defer content.Staged.Abort()
	content.InvoiceData = data
	if err := r.SetForm(form); err != nil {
		return "", err
	}
	name := part.FileName()
	o, err := s.Orders.Get(r.Context(), r.Caller.MerchantID, order.ByReference(reference))
	if err != nil {
		return "", err
	}
	for _, stored := range o.Invoices {
		if stored.Name == order.StoredName(name) && stored.SHA256 == content.SHA256 {
			return "", nil // the same file again
		}
	}
	// Each file of the form has a key of its own.
	options := web.FormOptions[order.WriteResult](r, name, string(content.SHA256[:]))
	_, err = s.Orders.Upload(r.Context(), r.Caller, order.ByReference(reference), name, content, options)
	err = replayed(err)
	for _, problem := range uploadProblems {
		if errors.Is(err, problem.err) {
			return problem.message, nil
		}
	}
	return "", err
}

// uploaded sends the browser to the page of the order, or of the next one without an invoice
// if the form asks for it, or shows which files were refused.
func (s *site) uploaded(w http.ResponseWriter, r *web.Request, form url.Values, results []uploadResult) error {
	if len(results) == 0 {
		results = []uploadResult{{Problem: "upload.none"}}
	}
	for _, result := range results {
		if result.Problem == "" {
			continue
		}
		view := orderView{Uploads: results}
		if results[0].Problem != "" { // no file has the fields yet
			view.File = newForm(form)
		}
		return s.showOrder(w, r, http.StatusBadRequest, view)
	}
	if form.Get("next") != "" {
		return s.toNextWithoutInvoice(w, r)
	}
	return s.toOrder(w, r, "uploaded")
}

// file serves GET /orders/{reference}/files/{name}: a stored file, to be shown. Its
// type is one of three that browsers do not run, whatever the content is.
func (s *site) file(w http.ResponseWriter, r *web.Request) error {
	merchantID := r.Caller.MerchantID
	if r.Caller.Operator() {
		merchantID = merchantOf(r)
	}
	invoice, file, err := s.Orders.OpenInvoice(r.Context(), merchantID, r.PathValue("reference"), r.PathValue("name"))
	if errors.Is(err, order.ErrInvoiceDamaged) {
		s.Metrics.DamagedFile()
	}
	if err != nil {
		return err
	}
	defer file.Close()
	mediaType, ok := order.ContentType(invoice.Name)
	if !ok {
		return order.ErrInvoiceNotFound // not reached: no other file is stored
	}
	h := w.Header()
	h.Set("Content-Type", mediaType)
	h.Set("Content-Disposition", mime.FormatMediaType("inline", map[string]string{"filename": invoice.Name}))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; img-src 'self'; style-src 'unsafe-inline'; object-src 'self'; frame-ancestors 'none'")
	h.Set("Cache-Control", "private, no-store")
	http.ServeContent(w, r.Request, "", invoice.CreatedAt, file)
	return nil
}

// hostOf returns the host of a link, which a person sees before the link is opened.
func hostOf(link string) string {
	u, err := url.Parse(link)
	if err != nil {
		return ""
	}
	return u.Host
}

// withdrawView is the data of the question before a file is withdrawn.
type withdrawView struct {
	Reference string
	Invoice   order.Invoice
}

// askWithdraw serves GET /orders/{reference}/withdraw/{id}.
func (s *site) askWithdraw(w http.ResponseWriter, r *web.Request) error {
	o, err := s.Orders.Get(r.Context(), r.Caller.MerchantID, order.ByReference(r.PathValue("reference")))
	if err != nil {
		return err
	}
	id, _ := order.ParseID(r.PathValue("id"))
	for _, invoice := range o.Invoices {
		if invoice.ID == id {
			return s.show(w, r, http.StatusOK, "withdraw", withdrawView{Reference: o.Reference, Invoice: invoice})
		}
	}
	return s.showOrder(w, r, http.StatusNotFound, orderView{Problem: "withdraw.gone"})
}

// withdraw serves POST /orders/{reference}/withdraw/{id}.
func (s *site) withdraw(w http.ResponseWriter, r *web.Request, form url.Values) error {
	reference := r.PathValue("reference")
	id, ok := order.ParseID(r.PathValue("id"))
	if !ok || id == 0 {
		return order.ErrInvoiceNotFound
	}
	options := web.FormOptions[order.WriteResult](r)
	_, err := s.Orders.DeleteInvoice(r.Context(), r.Caller, order.ByReference(reference), id, options)
	err = replayed(err)
	if errors.Is(err, order.ErrInvoiceNotFound) {
		return s.showOrder(w, r, http.StatusConflict, orderView{Problem: "withdraw.gone"})
	}
	if err != nil {
		return err
	}
	return s.toOrder(w, r, "withdrawn")
}
