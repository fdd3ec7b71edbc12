package v1

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"merchantorders/internal/api/invoiceapi"
	"merchantorders/internal/api/orderapi"
	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// getOrder serves GET /orders/{orderId}.
func (a API) getOrder(r *web.Request) (web.Representation, error) {
	return orderapi.RepresentOrder(r, a.Orders, orderID(r), func(rep *web.Representation, found order.Order) any {
		rep.Links = append(rep.Links, a.successorLink(found.Reference))
		return newOrderView(found, a.StorageURL)
	}), nil
}

// orderID returns the order that {orderId} identifies. An invalid id
// identifies no order.
func orderID(r *web.Request) order.Identifier {
	id, _ := order.ParseID(r.PathValue("orderId"))
	return order.ByLegacyID(id)
}

// timeFormat is the format of times in this version, in UTC.
const timeFormat = "2006-01-02 15:04:05"

// dateFormat is the format of days in this version.
const dateFormat = "02/01/2006"

// orderView is an order (spec 2.3).
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

	ShipmentIDs     []int64                     `json:"shipment_ids"`
	CompanyName     string                      `json:"company_name"`
	LastOrderChange string                      `json:"last_order_change"`
	PaymentMethod   paymentView                 `json:"payment_method"`
	Shipping        shippingView                `json:"shipping"`
	Invoices        []invoiceapi.PublishedEntry `json:"invoices"`
	Fields          fieldsView                  `json:"fields"`
	Products        productsView                `json:"products"`
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
		Phone:          order.TextOf(o.Customer.Phone),
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
		LastOrderChange: unixOf(o.UpdatedAt),
		PaymentMethod:   paymentView{Payment: o.PaymentName},
		Shipping: shippingView{
			Name:        o.Carrier.Name,
			Method:      o.Carrier.Method,
			DeliveryKey: o.Carrier.DeliveryKey,
		},
		Invoices: invoiceapi.PublishedEntries(storageURL, o.Reference, o.Invoices),
		Fields:   newFieldsView(o.InvoiceDetails),
		Products: newProductsView(o),
	}
}

// fieldsView is the invoice that the customer asked for at checkout. The names are
// the field numbers of the shop's form (spec 2.3, decision 4).
type fieldsView struct {
	HasInvoice   string `json:"115"`
	Company      string `json:"116"`
	Address      string `json:"117"`
	TaxOffice    string `json:"118"`
	VATNumber    string `json:"119"`
	TaxName      string `json:"120"`
	Eligible     string `json:"151"`
	IdentityType string `json:"152"`
	IdentityNo   string `json:"153"`
	MobilePhone  string `json:"154"`
	OTP          string `json:"155"`
	Occupation   string `json:"156"`
}

// newFieldsView returns the view of invoice details, which are nil if the customer
// did not ask for an invoice.
func newFieldsView(details *order.InvoiceDetails) fieldsView {
	if details == nil {
		return fieldsView{HasInvoice: "N", Eligible: "N"}
	}
	return fieldsView{
		HasInvoice:   "Y",
		Company:      order.TextOf(details.Company),
		Address:      order.TextOf(details.Address),
		TaxOffice:    order.TextOf(details.TaxOfficeCode),
		VATNumber:    details.VATNumber,
		TaxName:      order.TextOf(details.TaxOfficeName),
		Eligible:     yesNo(details.Article39Eligible),
		IdentityType: order.TextOf(details.Article39IdentityType),
		IdentityNo:   order.TextOf(details.Article39IdentityNo),
		MobilePhone:  order.TextOf(details.Article39MobilePhone),
		OTP:          order.TextOf(details.Article39OTP),
		Occupation:   order.TextOf(details.Occupation),
	}
}

// yesNo returns Y or N for a value that is a string, a boolean or null.
func yesNo(value any) string {
	if text, ok := value.(string); ok {
		switch strings.ToLower(text) {
		case "y", "yes", "true", "1":
			return "Y"
		}
	}
	if value == true {
		return "Y"
	}
	return "N"
}

// productsView is the lines of an order: in JSON an object keyed by line item id,
// in the order of the lines.
type productsView []productView

// productView is one line (spec 2.3).
type productView struct {
	ItemID             int64           `json:"item_id"`
	OrderID            int64           `json:"order_id"`
	ProductID          string          `json:"product_id"`
	ProductCode        string          `json:"product_code"`
	Price              string          `json:"price"`
	TotalPrice         string          `json:"total_price"`
	StatusArticle39    string          `json:"status_a39"`
	Amount             int64           `json:"amount"`
	Product            string          `json:"product"`
	ProductStatus      string          `json:"product_status"`
	MasterProductCode  string          `json:"master_product_code"`
	CompanyID          string          `json:"company_id"`
	BasePrice          string          `json:"base_price"`
	OriginalPrice      string          `json:"original_price"`
	EAN                *string         `json:"ean"`
	ProductURL         string          `json:"product_url"`
	ExtendedAttributes json.RawMessage `json:"extended_attributes"`
	Extra              extraView       `json:"extra"`
}

type extraView struct {
	PickupDate   string `json:"pickup_date"`
	DeliveryDate string `json:"delivery_date"`
}

func newProductsView(o order.Order) productsView {
	companyID := strconv.FormatInt(o.MerchantID, 10)
	view := make(productsView, 0, len(o.LineItems))
	for _, line := range o.LineItems {
		view = append(view, productView{
			ItemID:             line.ID,
			OrderID:            o.LegacyID,
			ProductID:          line.ProductID,
			ProductCode:        line.ProductCode,
			Price:              order.Decimal(line.UnitPrice, o.Currency),
			TotalPrice:         order.Decimal(line.TotalPrice, o.Currency),
			StatusArticle39:    line.Article39Status,
			Amount:             line.Quantity,
			Product:            line.ProductName,
			ProductStatus:      line.ProductStatus,
			MasterProductCode:  line.MasterProductCode,
			CompanyID:          companyID,
			BasePrice:          order.Decimal(line.BasePrice, o.Currency),
			OriginalPrice:      order.Decimal(line.OriginalUnitPrice, o.Currency),
			EAN:                line.EAN,
			ProductURL:         line.ProductURL,
			ExtendedAttributes: line.ExtendedAttributes,
			Extra:              extraView{PickupDate: dateOf(line.PickupDate), DeliveryDate: dateOf(line.DeliveryDate)},
		})
	}
	return view
}

// MarshalJSON implements json.Marshaler.
func (p productsView) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	out.WriteByte('{')
	for i, line := range p {
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteString(`"` + strconv.FormatInt(line.ItemID, 10) + `":`)
		if err := encoder.Encode(line); err != nil {
			return nil, err
		}
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

// dateOf returns a day as text, empty if it is unknown.
func dateOf(day order.Day) string {
	if day == order.NoDay {
		return ""
	}
	return day.Start().Format(dateFormat)
}

// streetOf returns street and number in one text, as this version shows them.
func streetOf(a order.Address) string {
	return strings.TrimSpace(a.Street + " " + a.StreetNumber)
}

// unixOf returns a time as text in Unix seconds, empty if there is none.
func unixOf(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return strconv.FormatInt(t.Unix(), 10)
}
