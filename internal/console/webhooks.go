package console

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/web"
	"merchantorders/internal/webhook"
)

const (
	// webhooksPageSize and deliveriesPageSize are how many of each a page shows.
	webhooksPageSize   = 50
	deliveriesPageSize = 25
	// secretOverlap is how long the old secret signs after a rotation.
	secretOverlap = 24 * time.Hour
)

// webhooksView is the data of the list of webhooks, for merchants and for operators.
type webhooksView struct {
	State     string // of the filter of operators
	Endpoints []webhook.Endpoint
	Next      string // query of the next page; empty: there is none
	Form      formView
	Types     []string
	Full      bool // the merchant has the maximum
	Notice    string
}

// eventTypes are the names of the events that a webhook may subscribe to.
var eventTypes = func() []string {
	var names []string
	for t := order.EventType(1); t.String() != order.EventType(0).String(); t++ {
		names = append(names, t.String())
	}
	return names
}()

// webhooks serves GET /webhooks.
func (s *site) webhooks(w http.ResponseWriter, r *request) error {
	view := webhooksView{Form: newForm(nil)}
	if r.URL.Query().Get("done") != "" {
		view.Notice = "webhooks.removed"
	}
	return s.showWebhooks(w, r, http.StatusOK, view)
}

func (s *site) showWebhooks(w http.ResponseWriter, r *request, status int, view webhooksView) error {
	var err error
	if view.Endpoints, err = s.Webhooks.List(r.Context(), r.grant.MerchantID); err != nil {
		return err
	}
	view.Types, view.Full = eventTypes, len(view.Endpoints) >= webhook.MaxEndpoints
	return s.show(w, r, status, "webhooks", view)
}

// operatorWebhooks serves GET /operator/webhooks: those of all merchants, and first
// those that the service has given up.
func (s *site) operatorWebhooks(w http.ResponseWriter, r *request) error {
	query := r.URL.Query()
	view := webhooksView{State: query.Get("state"), Form: newForm(nil)}
	states := map[string]webhook.State{"": webhook.Failed, "failed": webhook.Failed, "active": webhook.Active, "disabled": webhook.Disabled}
	after, _ := order.ParseID(query.Get("after"))
	endpoints, err := s.Webhooks.Page(r.Context(), states[view.State], after, webhooksPageSize+1)
	if err != nil {
		return err
	}
	if len(endpoints) > webhooksPageSize {
		endpoints = endpoints[:webhooksPageSize]
		query.Set("after", strconv.FormatInt(endpoints[webhooksPageSize-1].ID, 10))
		view.Next = "?" + query.Encode()
	}
	view.Endpoints = endpoints
	return s.show(w, r, http.StatusOK, "operatorwebhooks", view)
}

// addWebhook serves POST /webhooks. The page that follows shows the secret, once.
func (s *site) addWebhook(w http.ResponseWriter, r *request) error {
	values, err := readForm(r.Request)
	if err != nil {
		return err
	}
	form := newForm(values)
	addition := webhook.Addition{
		MerchantID: r.grant.MerchantID, URL: strings.TrimSpace(values.Get("url")), Description: strings.TrimSpace(values.Get("description")),
	}
	if s.Webhooks.URLProblem(addition.URL) != "" {
		form.refuse("url", "webhooks.badurl")
	}
	if webhook.DescriptionProblem(addition.Description) != "" {
		form.refuse("description", "problem.line")
	}
	var types []order.EventType
	for _, name := range values["type"] {
		t, ok := webhook.ParseType(name)
		if !ok {
			return web.ErrInvalidPayload
		}
		types = append(types, t)
	}
	addition.Types = webhook.NewTypes(types...)
	options, err := changeOptions[webhook.Endpoint](s, r, values, "webhook.add", addition.URL, addition.Description, strings.Join(values["type"], ","))
	if err != nil {
		return err
	}
	if !form.valid() {
		return s.showWebhooks(w, r, http.StatusUnprocessableEntity, webhooksView{Form: form})
	}
	added, err := s.Webhooks.Add(r.Context(), order.ActorMerchant, addition, options)
	switch {
	case errors.As(err, new(*order.ReplayError)):
		return s.showWebhooks(w, r, http.StatusOK, webhooksView{Form: newForm(nil), Notice: "webhooks.shown"})
	case errors.Is(err, webhook.ErrTooMany):
		form.refuse("url", "webhooks.toomany")
		return s.showWebhooks(w, r, http.StatusUnprocessableEntity, webhooksView{Form: form})
	case err != nil:
		return err
	}
	return s.showWebhook(w, r, http.StatusOK, added.Key, webhookView{Secret: string(added.Secret)})
}

// webhookView is the data of the page of a webhook.
type webhookView struct {
	Base       string // path of the page below the root
	Endpoint   webhook.Endpoint
	Deliveries []webhook.Delivery
	Older      int64 // the value of before for the next page; 0: there is none

	Secret  string // a new one; empty: none
	Sent    *webhook.Delivery
	Notice  string // key of a message: what was done; empty: nothing
	Problem string // key of a message: why it was not; empty: nothing
}

