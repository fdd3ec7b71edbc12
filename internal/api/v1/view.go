package v1

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"merchantorders/internal/api/invoiceapi"
	"merchantorders/internal/order"
)

// timeForm is how this version writes a time, in UTC.
const timeForm = "2006-01-02 15:04:05"

// messageView is the answer of an action.
type messageView struct {
	Message string `json:"message"`
}

// listView is the answer of a list (spec 2.2).
type listView struct {
	Params paramsView    `json:"params"`
	Orders []summaryView `json:"orders"`
}

type paramsView struct {
	Page         int64   `json:"page"`
	ItemsPerPage int64   `json:"items_per_page"`
	TotalItems   int64   `json:"total_items"`
	Status       *string `json:"status"`
	DateFrom     string  `json:"date_from"`
	DateTo       string  `json:"date_to"`
}

type summaryView struct {
	OrderID        int64  `json:"order_id"`
	OrderReference string `json:"order_reference"`
	Timestamp      int64  `json:"timestamp"`
	FirstName      string `json:"firstname"`
	LastName       string `json:"lastname"`
	CompanyID      string `json:"company_id"`
	Company        string `json:"company"`
	Email          string `json:"email"`
	Phone          string `json:"phone"`
	Status         string `json:"status"`
	Total          string `json:"total"`
}

func newListView(params listParams, page order.Page, merchantID int64, now time.Time) listView {
	from, to := params.filter.EffectiveRange(now)
	view := listView{
		Params: paramsView{
			Page:         params.filter.Page,
			ItemsPerPage: params.filter.PageSize,
			TotalItems:   page.Total,
			Status:       params.status,
			DateFrom:     from.Format(timeForm),
			DateTo:       to.Format(timeForm),
		},
		Orders: make([]summaryView, 0, len(page.Orders)),
	}
	companyID := strconv.FormatInt(merchantID, 10)
	for _, o := range page.Orders {
		view.Orders = append(view.Orders, summaryView{
			OrderID:        o.LegacyID,
			OrderReference: o.Reference,
			Timestamp:      o.CreatedAt.Unix(),
			FirstName:      o.Customer.FirstName,
			LastName:       o.Customer.LastName,
			CompanyID:      companyID,
			Company:        o.Customer.Company,
			Email:          o.Customer.Email,
			Phone:          textOf(o.Customer.Phone),
			Status:         o.State.Code(),
			Total:          order.Decimal(o.Total, o.Currency),
		})
	}
	return view
}

// orderView is the answer of a single order (spec 2.3).
type orderView struct {
	OrderID        int64       `json:"order_id"`
	UserID         int64       `json:"user_id"`
	OrderReference string      `json:"order_reference"`
	Status         string      `json:"status"`
	Timestamp      int64       `json:"timestamp"`
	Total          string      `json:"total"`
	Subtotal       string      `json:"subtotal"`
	Discount       json.Number `json:"discount"`
	CompanyID      string      `json:"company_id"`
	Notes          *string     `json:"notes"`
	FirstName      string      `json:"firstname"`
	LastName       string      `json:"lastname"`
	Phone          string      `json:"phone"`
	Email          string      `json:"email"`

	BillingFirstName string `json:"b_firstname"`
	BillingLastName  string `json:"b_lastname"`
	BillingAddress   string `json:"b_address"`
	BillingAddress2  string `json:"b_address_2"`
	BillingCity      string `json:"b_city"`
	BillingState     string `json:"b_state"`
	BillingCountry   string `json:"b_country"`
	BillingZipcode   string `json:"b_zipcode"`
	BillingPhone     string `json:"b_phone"`

	ShippingFirstName   string `json:"s_firstname"`
	ShippingLastName    string `json:"s_lastname"`
	ShippingAddress     string `json:"s_address"`
	ShippingAddress2    string `json:"s_address_2"`
	ShippingCity        string `json:"s_city"`
	ShippingState       string `json:"s_state"`
	ShippingCountry     string `json:"s_country"`
	ShippingZipcode     string `json:"s_zipcode"`
	ShippingPhone       string `json:"s_phone"`
	ShippingAddressType string `json:"s_address_type"`

	BillingCountryName  string `json:"b_country_descr"`
	ShippingCountryName string `json:"s_country_descr"`
	BillingStateName    string `json:"b_state_descr"`
	ShippingStateName   string `json:"s_state_descr"`

	ShipmentIDs     []int64            `json:"shipment_ids"`
	CompanyName     string             `json:"company_name"`
	LastOrderChange string             `json:"last_order_change"`
	PaymentMethod   paymentView        `json:"payment_method"`
	Shipping        shippingView       `json:"shipping"`
	Invoices        []invoiceapi.Entry `json:"invoices"`
	Fields          fieldsView         `json:"fields"`
	Products        productsView       `json:"products"`
}

