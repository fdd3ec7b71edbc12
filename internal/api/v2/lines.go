package v2

import (
	"encoding/json"

	"merchantorders/internal/order"
)

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
}

// newLineItemViews writes the lines, in their order.
func newLineItemViews(lines []order.LineItem) []lineItemView {
	views := make([]lineItemView, 0, len(lines))
	for _, line := range lines {
		views = append(views, lineItemView{
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
		})
	}
	return views
}
