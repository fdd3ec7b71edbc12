package order

import (
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Limits of invoice files (spec 8).
const (
	MaxInvoices     = 3         // active files of an order
	MaxInvoicesEver = 100       // files of an order in all, deleted ones included (decision 6)
	MaxInvoiceSize  = 4_000_000 // bytes, decoded
	// MaxNameLength is the longest stored file name in bytes, its extension
	// and any "-1" included (decision 6).
	MaxNameLength = 200
)

// Invoice is one stored invoice file.
type Invoice struct {
	ID        int64  // unique in the service, positive
	Name      string // stored name, unique in its order, also among deleted files
	Size      int64  // bytes
	SHA256    [32]byte
	CreatedAt time.Time // when it was uploaded
	InvoiceData
}

// InvoiceData is what a merchant says of the document in an invoice file. Nothing compares it
// with the content. An empty text was not given.
type InvoiceData struct {
	Kind   string // one of InvoiceKinds; not given: an invoice
	Number string // of the document, in the merchant's books
	Mark   string // the tax authority's id of the document, digits
	Link   string // where the document is too, such as at the provider that has issued it
}

// InvoiceKinds are the kinds of documents.
var InvoiceKinds = []string{"invoice", "credit-note", "receipt"}

// Limits of InvoiceData.
const (
	MaxInvoiceNumber = 64   // characters
	MaxInvoiceMark   = 20   // digits
	MaxInvoiceLink   = 1000 // bytes
)

// InvoiceFields are the names of the fields of InvoiceData in version 2.
var InvoiceFields = []string{"kind", "number", "mark", "link"}

// Set sets the field with a name that is one of InvoiceFields. It returns what is wrong with the
// text, as a phrase that follows the name; empty: nothing.
func (d *InvoiceData) Set(name, text string) (problem string) {
	if strings.TrimSpace(text) == "" {
		return "must not be empty: leave it out"
	}
	switch name {
	case "kind":
		d.Kind = text
		if !slices.Contains(InvoiceKinds, text) {
			return "must be one of " + strings.Join(InvoiceKinds, ", ")
		}
	case "number":
		d.Number = text
		return LineProblem(text, MaxInvoiceNumber, Characters)
	case "mark":
		d.Mark = text
		if len(text) > MaxInvoiceMark || strings.Trim(text, "0123456789") != "" {
			return "must be 1 to " + strconv.Itoa(MaxInvoiceMark) + " digits"
		}
	case "link":
		d.Link = text
		u, err := url.Parse(text)
		if err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil || len(text) > MaxInvoiceLink ||
			strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' || r == '\\' }) {
			return "must begin with https://, in printable ASCII of at most " + strconv.Itoa(MaxInvoiceLink) + " bytes, without spaces, backslashes, user name and password"
		}
	}
	return ""
}

// InvoiceNumbers returns the numbers and marks of invoices, one a line, by which people search
// for an order.
func InvoiceNumbers(invoices []Invoice) string {
	var lines []string
	for _, i := range invoices {
		lines = append(lines, i.Number, i.Mark)
	}
	return strings.Join(slices.DeleteFunc(lines, func(line string) bool { return line == "" }), "\n")
}

// InvoiceFolder is the folder of all invoice files in the storage.
const InvoiceFolder = "invoices"

// InvoicePath returns the path of an invoice file, relative to the storage
// address in URLs and to the root of the storage (spec 2.1). It is not
// percent-encoded.
func InvoicePath(reference, name string) string { return InvoiceFolder + "/" + reference + "/" + name }

// contentTypes has the allowed extensions (spec 4.3) in lower case.
var contentTypes = map[string]string{
	".pdf":  "application/pdf",
	".png":  "image/png",
	".jpeg": "image/jpeg",
	".jpg":  "image/jpeg",
}

// ContentType returns the media type for the extension of a stored name, and
// whether the extension is allowed. Letter case does not matter. Only the
// extension decides (decision 6).
func ContentType(name string) (mediaType string, allowed bool) {
	mediaType, allowed = contentTypes[strings.ToLower(path.Ext(name))]
	return mediaType, allowed
}

// StoredName derives the stored name from the file name in a request: the last
// path element (after / and \), without control characters, at most
// MaxNameLength bytes with its extension (decision 6).
func StoredName(filename string) string {
	if cut := strings.LastIndexAny(filename, `/\`); cut >= 0 {
		filename = filename[cut+1:]
	}
	filename = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, filename)
	return joinName(filename, "")
}

// FreeName returns name if it is not used. Otherwise it puts the first of
// -1, -2, ... before the extension that gives an unused name.
func FreeName(name string, used func(string) (bool, error)) (string, error) {
	free := name
	for n := 1; ; n++ {
		taken, err := used(free)
		if err != nil || !taken {
			return free, err
		}
		free = joinName(name, "-"+strconv.Itoa(n))
	}
}

// joinName puts a suffix before the extension of name and shortens the base so
// that the result fits. It also shortens an extension that leaves no room, which
// is not an allowed one.
func joinName(name, suffix string) string {
	ext := path.Ext(name)
	base := strings.TrimSuffix(name, ext)
	ext = shorten(ext, MaxNameLength-len(suffix))
	return shorten(base, MaxNameLength-len(suffix)-len(ext)) + suffix + ext
}

// shorten cuts text to at most room bytes, between two characters.
func shorten(text string, room int) string {
	if len(text) <= room {
		return text
	}
	for room > 0 && !utf8.RuneStart(text[room]) {
		room--
	}
	return text[:room]
}