type paymentView struct {
	Payment string `json:"payment"`
}

type shippingView struct {
	Name        string `json:"name"`
	Method      string `json:"method"`
	DeliveryKey string `json:"delivery_key"`
}

func newOrderView(o order.Order, storageURL string) orderView {
	b, s := o.Billing, o.Shipping
	return orderView{
		OrderID:        o.LegacyID,
		UserID:         o.Customer.UserID,
		OrderReference: o.Reference,
		Status:         o.State.Code(),
		Timestamp:      o.CreatedAt.Unix(),
		Total:          order.Decimal(o.Total, o.Currency),
		Subtotal:       order.Decimal(o.Subtotal, o.Currency),
		Discount:       json.Number(order.ShortDecimal(o.Discount, o.Currency)),
		CompanyID:      strconv.FormatInt(o.MerchantID, 10),
		Notes:          o.Notes,
		FirstName:      o.Customer.FirstName,
		LastName:       o.Customer.LastName,
		Phone:          textOf(o.Customer.Phone),
		Email:          o.Customer.Email,

		BillingFirstName: b.FirstName,
		BillingLastName:  b.LastName,
		BillingAddress:   streetOf(b),
		BillingAddress2:  b.Address2,
		BillingCity:      b.City,
		BillingState:     b.RegionCode,
		BillingCountry:   b.CountryCode,
		BillingZipcode:   b.PostCode,
		BillingPhone:     b.Phone,

		ShippingFirstName:   s.FirstName,
		ShippingLastName:    s.LastName,
		ShippingAddress:     streetOf(s),
		ShippingAddress2:    s.Address2,
		ShippingCity:        s.City,
		ShippingState:       s.RegionCode,
		ShippingCountry:     s.CountryCode,
		ShippingZipcode:     s.PostCode,
		ShippingPhone:       s.Phone,
		ShippingAddressType: s.Type,

		BillingCountryName:  b.Country,
		ShippingCountryName: s.Country,
		BillingStateName:    b.Region,
		ShippingStateName:   s.Region,

		ShipmentIDs:     append([]int64{}, o.Carrier.ShipmentIDs...),
		CompanyName:     o.MerchantName,
		LastOrderChange: timeOf(o.UpdatedAt),
		PaymentMethod:   paymentView{Payment: o.PaymentName},
		Shipping: shippingView{
			Name:        o.Carrier.Name,
			Method:      o.Carrier.Method,
			DeliveryKey: o.Carrier.DeliveryKey,
		},
		Invoices: invoiceapi.NewEntries(storageURL, o.Reference, o.Invoices),
		Fields:   newFieldsView(o.InvoiceDetails),
		Products: newProductsView(o),
	}
}

// streetOf writes street and number in one text, as this version has it.
func streetOf(a order.Address) string {
	return strings.TrimSpace(a.Street + " " + a.StreetNumber)
}

// textOf writes a text that this version never shows as null.
func textOf(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// timeOf writes a time, empty when there is none.
func timeOf(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(timeForm)
}
