package operator

import (
	"context"
	"net/http"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// merchantView is a merchant as operators see it.
type merchantView struct {
	ID        int64  `json:"id"`
	Name      string `json:"name"`
	CreatedAt string `json:"createdAt"`
}

type merchantsView struct {
	Merchants []merchantView `json:"merchants"`
}

// listMerchants serves GET /merchants.
func (a API) listMerchants(w http.ResponseWriter, r *http.Request) error {
	merchants, err := a.Orders.Merchants(r.Context())
	if err != nil {
		return err
	}
	view := merchantsView{Merchants: make([]merchantView, 0, len(merchants))}
	for _, m := range merchants {
		view.Merchants = append(view.Merchants, merchantView{
			ID: m.ID, Name: m.Name, CreatedAt: m.CreatedAt.UTC().Format(time.RFC3339),
		})
	}
	return web.WriteJSON(w, http.StatusOK, view)
}

// addedMerchantView is the response to a merchant that exists now.
type addedMerchantView struct {
	Success bool   `json:"success"`
	ID      int64  `json:"id"`
	Name    string `json:"name"`
}

// addMerchant serves POST /merchants. Adding the same merchant again is a success.
func (a API) addMerchant(r *web.Request) (web.Change, error) {
	body, err := readObject(r.Request, "id", "name")
	if err != nil {
		return web.Change{}, err
	}
	// The JSON of a number is its text.
	id, _ := order.ParseID(string(body["id"]))
	if id == 0 {
		return web.Change{}, &web.ParamError{Name: "id", Problem: "must be a whole number from 1"}
	}
	name, ok := body.Text("name")
	if !ok {
		return web.Change{}, &web.ParamError{Name: "name", Problem: "must be text"}
	}
	if problem := order.MerchantNameProblem(name); problem != "" {
		return web.Change{}, &web.ParamError{Name: "name", Problem: problem}
	}
	return web.NewChange(func(ctx context.Context, options order.MerchantOptions) (order.Merchant, error) {
		return order.Merchant{ID: id, Name: name}, a.Orders.AddMerchant(ctx, id, name, options)
	}, func(m order.Merchant) web.Response {
		return web.Response{Status: http.StatusOK, Body: addedMerchantView{Success: true, ID: m.ID, Name: m.Name}}
	}), nil
}
