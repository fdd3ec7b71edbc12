package console

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"merchantorders/internal/delivery"
	"merchantorders/internal/delivery/webhook"
	"merchantorders/internal/order"
	"merchantorders/internal/web"
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
	Full      bool // the merchant has the maximum
	Notice    string
}

// webhooks serves GET /webhooks.
func (s *site) webhooks(w http.ResponseWriter, r *web.Request) error {
	return s.showWebhooks(w, r, http.StatusOK, webhooksView{Notice: noticeOf(r, "webhooks")})
}

func (s *site) showWebhooks(w http.ResponseWriter, r *web.Request, status int, view webhooksView) error {
	var err error
	if view.Endpoints, err = s.Webhooks.List(r.Context(), r.Caller.MerchantID); err != nil {
		return err
	}
	view.Form = view.Form.or(nil)
	view.Full = len(view.Endpoints) >= webhook.MaxEndpoints
	return s.show(w, r, status, "webhooks", view)
}

// operatorWebhooks serves GET /operator/webhooks: those of all merchants.
func (s *site) operatorWebhooks(w http.ResponseWriter, r *web.Request) error {
	query := r.URL.Query()
	view := webhooksView{State: query.Get("state"), Notice: noticeOf(r, "webhooks")}
	after, _ := order.ParseID(query.Get("after"))
	endpoints, err := s.Webhooks.Page(r.Context(), webhook.ParseState(view.State), after, webhooksPageSize+1)
	if err != nil {
		return err
	}
	view.Endpoints, view.Next = cutPage(query, endpoints, webhooksPageSize, func(e webhook.Endpoint) int64 { return e.ID })
	return s.show(w, r, http.StatusOK, "operatorwebhooks", view)
}

// addWebhook serves POST /webhooks. The page that follows shows the secret, once.
func (s *site) addWebhook(w http.ResponseWriter, r *web.Request, values url.Values) error {
	form := newForm(values)
	c := s.readWebhook(form)
	options := web.FormOptions[webhook.Endpoint](r)
	if !form.valid() {
		return s.showWebhooks(w, r, http.StatusUnprocessableEntity, webhooksView{Form: form})
	}
	added, err := s.Webhooks.Add(r.Context(), r.Caller, r.Caller.MerchantID, c, nil, options)
	if errors.As(err, new(*order.ReplayError)) {
		return s.showWebhooks(w, r, http.StatusOK, webhooksView{Notice: "webhooks.shown"})
	}
	if status := refuseWebhook(form, err); status != 0 {
		return s.showWebhooks(w, r, status, webhooksView{Form: form})
	}
	if err != nil {
		return err
	}
	return s.showWebhook(w, r, http.StatusOK, added.Key, webhookView{Secret: string(added.Secret)})
}

// refuseWebhook writes a refusal of the service to the form of a webhook and returns the
// status of the page; 0: it is none.
func refuseWebhook(form formView, err error) (status int) {
	switch {
	case errors.Is(err, delivery.ErrOrders):
		form.refuse("include", "webhooks.noorders")
		return http.StatusForbidden
	case errors.Is(err, delivery.ErrTooMany):
		form.refuse("url", "webhooks.toomany")
	case errors.Is(err, webhook.ErrNoHeaderValue):
		form.refuse("headers", "webhooks.novalue")
	case errors.Is(err, webhook.ErrNoPassword):
		form.refuse("password", "webhooks.novalue")
	default:
		return 0
	}
	return http.StatusUnprocessableEntity
}

// readWebhook reads the fields of a webhook from a form and refuses what is wrong in
// them.
func (s *site) readWebhook(form formView) webhook.Change {
	address, description := strings.TrimSpace(form.Value("url")), strings.TrimSpace(form.Value("description"))
	if s.Webhooks.URLProblem(address) != "" {
		form.refuse("url", "webhooks.badurl")
	}
	if webhook.DescriptionProblem(description) != "" {
		form.refuse("description", "problem.line")
	}
	var chosen []order.EventType
	for _, name := range form.values["type"] {
		t, ok := webhook.ParseType(name)
		if !ok {
			form.refuse("type", "webhooks.noevent")
		}
		chosen = append(chosen, t)
	}
	types, orders := delivery.NewTypes(chosen...), form.Value("include") != ""
	username, password := strings.TrimSpace(form.Value("username")), form.Value("password")
	if username != "" && webhook.UsernameProblem(username) != "" {
		form.refuse("username", "webhooks.badbasic")
	}
	if password != "" && (username == "" || webhook.CredentialProblem(password) != "") {
		form.refuse("password", "webhooks.badbasic")
	}
	batch, err := strconv.Atoi(cmp.Or(strings.TrimSpace(form.Value("batch")), "1"))
	if err != nil || batch < 1 || batch > webhook.MaxBatch {
		form.refuse("batch", "webhooks.badbatch")
	}
	headers, problem := webhook.ParseHeaders(form.Value("headers"))
	if problem != "" {
		form.refuse("headers", "webhooks.badheaders")
	}
	return webhook.Change{
		URL: &address, Description: &description, Types: &types, Orders: &orders, MaxEvents: &batch,
		Headers: headers, Username: &username, Password: delivery.Secret(password),
	}
}
