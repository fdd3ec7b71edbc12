package console

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"merchantorders/internal/delivery/digest"
	"merchantorders/internal/delivery/webhook"
	"merchantorders/internal/order"
	"merchantorders/internal/token"
	"merchantorders/internal/web"
)

const (
	// auditPageSize is how many requests a page of the audit log shows.
	auditPageSize = 50
	// maxAuditEntries is how many entries it shows.
	maxAuditEntries = 500
)

// auditView is the data of the page of the audit log.
type auditView struct {
	Form             formView
	Actions          []string // that the form offers
	Today, Yesterday order.Day
	Entries          []order.AuditEntry
	Names            names
	GoesOn           bool   // the request of the page goes on on the next one
	Next             string // query of the next page; empty: there is none
}

// AuditActions are all actions of the audit log, sorted: those of the events of orders
// and webhooks, and those that are no events.
var AuditActions = func() []string {
	actions := slices.Clone(webhook.TypeNames)
	for _, action := range []order.AuditAction{
		order.AuditErased, order.AuditExported, order.InvoiceLinked, order.LinksRevoked,
		order.MerchantAdded, order.MerchantUpdated, order.MerchantSuspended, order.MerchantResumed,
		token.ActionCreated, token.ActionRotated, token.ActionRevoked, token.ActionLinkCreated, token.ActionSessionBegun, token.ActionSessionEnded,
		webhook.AuditAdded, webhook.AuditChanged, webhook.AuditRemoved, webhook.AuditSecretRotated, webhook.AuditReplayed,
		digest.AuditAdded, digest.AuditLink, digest.AuditNotSent, digest.AuditConfirmed, digest.AuditRemoved, digest.AuditEnded,
		digest.AuditFailed, digest.AuditFailing,
	} {
		actions = append(actions, string(action))
	}
	slices.Sort(actions)
	return actions
}()

// audit serves GET /operator/audit.
func (s *site) audit(w http.ResponseWriter, r *web.Request) error {
	values := r.URL.Query()
	form := newForm(values)
	query, err := s.readAudit(r, form)
	if err != nil {
		return err
	}
	today := order.DayOf(s.Orders.Now())
	view := auditView{Form: form, Actions: AuditActions, Today: today, Yesterday: today - 1}
	if action := form.Value("action"); action != "" && !slices.Contains(AuditActions, action) {
		view.Actions = append(slices.Clone(AuditActions), action)
	}
	if !form.valid() {
		return s.show(w, r, http.StatusBadRequest, "audit", view)
	}
	page, err := s.Audit.Page(r.Context(), query)
	if err != nil {
		return err
	}
	view.GoesOn = wholeRequests(&page)
	view.Entries = page.Entries
	by := append(web.Collect(view.Entries, entryCaller), web.Collect(view.Entries, entrySubject)...)
	if view.Names, err = s.namesOf(r, by); err != nil {
		return err
	}
	if page.Next != nil {
		values.Set("after", web.EncodeCursor("", page.Next.At.Unix(), page.Next.MerchantID, page.Next.Seq))
		view.Next = "?" + values.Encode()
	}
	return s.show(w, r, http.StatusOK, "audit", view)
}

// wholeRequests cuts a page after the last request that is whole and that it has room for. It
// reports whether the page has a part of one request only.
func wholeRequests(page *order.AuditPage) bool {
	var starts []int // of requests
	for i, e := range page.Entries {
		if i == 0 || senderOf(e) != senderOf(page.Entries[i-1]) {
			starts = append(starts, i)
		}
	}
	end := len(page.Entries)
	switch {
	case len(starts) > auditPageSize:
		end = starts[auditPageSize]
	case page.Next != nil && len(starts) > 1:
		end = starts[len(starts)-1]
	default:
		return page.Next != nil && end > 0
	}
	page.Entries = page.Entries[:end]
	last := page.Entries[end-1]
	page.Next = &order.AuditCursor{At: last.At, MerchantID: last.MerchantID, Seq: last.Seq}
	return false
}

// readAudit reads the filter of the audit log from a form and refuses what is wrong in
// it. Spaces around a value do not count.
func (s *site) readAudit(r *web.Request, form formView) (order.AuditQuery, error) {
	value := func(name string) string { return strings.TrimSpace(form.Value(name)) }
	query := order.AuditQuery{Limit: maxAuditEntries, Reference: value("reference"), Action: order.AuditAction(value("action"))}
	if text := value("merchant"); text != "" {
		query.MerchantID = new(int64)
		if text != "0" { // what belongs to no store
			var err error
			if *query.MerchantID, err = s.readStore(r, form); err != nil {
				return query, err
			}
		}
	}
	if text := value("token"); text != "" {
		id, ok := order.ParseID(text)
		if !ok || id == 0 {
			form.refuse("token", "problem.id")
		}
		query.TokenID = id
	}
	if !isLine(value("action")) {
		form.refuse("action", "problem.line")
	}
	if query.Reference != "" && !order.ValidReference(query.Reference) {
		form.refuse("reference", "problem.reference")
	}
	from, to := form.day("from", "problem.day"), form.day("to", "problem.day")
	if from != order.NoDay {
		query.From = from.Start()
	}
	if to != order.NoDay {
		query.To = (to + 1).Start()
	}
	if from != order.NoDay && to != order.NoDay && from > to {
		form.refuse("to", "filter.range")
	}
	var at int64
	var after order.AuditCursor
	if web.DecodeCursor(value("after"), "", &at, &after.MerchantID, &after.Seq) { // another text is the first page
		after.At = time.Unix(at, 0).UTC()
		query.After = &after
	}
	return query, nil
}
