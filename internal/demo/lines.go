package demo

import (
	"strconv"
	"time"

	"merchantorders/internal/order"
)

// lines generates one to four different lines and returns the sum of their
// totals. rate converts cents to the minor unit of the order's currency.
func (g *generator) lines(n int, e entry, rate int64, article39 bool) ([]object, int64) {
	chosen := g.random.Perm(len(g.Products))[:1+g.between(0, 3)*g.between(0, 1)]
	lines, subtotal := make([]object, len(chosen)), int64(0)
	for i, index := range chosen {
		quantity := int64(1)
		if g.oneIn(3) {
			quantity = int64(g.between(2, 4))
		}
		line := g.line(int64(1688140000+10*n+i), index, quantity, rate, article39)
		if e.state != order.Registered || n%2 == 0 {
			line["pickupDate"] = e.createdAt.Add(day).Format(time.DateOnly)
			line["deliveryDate"] = e.createdAt.Add(4 * day).Format(time.DateOnly)
		}
		lines[i] = line
		subtotal += line["totalPrice"].(int64)
	}
	return lines, subtotal
}

// line generates a line of the product with this index.
func (g *generator) line(id int64, index int, quantity, rate int64, article39 bool) object {
	p := g.Products[index]
	price := p.Price * rate
	number := strconv.Itoa(20000900 + index)
	sku := "DS-" + number
	ean := barcode(index)
	line := object{
		"id": id, "productId": number, "productCode": ean, "sku": sku,
		"merchantSku": "WH-" + strconv.Itoa(100+index), "merchantEan": ean,
		"productName": p.Name, "productStatus": "A", "masterProductCode": sku,
		"productUrl": "https://shop.example/p/" + number, "ean": ean,
		"unitPrice": price, "originalUnitPrice": max(price, p.OriginalPrice*rate), "basePrice": price,
		"totalPrice": price * quantity, "quantity": quantity,
		"article39Status": "0", "article39Valid": false,
		"giftWrap": p.Gift && g.oneIn(3), "extendedAttributes": []any{},
	}
	if index%9 == 8 {
		line["ean"] = nil
	}
	if article39 {
		line["article39Status"], line["article39Valid"] = "1", true
	}
	return line
}

// barcode returns an EAN-13 of the range for internal use by shops.
func barcode(index int) string {
	digits := "2000000" + strconv.Itoa(10000+index)
	sum := 0
	for i, c := range []byte(digits) {
		weight := 1 + 2*(i%2)
		sum += weight * int(c-'0')
	}
	return digits + strconv.Itoa((10-sum%10)%10)
}
