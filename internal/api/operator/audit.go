package operator

import (
	"encoding/hex"
	"net/http"
	"time"

	"merchantorders/internal/order"
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
		Action: string(e.Action), Actor: e.Actor.String(),
		TokenID: web.NonZero(e.Source.TokenID), RequestID: web.NonZero(e.Source.RequestID), Address: web.NonZero(e.Source.Address),
		OrderID: web.NonZero(e.LegacyID), OrderReference: web.NonZero(e.Reference), SubjectID: web.NonZero(e.SubjectID),
		Detail: e.Detail, Hash: hex.EncodeToString(e.Hash[:]),
	}
}

// listAudit serves GET /audit: a page as JSON, or all entries as NDJSON.
func (a API) listAudit(w http.ResponseWriter, r *http.Request) error {
	query, err := parseAuditQuery(r)
	if err != nil {
		return err
	}
	if acceptsLines(r) {
		return writeLines(w, r, a.Orders.AuditEntries(r.Context(), query),
			func(e order.AuditEntry) (auditEntryView, error) { return newAuditEntryView(e), nil })
	}
	page, err := a.Orders.AuditLog(r.Context(), query)
	if err != nil {
		return err
	}
	view := auditView{Entries: make([]auditEntryView, 0, len(page.Entries))}
	for _, e := range page.Entries {
		view.Entries = append(view.Entries, newAuditEntryView(e))
	}
	if page.Next != nil {
		next := auditCursor(*page.Next)
		view.Next = &next
	}
	return web.WriteJSON(w, http.StatusOK, view)
}

// maxAction is the length of the longest value of the parameter action.
const maxAction = 64

// parseAuditQuery parses the query of GET /audit. Every error is a *web.ParamError.
func parseAuditQuery(r *http.Request) (order.AuditQuery, error) {
	query, err := web.ParseQuery(r)
	if err != nil {
		return order.AuditQuery{}, err
	}
	// A misspelled filter would show everything.
	if err := query.Allow("merchantId", "orderReference", "tokenId", "action", "from", "to", "limit", "cursor"); err != nil {
		return order.AuditQuery{}, err
	}
	var q order.AuditQuery
	const none = -1
	merchant, err := query.Int("merchantId", none, 0, web.MaxInt)
	if err != nil {
		return order.AuditQuery{}, err
	}
	if merchant != none {
		q.MerchantID = &merchant
	}
	if q.TokenID, err = query.Int("tokenId", 0, 1, web.MaxInt); err != nil {
		return order.AuditQuery{}, err
	}
	limit, err := query.Int("limit", order.DefaultAuditLimit, 1, order.MaxAuditLimit)
	if err != nil {
		return order.AuditQuery{}, err
	}
	q.Limit = int(limit)
	if q.Reference, err = query.Text("orderReference"); err == nil && q.Reference != "" && !order.ByReference(q.Reference).Valid() {
		err = &web.ParamError{Name: "orderReference", Problem: "is not the reference of an order"}
	}
	if err != nil {
		return order.AuditQuery{}, err
	}
	action, err := query.Text("action")
	if err == nil && len(action) > maxAction {
		err = &web.ParamError{Name: "action", Problem: "is not an action such as order.created"}
	}
	if err != nil {
		return order.AuditQuery{}, err
	}
	q.Action = order.AuditAction(action)
	if err := parseAuditTimes(query, &q); err != nil {
		return order.AuditQuery{}, err
	}
	return q, readAuditCursor(query, &q)
}

// parseAuditTimes parses the days from and to, both inclusive.
func parseAuditTimes(query web.Query, q *order.AuditQuery) error {
	from, err := query.Day("from")
	if err != nil {
		return err
	}
	to, err := query.Day("to")
	if err != nil {
		return err
	}
	if from != order.NoDay {
		q.From = from.Start()
	}
	if to != order.NoDay {
		q.To = to.End().Add(time.Second)
	}
	if from != order.NoDay && to != order.NoDay && from > to {
		return &web.ParamError{Name: "from", Problem: "is after to"}
	}
	return nil
}

// auditCursor returns the text of a cursor.
func auditCursor(c order.AuditCursor) string {
	return web.EncodeCursor("", c.At.Unix(), c.MerchantID, c.Seq)
}

// readAuditCursor sets the cursor of a query.
func readAuditCursor(query web.Query, q *order.AuditQuery) error {
	text, err := query.Text("cursor")
	if err != nil || text == "" {
		return err
	}
	var at int64
	var after order.AuditCursor
	if !web.DecodeCursor(text, "", &at, &after.MerchantID, &after.Seq) {
		return errCursor
	}
	after.At = time.Unix(at, 0).UTC()
	q.After = &after
	return nil
}

// errCursor is the error of a cursor that is valid for no list.
var errCursor = &web.ParamError{Name: "cursor", Problem: "is not valid; start again from the first page"}
