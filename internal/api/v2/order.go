package v2

import (
	"encoding/json"

	"merchantorders/internal/api/invoiceapi"
	"merchantorders/internal/api/orderapi"
	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// getOrder serves GET /orders/{orderReference}.
func (a API) getOrder(r *web.Request) (web.Representation, error) {
	return orderapi.RepresentOrder(r, a.Orders, orderID(r), func(_ *web.Representation, found order.Order) any {
		return newSingleView(found, a.StorageURL)
	}), nil
}

// orderID returns the order that {orderReference} identifies.
func orderID(r *web.Request) order.Identifier {
	return order.ByReference(r.PathValue("orderReference"))
}

// timeFormat is the format of times in this version, in UTC.
const timeFormat = "2006-01-02 15:04:05"

// singleView is the body of a single order.
type singleView struct {
	Order orderView `json:"order"`
}

// orderView is an order as its merchant sees it.
type orderView struct {
	publishedOrderView
	MerchantReference *string `json:"merchantReference,omitempty"`
	MerchantNote      *string `json:"merchantNote,omitempty"`
}

// ViewVersion is the version of the bodies of this interface, a part of every ETag.
// Raise it with every change of what a body shows for the same data: a client must not
// go on using a body that it has.
const ViewVersion = "6"

// publishedOrderView is an order (spec 2.5), without what is the merchant's own.
type publishedOrderView struct {
	ID                  string             `json:"id"`
	State               string             `json:"state"`
	CountryCode         string             `json:"countryCode"`
	HasInvoice          bool               `json:"hasInvoice"`
	SubTotalItemsAmount int64              `json:"subTotalItemsAmount"`
	TotalItemsAmount    int64              `json:"totalItemsAmount"`
	Currency            string             `json:"currency"`
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
	ShippingAmount      *int64             `json:"shippingAmount,omitempty"`
	ShippingVATRate     string             `json:"shippingVatRate,omitempty"`
}

// customerView has the fields of order.Customer, so that one converts to the
// other.
type customerView struct {
	UserID    int64   `json:"userId"`
	Email     string  `json:"email"`
	Phone     *string `json:"phone"`
	FirstName string  `json:"firstName"`
	LastName  string  `json:"lastName"`
	Company   string  `json:"-"`
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

// unreadable is why an order is not shown, for clients.
const unreadable = "The service cannot read the details of this order: its stored data is damaged. Tell the marketplace."

// unreadableView stands for an order in an export.
type unreadableView struct {
	ID      string `json:"id"`
	Problem string `json:"problem"`
}

// NewOrderView returns an order as this version shows it, for the operator interface:
// without what is the merchant's own.
func NewOrderView(o order.Order, storageURL string) any {
	return newPublishedOrderView(o, storageURL)
}

// newMerchantOrderView returns an order as its merchant sees it.
func newMerchantOrderView(o order.Order, storageURL string) any {
	return newSingleView(o, storageURL).Order
}

func newSingleView(o order.Order, storageURL string) singleView {
	return singleView{Order: orderView{newPublishedOrderView(o, storageURL), o.MerchantData.Reference, o.MerchantData.Note}}
}

func newPublishedOrderView(o order.Order, storageURL string) publishedOrderView {
	return publishedOrderView{
		ID:                  o.Reference,
		State:               o.State.String(),
		CountryCode:         o.CountryCode,
		HasInvoice:          o.InvoiceDetails != nil,
		SubTotalItemsAmount: o.Subtotal,
		TotalItemsAmount:    o.Total,
		Currency:            o.Currency,
		CreatedAt:           o.CreatedAt.UTC().Format(timeFormat),
		UpdatedAt:           timeOf(o.UpdatedAt),
		ExpiresAt:           timeOf(o.ExpiresAt),
		DispatchUntil:       timeOf(o.DispatchUntil),
		Customer:            customerView(o.Customer),
		AddressDetails: addressView{
			Street:       o.Shipping.Street,
			StreetNumber: o.Shipping.StreetNumber,
			PostCode:     o.Shipping.PostCode,
			City:         o.Shipping.City,
			Region:       o.Shipping.Region,
			RegionCode:   o.Shipping.RegionCode,
			Country:      o.Shipping.Country,
			CountryCode:  o.Shipping.CountryCode,
		},
		InvoiceDetails: (*detailsView)(o.InvoiceDetails),
		Invoices:       invoiceapi.NewEntries(storageURL, o.Reference, o.Invoices),
		Carrier:        newCarrierView(o.Carrier),
		Payment:        paymentView{Name: o.PaymentName},
		LineItems:      newLineItemViews(o.LineItems),
		ShippingAmount: o.ShippingAmount, ShippingVATRate: o.ShippingVATRate,
	}
}

// newCarrierView returns the view of a carrier. This version shows one shipment of
// an order: the first, or 0 if there is none.
func newCarrierView(c order.Carrier) carrierView {
	view := carrierView{
		Name:                         c.Name,
		DeliveryName:                 c.DeliveryName,
		DeliveryKey:                  c.DeliveryKey,
		TrackingCodes:                c.TrackingCodes,
		Comments:                     c.Comments,
		DeliveryToCourierEstimation:  estimationOf(c.DeliveryToCourierEstimation),
		DeliveryToCustomerEstimation: estimationOf(c.DeliveryToCustomerEstimation),
	}
	if len(c.ShipmentIDs) > 0 {
		view.ShipmentID = c.ShipmentIDs[0]
	}
	return view
}

// detailsView is the invoice that the customer asked for at checkout (spec 2.6).
// It has the fields of order.InvoiceDetails, so that one converts to the other.
type detailsView struct {
	TaxOfficeCode         *string `json:"doy"`
	TaxOfficeName         *string `json:"doyName"`
	VATNumber             string  `json:"vatNumber"`
	Company               *string `json:"company"`
	Occupation            *string `json:"occupation"`
	Address               *string `json:"address"`
	PostCode              *string `json:"postCode"`
	City                  *string `json:"city"`
	Article39             *string `json:"article39"`
	Article39Eligible     any     `json:"article39Eligible"` // string, boolean or null, as in the order document
	Article39IdentityType *string `json:"article39IdentityType"`
	Article39IdentityNo   *string `json:"article39IdentityNo"`
	Article39MobilePhone  *string `json:"article39MobilePhone"`
	Article39OTP          *string `json:"article39Otp"`
	Article39Valid        any     `json:"article39Valid"` // string, boolean or null, as in the order document
}

// lineItemView is one line (spec 2.5).
type lineItemView struct {
	ID                 int64           `json:"id"`
	SKU                string          `json:"sku"`
	MerchantEAN        string          `json:"merchantEan"`
	MerchantSKU        string          `json:"merchantSku"`
	ProductName        string          `json:"productName"`
	UnitPrice          int64           `json:"unitPrice"`
	OriginalUnitPrice  int64           `json:"originalUnitPrice"`
	TotalPrice         int64           `json:"totalPrice"`
	Quantity           int64           `json:"quantity"`
	Article39Valid     bool            `json:"sfArticle39Valid"`
	GiftWrap           bool            `json:"giftWrap"`
	ExtendedAttributes json.RawMessage `json:"extendedAttributes"`
	VATRate            string          `json:"vatRate,omitempty"`
}

// newLineItemViews returns the views of lines, in the same order.
func newLineItemViews(lines []order.LineItem) []lineItemView {
	return web.Collect(lines, func(line order.LineItem) lineItemView {
		return lineItemView{
			ID:                 line.ID,
			SKU:                line.SKU,
			MerchantEAN:        line.MerchantEAN,
			MerchantSKU:        line.MerchantSKU,
			ProductName:        line.ProductName,
			UnitPrice:          line.UnitPrice,
			OriginalUnitPrice:  line.OriginalUnitPrice,
			TotalPrice:         line.TotalPrice,
			Quantity:           line.Quantity,
			Article39Valid:     line.Article39Valid,
			GiftWrap:           line.GiftWrap,
			ExtendedAttributes: line.ExtendedAttributes,
			VATRate:            line.VATRate,
		}
	})
}

// estimationOf returns an estimation as imported, or in the form of other times if
// it is a time (decision 4).
func estimationOf(text *string) *string {
	if text == nil {
		return nil
	}
	if t, ok := order.ParseRFC3339(*text); ok {
		return timeOf(t)
	}
	return text
}
