package demo

import "strconv"

// product is something that the demo merchant sells.
type product struct {
	name     string
	price    int64 // in cents
	original int64 // before a discount, in cents; 0: no discount
	gift     bool  // people have it wrapped
}

var products = []product{
	{"Θήκη σιλικόνης για κινητό 6,1\" διάφανη", 990, 1290, false},
	{"Προστατευτικό οθόνης από γυαλί, 2 τεμάχια", 1390, 0, false},
	{"Καλώδιο φόρτισης USB-C 2 m, υφασμάτινο", 1190, 1490, false},
	{"Φορτιστής τοίχου 30 W με δύο θύρες", 2490, 0, false},
	{"Ασύρματα ακουστικά με θήκη φόρτισης", 5990, 7990, true},
	{"Ηχείο χειρός αδιάβροχο 20 W", 6490, 0, true},
	{"Ποντίκι ασύρματο εργονομικό", 3290, 3990, false},
	{"Πληκτρολόγιο με ελληνικούς χαρακτήρες", 4590, 0, false},
	{"Βάση φορητού υπολογιστή από αλουμίνιο", 3490, 0, false},
	{"Σακίδιο πλάτης 24 L με θήκη υπολογιστή", 5490, 6990, false},
	{"Φωτιστικό γραφείου LED με ρύθμιση έντασης", 3890, 0, false},
	{"Σετ 6 ποτήρια νερού 350 ml", 1790, 0, true},
	{"Μπρίκι ανοξείδωτο για 4 φλιτζάνια", 1450, 0, true},
	{"Τηγάνι αντικολλητικό 28 cm", 2990, 3490, false},
	{"Σετ μαχαίρια κουζίνας με βάση", 4990, 0, true},
	{"Πετσέτες μπάνιου βαμβακερές, σετ 3 τεμαχίων", 3290, 0, false},
	{"Σεντόνια διπλά με λάστιχο 160 x 200", 4290, 5290, false},
	{"Επιτραπέζιο παιχνίδι στρατηγικής για 2 έως 4 παίκτες", 3990, 0, true},
	{"Παζλ 1000 τεμαχίων, λιμάνι στο ηλιοβασίλεμα", 1690, 0, true},
	{"Στρώμα γυμναστικής 180 x 60 cm", 2190, 2590, false},
	{"Μπουκάλι θερμός 750 ml", 2290, 0, true},
	{"Φακός κεφαλής επαναφορτιζόμενος", 2690, 0, false},
	{"Ελαιόλαδο εξαιρετικό παρθένο 5 L", 5890, 0, false},
	{"Μέλι θυμαρίσιο 950 g", 1690, 0, true},
}

// line writes one line of an order. ratio turns cents into the minor unit of
// the order's currency.
func (d *dice) line(id int64, index int, quantity, ratio int64, article39 bool) object {
	p := products[index]
	price := p.price * ratio
	original := max(price, p.original*ratio)
	number := strconv.Itoa(20000900 + index)
	sku := "DS-" + number
	ean := barcode(index)
	line := object{
		"id": id, "productId": number, "productCode": ean, "sku": sku,
		"merchantSku": "WH-" + strconv.Itoa(100+index), "merchantEan": ean,
		"productName": p.name, "productStatus": "A", "masterProductCode": sku,
		"productUrl": "https://shop.example/p/" + number, "ean": ean,
		"unitPrice": price, "originalUnitPrice": original, "basePrice": price,
		"totalPrice": price * quantity, "quantity": quantity,
		"article39Status": "0", "article39Valid": false,
		"giftWrap": p.gift && d.oneIn(3), "extendedAttributes": []any{},
	}
	if index%9 == 8 {
		line["ean"] = nil
	}
	if article39 {
		line["article39Status"], line["article39Valid"] = "1", true
	}
	return line
}

// barcode returns an EAN-13 of the range that shops give to their own goods.
func barcode(index int) string {
	digits := "2000000" + strconv.Itoa(10000+index)
	sum := 0
	for i, c := range []byte(digits) {
		weight := 1 + 2*(i%2)
		sum += weight * int(c-'0')
	}
	return digits + strconv.Itoa((10-sum%10)%10)
}
