package operator

import (
	"net/http"

	"merchantorders/internal/order"
	"merchantorders/internal/strict"
	"merchantorders/internal/web"
)

// merchantView is a merchant as operators see it.
type merchantView struct {
	ID               int64      `json:"id"`
	Name             string     `json:"name"`
	CreatedAt        string     `json:"createdAt"`
	SuspendedAt      *string    `json:"suspendedAt"`
	SuspensionReason *string    `json:"suspensionReason"`
	Limits           *limitView `json:"limits"`   // nil: those of the service
	TimeZone         *string    `json:"timeZone"` // nil: that of the service
}

// limitView is the request limit of each token of a merchant.
type limitView struct {
	RequestsPerSecond int `json:"requestsPerSecond"`
	Burst             int `json:"burst"`
}

type merchantsView struct {
	Merchants []merchantView `json:"merchants"`
	Next      *int64         `json:"next"` // the value of after for the next page; nil: the last one
}

func newMerchantView(m order.Merchant) merchantView {
	view := merchantView{ID: m.ID, Name: m.Name, CreatedAt: web.TimeText(m.CreatedAt), SuspendedAt: web.TimeOrNull(m.SuspendedAt)}
	if m.Suspended() {
		view.SuspensionReason = &m.SuspensionReason
	}
	if m.RateLimit != (order.RateLimit{}) {
		view.Limits = &limitView{RequestsPerSecond: m.RateLimit.PerSecond, Burst: m.RateLimit.Burst}
	}
	if m.TimeZone != "" {
		view.TimeZone = &m.TimeZone
	}
	return view
}

// listMerchants serves GET /merchants.
func (a API) listMerchants(r *web.Request) (any, error) {
	filter, err := parseMerchantFilter(r)
	if err != nil {
		return nil, err
	}
	limit := filter.Limit
	if limit > 0 {
		filter.Limit++ // tells whether there is another page
	}
	merchants, err := a.Merchants.List(r.Context(), filter)
	merchants, next := web.CutPage(merchants, limit, func(m order.Merchant) int64 { return m.ID })
	return merchantsView{Merchants: web.Collect(merchants, newMerchantView), Next: next}, err
}

// parseMerchantFilter parses the query of a list of merchants. Without limit the list
// is complete. Every error is a *strict.ParamError.
func parseMerchantFilter(r *web.Request) (order.MerchantFilter, error) {
	query, after, limit := parsePage(r)
	filter := order.MerchantFilter{After: after, Limit: limit, NamePrefix: query.Text("name")}
	if filter.NamePrefix != "" {
		query.Refuse("name", order.MerchantNameProblem(filter.NamePrefix))
	}
	if word := query.OneOf("suspended", "true", "false"); word != "" {
		filter.Suspended = new(word == "true")
	}
	return filter, query.Err()
}

// getMerchant serves GET /merchants/{merchantId}.
func (a API) getMerchant(r *web.Request) (any, error) {
	m, err := a.Merchants.Get(r.Context(), merchantID(r))
	return newMerchantView(m), err
}

// merchantID returns the merchant of the path. An invalid id becomes 0, which no
// merchant has.
func merchantID(r *web.Request) int64 {
	id, _ := order.ParseID(r.PathValue("merchantId"))
	return id
}

// addedMerchantView is the response to a merchant that exists now.
type addedMerchantView struct {
	Success bool   `json:"success"`
	ID      int64  `json:"id"`
	Name    string `json:"name"`
}

func respondMerchant(m order.Merchant) web.Response {
	return web.Response{Status: http.StatusOK, Body: newMerchantView(m)}
}

// addMerchant serves POST /merchants. Adding the same merchant again is a success.
func (a API) addMerchant(r *web.Request) (web.Response, error) {
	body := web.ReadObject(r, "id", "name")
	id, name := body.Int("id", 1, strict.MaxInt), body.Text("name", order.MerchantNameProblem)
	if err := body.Err(); err != nil {
		return web.Response{}, err
	}
	respond := func(order.Merchant) web.Response {
		return web.Response{Status: http.StatusOK, Body: addedMerchantView{Success: true, ID: id, Name: name}}
	}
	err := a.Merchants.Add(r.Context(), r.Caller, id, name, web.Options(r, respond))
	return respond(order.Merchant{}), err
}

// updateMerchant serves PATCH /merchants/{merchantId}.
func (a API) updateMerchant(r *web.Request) (web.Response, error) {
	update, err := parseMerchantUpdate(r)
	if err != nil {
		return web.Response{}, err
	}
	m, err := a.Merchants.Update(r.Context(), r.Caller, merchantID(r), update, web.Options(r, respondMerchant))
	return respondMerchant(m), err
}

// suspendMerchant serves POST /merchants/{merchantId}/suspend.
func (a API) suspendMerchant(r *web.Request) (web.Response, error) {
	body := web.ReadObject(r, "reason")
	reason := body.Text("reason", order.SuspensionReasonProblem)
	if err := body.Err(); err != nil {
		return web.Response{}, err
	}
	m, err := a.Merchants.Suspend(r.Context(), r.Caller, merchantID(r), reason, web.Options(r, respondMerchant))
	return respondMerchant(m), err
}

// resumeMerchant serves POST /merchants/{merchantId}/resume, which needs no body.
func (a API) resumeMerchant(r *web.Request) (web.Response, error) {
	m, err := a.Merchants.Resume(r.Context(), r.Caller, merchantID(r), web.Options(r, respondMerchant))
	return respondMerchant(m), err
}

// parseMerchantUpdate parses the body of a change of a merchant.
func parseMerchantUpdate(r *web.Request) (order.MerchantUpdate, error) {
	body := web.ReadObject(r, "name", "limits", "timeZone")
	if len(body.Object) == 0 {
		body.Refuse("name", "is required, or limits, or timeZone")
	}
	var update order.MerchantUpdate
	if body.Has("name") {
		update.Name = new(body.Text("name", order.MerchantNameProblem))
	}
	if body.Has("limits") {
		update.RateLimit = new(parseLimits(body))
	}
	if body.Has("timeZone") {
		zone := ""
		if !body.Null("timeZone") {
			zone = body.Text("timeZone", order.TimeZoneProblem)
		}
		update.TimeZone = &zone
	}
	return update, body.Err()
}

// parseLimits parses the member limits. Null means those of the service.
func parseLimits(body *strict.Body) order.RateLimit {
	if body.Null("limits") {
		return order.RateLimit{}
	}
	limits := body.Inner("limits", "requestsPerSecond", "burst")
	limit := order.NewRateLimit(int(limits.Int("requestsPerSecond", 1, order.MaxRequestsPerSecond)))
	if limits.Has("burst") {
		limit.Burst = int(limits.Int("burst", 1, order.MaxBurst))
	}
	return limit
}
