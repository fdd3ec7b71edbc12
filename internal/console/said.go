package console

import (
	"slices"
	"strings"

	"merchantorders/internal/order"
)

// requestView is what one request did, as people read it, of entries of the audit log that
// follow each other.
type requestView struct {
	order.AuditEntry // the newest one
	Who              string
	Said             []saidView // what was done, each kind of thing once
	Entries          []order.AuditEntry
}

// saidView is one kind of thing that was done, as the rest of a sentence: Before, what it was
// done to, After.
type saidView struct {
	order.AuditEntry // the newest one
	Before, After    string
	Object           string // key of the word for what it was done to; empty: nothing is named
	Count            int64  // how often
	references       []string
}

// Orders returns to how many orders it was done.
func (v saidView) Orders() int64 { return int64(len(v.references)) }

// More returns how often it was done beside the newest time.
func (v saidView) More() int64 { return v.Count - 1 }

// sender is who made an entry of the audit log, and in which request; a command, which has none,
// in which second.
type sender struct {
	order.Caller
	second int64
}

func senderOf(e order.AuditEntry) sender {
	from := sender{Caller: order.Caller{Actor: e.By.Actor, TokenID: e.By.TokenID, RequestID: e.By.RequestID}}
	if e.By.RequestID == "" {
		from.second = e.At.Unix()
	}
	return from
}

// requests returns what entries of the audit log say, by request.
func (l language) requests(entries []order.AuditEntry, n names) []requestView {
	var requests []requestView
	var before sender
	for _, e := range entries {
		from := senderOf(e)
		if len(requests) == 0 || from != before {
			requests = append(requests, requestView{AuditEntry: e, Who: l.text("actor." + e.By.Actor.String())})
			if label := n.Label(e.By.TokenID); label != "" {
				requests[len(requests)-1].Who = label
			}
		}
		requests[len(requests)-1].add(l.said(e))
		before = from
	}
	return requests
}

// request returns what one entry says.
func (l language) request(e order.AuditEntry, n names) requestView {
	return l.requests([]order.AuditEntry{e}, n)[0]
}

// add adds an entry to a request.
func (v *requestView) add(said saidView) {
	v.Entries = append(v.Entries, said.AuditEntry)
	for i := range v.Said {
		if s := &v.Said[i]; s.Before == said.Before && s.After == said.After {
			s.Count++
			if !slices.Contains(s.references, said.Reference) {
				s.references = append(s.references, said.Reference)
			}
			return
		}
	}
	v.Said = append(v.Said, said)
}

// said returns the rest of the sentence for an entry. An action without words of its own has
// those for the last part of its name, or is named.
func (l language) said(e order.AuditEntry) saidView {
	kind, verb, _ := strings.Cut(string(e.Action), ".")
	keys := []string{"did." + string(e.Action), "did." + verb}
	said := saidView{AuditEntry: e, Count: 1, references: []string{e.Reference}}
	if to, ok := order.ParseState(detailOf(e, "to")); ok && e.Action == order.AuditAction(order.OrderStateChanged.String()) {
		keys = append([]string{"did." + to.String()}, keys...)
		if _, ok := messages()[l.code][keys[0]]; !ok {
			said.After = ": " + l.text("state."+to.String())
		}
	}
	if e.Action == order.AuditAction(order.OrderUpdated.String()) && e.By.Actor == order.ActorMerchant {
		keys[0] = "did.own"
	}
	text := string(e.Action)
	for _, key := range keys {
		if message, ok := messages()[l.code][key]; ok {
			text = message
			break
		}
	}
	before, after, named := strings.Cut(text, "%s")
	said.Before, said.After = strings.TrimSpace(before), after+said.After
	switch {
	case !named:
	case e.Reference != "":
		said.Object = "object.order"
	case subjectToken(e) != 0:
		said.Object = "object.token"
	case kind != "merchant":
		said.Object = "object." + kind
	}
	return said
}

// detailOf returns the value of a key of the detail of an entry; empty: it has none.
func detailOf(e order.AuditEntry, key string) string {
	for word := range strings.FieldsSeq(e.Detail) {
		if value, ok := strings.CutPrefix(word, key+"="); ok {
			return value
		}
	}
	return ""
}
