package v1

import (
	"bytes"
	"encoding/json"
	"strconv"

	"merchantorders/internal/order"
)

// dateForm is how this version writes a day.
const dateForm = "02/01/2006"

// productsView are the lines of an order: on the wire an object keyed by line
// item id, in the order of the lines.
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

// dateOf writes a day, empty when it is unknown.
func dateOf(day order.Day) string {
	if day == order.NoDay {
		return ""
	}
	return day.Start().Format(dateForm)
}
