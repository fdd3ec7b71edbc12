package console

import (
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"merchantorders/internal/delivery"
	"merchantorders/internal/delivery/webhook"
	"merchantorders/internal/order"
	"merchantorders/internal/strict"
	"merchantorders/internal/web"
)

// webhookView is the data of the page of a webhook.
type webhookView struct {
	Base       string // path of the page below the root
	Endpoint   webhook.Endpoint
	Deliveries []delivery.Attempt
	Older      int64    // the value of before for the next page; 0: there is none
	Form       formView // that changes the webhook

	Secret  string // a new one; empty: none
	Sent    *delivery.Attempt
	Notice  string // key of a message: what was done; empty: nothing
	Problem string // key of a message: why it was not; empty: nothing
}

// webhookKey returns the key of the webhook of the path.
func webhookKey(r *web.Request) delivery.Key {
	key := delivery.Key{MerchantID: r.Caller.MerchantID}
	if r.Caller.Operator() {
		key.MerchantID = webhook.ParseMerchantID(r.PathValue("merchant"))
	}
	key.ID, _ = order.ParseID(r.PathValue("webhook"))
	return key
}

// webhookBase returns the path of the page of a webhook.
func webhookBase(r *web.Request, key delivery.Key) string {
	list := base(r) + "/webhooks/"
	if r.Caller.Operator() {
		list += r.PathValue("merchant") + "/"
	}
	return list + strconv.FormatInt(key.ID, 10)
}

// webhook serves GET /webhooks/{webhook} and GET /operator/webhooks/{merchant}/{webhook}.
func (s *site) webhook(w http.ResponseWriter, r *web.Request) error {
	return s.showWebhook(w, r, http.StatusOK, webhookKey(r), webhookView{})
}

func (s *site) showWebhook(w http.ResponseWriter, r *web.Request, status int, key delivery.Key, view webhookView) error {
	var err error
	if view.Endpoint, err = s.Webhooks.Get(r.Context(), key); err != nil {
		return err
	}
	before, ok := order.ParseID(r.URL.Query().Get("before"))
	if !ok || before == 0 {
		before = strict.MaxInt
	}
	if view.Deliveries, err = s.Webhooks.Deliveries(r.Context(), key, before, deliveriesPageSize); err != nil {
		return err
	}
	if n := len(view.Deliveries); n == deliveriesPageSize {
		view.Older = view.Deliveries[n-1].ID
	}
	view.Form = view.Form.or(webhookFields(view.Endpoint))
	view.Base = webhookBase(r, key)
	return s.show(w, r, status, "webhook", view)
}

// webhookFields returns the fields of a webhook as its form has them.
func webhookFields(e webhook.Endpoint) url.Values {
	headers := ""
	for _, name := range slices.Sorted(maps.Keys(e.Headers)) {
		headers += name + ":\n"
	}
	values := url.Values{"url": {e.URL}, "description": {e.Description}, "headers": {headers}, "username": {e.Username}, "batch": {strconv.Itoa(e.MaxEvents)}}
	if e.Orders {
		values.Set("include", "order")
	}
	for _, t := range e.Types.List() {
		values.Add("type", t.String())
	}
	return values
}

// askRemoveWebhook serves GET remove below the page of a webhook: a question.
func (s *site) askRemoveWebhook(w http.ResponseWriter, r *web.Request) error {
	key := webhookKey(r)
	endpoint, err := s.Webhooks.Get(r.Context(), key)
	if err != nil {
		return err
	}
	return s.show(w, r, http.StatusOK, "webhookremove", webhookView{Endpoint: endpoint, Base: webhookBase(r, key)})
}

// changeWebhook serves POST to the page of a webhook. The field "do" names what to do.
func (s *site) changeWebhook(w http.ResponseWriter, r *web.Request, values url.Values) error {
	key, do := webhookKey(r), values.Get("do")
	if do == "test" || do == "redeliver" {
		return s.sendWebhook(w, r, values, key)
	}
	view := webhookView{Form: newForm(values)}
	var change webhook.Change
	if do == "change" {
		change = s.readWebhook(view.Form)
	}
	options := web.FormOptions[webhook.Endpoint](r)
	if !view.Form.valid() {
		return s.showWebhook(w, r, http.StatusUnprocessableEntity, key, view)
	}
	if do == "remove" {
		if _, err := s.Webhooks.Remove(r.Context(), r.Caller, key, options); replayed(err) != nil {
			return err
		}
		return s.redirect(w, r, base(r)+"/webhooks?done=removed")
	}
	form := view.Form
	view, err := s.applyToWebhook(r, do, key, change, options)
	if status := refuseWebhook(form, err); status != 0 {
		return s.showWebhook(w, r, status, key, webhookView{Form: form})
	}
	if err := replayed(err); err != nil {
		return err
	}
	return s.showWebhook(w, r, http.StatusOK, key, view)
}

// applyToWebhook makes a change of a webhook and returns the view that says so.
func (s *site) applyToWebhook(r *web.Request, do string, key delivery.Key, change webhook.Change, options order.Options[webhook.Endpoint]) (webhookView, error) {
	view := webhookView{Notice: webhookNotices[do]}
	switch do {
	case "enable", "disable":
		change.Enabled = new(do == "enable")
		fallthrough
	case "change":
		_, err := s.Webhooks.Change(r.Context(), r.Caller, key, change, options)
		return view, err
	case "secret":
		changed, err := s.Webhooks.RotateSecret(r.Context(), r.Caller, key, secretOverlap, options)
		if err == nil {
			view = webhookView{Secret: string(changed.Secret)}
		}
		return view, err
	}
	return view, strict.ErrInvalidPayload
}

// webhookNotices say what was done; that of a new secret says that it was shown.
var webhookNotices = map[string]string{
	"enable": "webhooks.enabled", "disable": "webhooks.disabled", "change": "webhooks.changed", "secret": "webhooks.secretshown",
}

// sendWebhook sends a test, or an event again, and shows what came of it.
func (s *site) sendWebhook(w http.ResponseWriter, r *web.Request, values url.Values, key delivery.Key) error {
	options := web.FormOptions[delivery.Attempt](r)
	var sent delivery.Attempt
	var err error
	if values.Get("do") == "test" {
		sent, err = s.Webhooks.Test(r.Context(), r.Caller, key, options)
	} else {
		number, _ := order.ParseID(values.Get("event"))
		merchantID := key.MerchantID
		if merchantID == delivery.Marketplace {
			merchantID, _ = order.ParseID(values.Get("merchant"))
		}
		sent, err = s.Webhooks.Redeliver(r.Context(), r.Caller, key, merchantID, number, options)
	}
	switch {
	case errors.As(err, new(*order.ReplayError)):
		return s.showWebhook(w, r, http.StatusOK, key, webhookView{Notice: "webhooks.sentalready"})
	case errors.Is(err, webhook.ErrBusy):
		return s.showWebhook(w, r, http.StatusConflict, key, webhookView{Problem: "webhooks.busy"})
	case errors.Is(err, webhook.ErrNoEvent):
		return s.showWebhook(w, r, http.StatusUnprocessableEntity, key, webhookView{Problem: "webhooks.noevent"})
	case err != nil:
		return err
	}
	return s.showWebhook(w, r, http.StatusOK, key, webhookView{Sent: &sent})
}
