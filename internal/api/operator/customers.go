package operator

import (
	"encoding/hex"
	"encoding/json"
	"net/http"

	"merchantorders/internal/ingest"
	"merchantorders/internal/order"
	"merchantorders/internal/strict"
	"merchantorders/internal/web"
)

// erasedView is the response to an erasure.
type erasedView struct {
	Success bool  `json:"success"`
	Orders  int64 `json:"orders"`
	Files   int64 `json:"files"`
	More    bool  `json:"more"` // more orders follow: send the request again
}

func respondErased(e order.Erasure) web.Response {
	return web.Response{Status: http.StatusOK, Body: erasedView{Success: true, Orders: e.Orders, Files: e.Files, More: e.More}}
}

// eraseCustomer serves POST /customers/erase.
func (a API) eraseCustomer(r *web.Request) (web.Response, error) {
	body := web.ReadObject(r, "email", "merchantId", "orderReference", "files")
	target := parseEraseTarget(body)
	if err := body.Err(); err != nil {
		return web.Response{}, err
	}
	erased, err := a.Retention.Erase(r.Context(), r.Caller, target, web.Options(r, respondErased))
	return respondErased(erased), err
}

// parseEraseTarget parses the body of POST /customers/erase. It has either "email", or
// "merchantId" and "orderReference".
func parseEraseTarget(body *strict.Body) order.EraseTarget {
	var target order.EraseTarget
	if body.Has("files") {
		target.Files = body.Bool("files")
	}
	if body.Has("email") {
		if body.Has("merchantId") || body.Has("orderReference") {
			body.Refuse("email", "must not be given together with an order")
		}
		target.Email = parseEmail(body)
		return target
	}
	if !body.Has("merchantId") && !body.Has("orderReference") {
		body.Refuse("email", "is required, or merchantId and orderReference")
	}
	target.MerchantID = body.Int("merchantId", 1, strict.MaxInt)
	target.Reference = body.Valid("orderReference", order.ValidReference, "must be the reference of an order")
	return target
}

// parseEmail returns the e-mail address of a body. The error does not repeat it.
func parseEmail(body *strict.Body) string {
	return body.Valid("email", order.ValidEmail, "must be an e-mail address")
}

// exportCustomer serves POST /customers/export: everything about a customer as NDJSON.
// It is a POST so that the address of the customer is in no URL and in no log.
func (a API) exportCustomer(w http.ResponseWriter, r *web.Request) error {
	body := web.ReadObject(r, "email")
	email := parseEmail(body)
	if err := body.Err(); err != nil {
		return err
	}
	return writeLines(w, r, a.Retention.CustomerData(r.Context(), r.Caller, email), NewCustomerOrder)
}

// CustomerOrder is what the service stores about an order of a customer.
type CustomerOrder struct {
	MerchantName string          `json:"merchantName"`
	Order        json.RawMessage `json:"order"` // an order document
	Files        []customerFile  `json:"files"`
	Events       []customerEvent `json:"events"`
}

type customerFile struct {
	ID        int64  `json:"id"`
	Filename  string `json:"filename"`
	Size      int64  `json:"size"`
	SHA256    string `json:"sha256"`
	CreatedAt string `json:"createdAt"`
	Kind      string `json:"kind,omitempty"`
	Number    string `json:"number,omitempty"`
	Mark      string `json:"mark,omitempty"`
	Link      string `json:"link,omitempty"`
}

type customerEvent struct {
	Seq      int64   `json:"seq"`
	At       string  `json:"at"`
	Type     string  `json:"type"`
	Actor    string  `json:"actor"`
	From     *string `json:"from"`
	To       *string `json:"to"`
	Reason   *string `json:"reason"`
	Filename *string `json:"filename"`
}

// NewCustomerOrder returns the view of a record.
func NewCustomerOrder(record order.CustomerRecord) (CustomerOrder, error) {
	document, err := ingest.Encode(&record.Order)
	files := web.Collect(record.Order.Invoices, func(f order.Invoice) customerFile {
		return customerFile{
			ID: f.ID, Filename: f.Name, Size: f.Size, SHA256: hex.EncodeToString(f.SHA256[:]), CreatedAt: web.TimeText(f.CreatedAt),
			Kind: f.Kind, Number: f.Number, Mark: f.Mark, Link: f.Link,
		}
	})
	return CustomerOrder{record.Order.MerchantName, document, files, web.Collect(record.Events, newCustomerEvent)}, err
}

func newCustomerEvent(e order.EventRecord) customerEvent {
	event := customerEvent{
		Seq: e.Seq, At: web.TimeText(e.At), Type: e.Type.String(), Actor: e.By.Actor.String(),
		Reason: web.NonZero(string(e.Reason)), Filename: web.NonZero(e.FileName),
	}
	if e.From.Valid() {
		event.From = web.NonZero(e.From.String())
	}
	if e.To.Valid() {
		event.To = web.NonZero(e.To.String())
	}
	return event
}
