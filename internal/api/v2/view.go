package v2

import (
	"time"

	"merchantorders/internal/api/invoiceapi"
	"merchantorders/internal/order"
)

// timeForm is how this version writes a time, in UTC.
const timeForm = "2006-01-02 15:04:05"

// successView is the answer of an action.
type successView struct {
	Success bool `json:"success"`
}

// listView is the answer of a list (spec 2.4).
type listView struct {
	Params paramsView    `json:"params"`
	Orders []summaryView `json:"orders"`
}

type paramsView struct {
	Page         int64   `json:"page"`
	ItemsPerPage int64   `json:"itemsPerPage"`
	TotalItems   int64   `json:"totalItems"`
	Status       *string `json:"status"`
	DateFrom     string  `json:"dateFrom"`
	DateTo       string  `json:"dateTo"`
}

type summaryView struct {
	ID               string       `json:"id"`
	State            string       `json:"state"`
	CountryCode      string       `json:"countryCode"`
	HasInvoice       bool         `json:"hasInvoice"`
	TotalItemsAmount int64        `json:"totalItemsAmount"`
	CreatedAt        string       `json:"createdAt"`
	UpdatedAt        *string      `json:"updatedAt"`
	Customer         customerView `json:"customer"`
}

type customerView struct {
	UserID    int64   `json:"userId"`
	Email     string  `json:"email"`
	Phone     *string `json:"phone"`
	FirstName string  `json:"firstName"`
	LastName  string  `json:"lastName"`
}

func newListView(params listParams, page order.Page, now time.Time) listView {
	from, to := params.filter.EffectiveRange(now)
	view := listView{
		Params: paramsView{
			Page:         params.filter.Page,
			ItemsPerPage: params.filter.PageSize,
			TotalItems:   page.Total,
			Status:       params.state,
			DateFrom:     from.Format(timeForm),
			DateTo:       to.Format(timeForm),
		},
		Orders: make([]summaryView, 0, len(page.Orders)),
	}
	for _, o := range page.Orders {
		view.Orders = append(view.Orders, summaryView{
			ID:               o.Reference,
			State:            o.State.String(),
			CountryCode:      o.CountryCode,
			HasInvoice:       o.HasInvoice,
			TotalItemsAmount: o.Total,
			CreatedAt:        o.CreatedAt.UTC().Format(timeForm),
			UpdatedAt:        timeOf(o.UpdatedAt),
			Customer:         newCustomerView(o.Customer),
		})
	}
	return view
}

func newCustomerView(c order.Customer) customerView {
	return customerView{
		UserID:    c.UserID,
		Email:     c.Email,
		Phone:     c.Phone,
		FirstName: c.FirstName,
		LastName:  c.LastName,
	}
}

// singleView is the answer of a single order.
type singleView struct {
	Order orderView `json:"order"`
}

// orderView is a whole order (spec 2.5).
type orderView struct {
	ID                  string             `json:"id"`
	State               string             `json:"state"`
	CountryCode         string             `json:"countryCode"`
	HasInvoice          bool               `json:"hasInvoice"`
	SubTotalItemsAmount int64              `json:"subTotalItemsAmount"`
	TotalItemsAmount    int64              `json:"totalItemsAmount"`
	CreatedAt           string             `json:"createdAt"`
	UpdatedAt           *string            `json:"updatedAt"`
	ExpiresAt           *string            `json:"expiresAt"`
	DispatchUntil       *string            `json:"dispatchUntil"`
	Customer            customerView       `json:"customer"`
	AddressDetails      addressView        `json:"addressDetails"`
	InvoiceDetails      *detailsView       `json:"invoiceDetails"`
	Invoices            []invoiceapi.Entry `json:"invoices"`
	Carrier             carrierView        `json:"carrier"`
	Payment             paymentView        `json:"payment"`
	LineItems           []lineItemView     `json:"lineItems"`
}

type addressView struct {
	Street       string `json:"street"`
	StreetNumber string `json:"streetNumber"`
	PostCode     string `json:"postCode"`
	City         string `json:"city"`
	Region       string `json:"region"`
	RegionCode   string `json:"regionCode"`
	Country      string `json:"country"`
	CountryCode  string `json:"countryCode"`
}

type carrierView struct {
	ShipmentID                   int64   `json:"shipmentId"`
	Name                         string  `json:"name"`
	DeliveryName                 string  `json:"deliveryName"`
	DeliveryKey                  string  `json:"deliveryKey"`
	TrackingCodes                string  `json:"trackingCodes"`
	Comments                     *string `json:"comments"`
	DeliveryToCourierEstimation  *string `json:"deliveryToCourierEstimationDate"`
	DeliveryToCustomerEstimation *string `json:"deliveryToCustomerEstimationDate"`
}

type paymentView struct {
	Name string `json:"name"`
}

func newOrderView(o order.Order, storageURL string) singleView {
	return singleView{Order: orderView{
		ID:                  o.Reference,
		State:               o.State.String(),
		CountryCode:         o.CountryCode,
		HasInvoice:          o.InvoiceDetails != nil,
		SubTotalItemsAmount: o.Subtotal,
		TotalItemsAmount:    o.Total,
		CreatedAt:           o.CreatedAt.UTC().Format(timeForm),
		UpdatedAt:           timeOf(o.UpdatedAt),
		ExpiresAt:           timeOf(o.ExpiresAt),
		DispatchUntil:       timeOf(o.DispatchUntil),
		Customer:            newCustomerView(o.Customer),
		AddressDetails:      newAddressView(o.Shipping),
		InvoiceDetails:      newDetailsView(o.InvoiceDetails),
		Invoices:            invoiceapi.NewEntries(storageURL, o.Reference, o.Invoices),
		Carrier:             newCarrierView(o.Carrier),
		Payment:             paymentView{Name: o.PaymentName},
		LineItems:           newLineItemViews(o.LineItems),
	}}
}

func newAddressView(a order.Address) addressView {
	return addressView{
		Street:       a.Street,
		StreetNumber: a.StreetNumber,
		PostCode:     a.PostCode,
		City:         a.City,
		Region:       a.Region,
		RegionCode:   a.RegionCode,
		Country:      a.Country,
		CountryCode:  a.CountryCode,
	}
}

// newCarrierView writes the carrier. This version knows one shipment of an
// order: the first, 0 when there is none.
func newCarrierView(c order.Carrier) carrierView {
	view := carrierView{
		Name:                         c.Name,
		DeliveryName:                 c.DeliveryName,
		DeliveryKey:                  c.DeliveryKey,
		TrackingCodes:                c.TrackingCodes,
		Comments:                     c.Comments,
		DeliveryToCourierEstimation:  c.DeliveryToCourierEstimation,
		DeliveryToCustomerEstimation: c.DeliveryToCustomerEstimation,
	}
	if len(c.ShipmentIDs) > 0 {
		view.ShipmentID = c.ShipmentIDs[0]
	}
	return view
}

// timeOf writes a time, nil when there is none.
func timeOf(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	text := t.UTC().Format(timeForm)
	return &text
}
