package operator

import (
	"encoding/hex"
	"net/http"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/strict"
	"merchantorders/internal/web"
)

// auditEntryView is an entry of the audit log.
type auditEntryView struct {
	MerchantID     *int64  `json:"merchantId"` // nil: of no merchant
	Seq            int64   `json:"seq"`
	At             string  `json:"at"`
	Action         string  `json:"action"`
	Actor          string  `json:"actor"`
	TokenID        *int64  `json:"tokenId"`
	RequestID      *string `json:"requestId"`
	Address        *string `json:"address"`
	OrderID        *int64  `json:"orderId"`
	OrderReference *string `json:"orderReference"`
	SubjectID      *int64  `json:"subjectId"`
	Detail         string  `json:"detail"`
	Hash           string  `json:"hash"` // hexadecimal
}

type auditView struct {
	Entries []auditEntryView `json:"entries"`
	Next    *string          `json:"next"` // cursor of the next page; nil: there is none
}

func newAuditEntryView(e order.AuditEntry) auditEntryView {
	return auditEntryView{
		MerchantID: web.NonZero(e.MerchantID), Seq: e.Seq, At: web.TimeText(e.At),
		Action: string(e.Action), Actor: e.By.Actor.String(),
		TokenID: web.NonZero(e.By.TokenID), RequestID: web.NonZero(e.By.RequestID), Address: web.NonZero(e.By.Address),
		OrderID: web.NonZero(e.LegacyID), OrderReference: web.NonZero(e.Reference), SubjectID: web.NonZero(e.SubjectID),
		Detail: e.Detail, Hash: hex.EncodeToString(e.Hash[:]),
	}
}

// listAudit serves GET /audit: a page as JSON, or all entries as NDJSON.
func (a API) listAudit(w http.ResponseWriter, r *web.Request) error {
	query, err := parseAuditQuery(r)
	if err != nil {
		return err
	}
	if acceptsLines(r) {
		return writeLines(w, r, a.Audit.Entries(r.Context(), query),
			func(e order.AuditEntry) (auditEntryView, error) { return newAuditEntryView(e), nil })
	}
	page, err := a.Audit.Page(r.Context(), query)
	if err != nil {
		return err
	}
	view := auditView{Entries: web.Collect(page.Entries, newAuditEntryView)}
	if page.Next != nil {
		view.Next = new(web.EncodeCursor("", page.Next.At.Unix(), page.Next.MerchantID, page.Next.Seq))
	}
	return web.WriteJSON(w, http.StatusOK, view)
}

// maxAction is the length of the longest value of the parameter action.
const maxAction = 64

// parseAuditQuery parses the query of GET /audit. The days from and to are both inclusive.
// Every error is a *strict.ParamError.
func parseAuditQuery(r *web.Request) (order.AuditQuery, error) {
	query := web.ParseQuery(r)
	var q order.AuditQuery
	const none = -1
	if merchant := query.Int("merchantId", none, 0, strict.MaxInt); merchant != none {
		q.MerchantID = &merchant
	}
	q.TokenID = query.Int("tokenId", 0, 1, strict.MaxInt)
	q.Limit = query.Limit(order.DefaultAuditLimit, order.MaxAuditLimit)
	if q.Reference = query.Text("orderReference"); q.Reference != "" && !order.ByReference(q.Reference).Valid() {
		query.Refuse("orderReference", "is not the reference of an order")
	}
	action := query.Text("action")
	if q.Action = order.AuditAction(action); len(action) > maxAction {
		query.Refuse("action", "is not an action such as order.created")
	}
	from, to := query.Days("from", "to")
	if from != order.NoDay {
		q.From = from.Start()
	}
	if to != order.NoDay {
		q.To = to.End().Add(time.Second)
	}
	var at int64
	var after order.AuditCursor
	if query.Cursor("", &at, &after.MerchantID, &after.Seq) {
		after.At = time.Unix(at, 0).UTC()
		q.After = &after
	}
	return q, query.Err()
}