// webhookKey returns the key of the webhook of the path.
func webhookKey(r *request) webhook.Key {
	key := webhook.Key{MerchantID: r.grant.MerchantID}
	if r.grant.Operator() {
		key.MerchantID = merchantOf(r)
	}
	key.ID, _ = order.ParseID(r.PathValue("webhook"))
	return key
}

// webhookBase returns the path of the page of a webhook.
func webhookBase(r *request, key webhook.Key) string {
	id := strconv.FormatInt(key.ID, 10)
	if r.grant.Operator() {
		return operatorPrefix + "/webhooks/" + strconv.FormatInt(key.MerchantID, 10) + "/" + id
	}
	return Prefix + "/webhooks/" + id
}

// webhook serves GET /webhooks/{webhook} and GET /operator/webhooks/{merchant}/{webhook}.
func (s *site) webhook(w http.ResponseWriter, r *request) error {
	return s.showWebhook(w, r, http.StatusOK, webhookKey(r), webhookView{})
}

func (s *site) showWebhook(w http.ResponseWriter, r *request, status int, key webhook.Key, view webhookView) error {
	var err error
	if view.Endpoint, err = s.Webhooks.Get(r.Context(), key); err != nil {
		return err
	}
	before, ok := order.ParseID(r.URL.Query().Get("before"))
	if !ok || before == 0 {
		before = web.MaxInt
	}
	if view.Deliveries, err = s.Webhooks.Deliveries(r.Context(), key, before, deliveriesPageSize); err != nil {
		return err
	}
	if n := len(view.Deliveries); n == deliveriesPageSize {
		view.Older = view.Deliveries[n-1].ID
	}
	view.Base = webhookBase(r, key)
	return s.show(w, r, status, "webhook", view)
}

// askRemoveWebhook serves GET /webhooks/{webhook}/remove: a question.
func (s *site) askRemoveWebhook(w http.ResponseWriter, r *request) error {
	key := webhookKey(r)
	endpoint, err := s.Webhooks.Get(r.Context(), key)
	if err != nil {
		return err
	}
	return s.show(w, r, http.StatusOK, "webhookremove", webhookView{Endpoint: endpoint, Base: webhookBase(r, key)})
}

// changeWebhook serves POST to the page of a webhook. The field "do" names what to do.
func (s *site) changeWebhook(w http.ResponseWriter, r *request) error {
	values, err := readForm(r.Request)
	if err != nil {
		return err
	}
	key, do := webhookKey(r), values.Get("do")
	if do == "test" || do == "redeliver" {
		return s.sendWebhook(w, r, values.Get("event"), do, key)
	}
	actor := order.ActorMerchant
	if r.grant.Operator() {
		actor = order.ActorOperator
	}
	options, err := changeOptions[webhook.Endpoint](s, r, values, "webhook", do, webhookBase(r, key))
	if err != nil {
		return err
	}
	var view webhookView
	switch do {
	case "enable", "disable":
		enabled := do == "enable"
		_, err = s.Webhooks.Change(r.Context(), actor, key, webhook.Change{Enabled: &enabled}, options)
		view.Notice = "webhooks." + do + "d"
	case "secret":
		var changed webhook.Endpoint
		changed, err = s.Webhooks.RotateSecret(r.Context(), actor, key, secretOverlap, options)
		view.Secret = string(changed.Secret)
	case "remove":
		if _, err = s.Webhooks.Remove(r.Context(), actor, key, options); replayed(err) == nil {
			http.Redirect(w, r.Request, s.root+Prefix+"/webhooks?done=removed", http.StatusSeeOther)
			return nil
		}
	default:
		return web.ErrInvalidPayload
	}
	if err := replayed(err); err != nil {
		return err
	}
	return s.showWebhook(w, r, http.StatusOK, key, view)
}

// sendWebhook sends a test, or an event again, and shows what came of it. A double click
// sends it twice: receivers know the number of an event.
func (s *site) sendWebhook(w http.ResponseWriter, r *request, event, do string, key webhook.Key) error {
	options := webhook.SendOptions{Source: web.Source(r.Request)}
	var sent webhook.Delivery
	var err error
	if do == "test" {
		sent, err = s.Webhooks.Test(r.Context(), key, options)
	} else {
		number, _ := order.ParseID(event)
		sent, err = s.Webhooks.Redeliver(r.Context(), key, number, options)
	}
	switch {
	case errors.Is(err, webhook.ErrBusy):
		return s.showWebhook(w, r, http.StatusConflict, key, webhookView{Problem: "webhooks.busy"})
	case errors.Is(err, webhook.ErrNoEvent):
		return s.showWebhook(w, r, http.StatusUnprocessableEntity, key, webhookView{Problem: "webhooks.noevent"})
	case err != nil:
		return err
	}
	return s.showWebhook(w, r, http.StatusOK, key, webhookView{Sent: &sent})
}
