package main

import (
	"encoding/json"
	"fmt"
	"time"
)

// firstLegacyID is one less than the legacy id of the order with number 1.
const firstLegacyID = 900_000

// referenceFormat is the format of the reference of the order with a number.
// Its two parts are used where wrk puts the number in.
const (
	referencePrefix       = "SF-2026-"
	referenceNumberFormat = "%07d"
	referenceFormat       = referencePrefix + referenceNumberFormat
)

// orderStates are the states of consecutive orders: most are registered or completed.
var orderStates = []string{
	"registered", "registered", "registered", "in-processing", "ready-for-shipment", "picked-by-courier",
	"delivered-to-customer", "completed", "completed", "canceled", "rejected-by-merchant", "delivered-to-pickup-point",
}

var (
	people = [][2]string{
		{"Μαρία", "Παπαδοπούλου"}, {"Γιώργος", "Νικολαΐδης"}, {"Ελένη", "Κωνσταντίνου"}, {"Νίκος", "Αντωνίου"},
		{"Κατερίνα", "Δημητρίου"}, {"Δημήτρης", "Γεωργίου"}, {"Άννα", "Βασιλείου"}, {"Σπύρος", "Ιωάννου"},
	}
	// cities have a name, a region, the region's code and a post code.
	cities = [][4]string{
		{"Αθήνα", "Αττική", "ATT", "10558"}, {"Νέα Ιωνία", "Αττική", "ATT", "14234"}, {"Θεσσαλονίκη", "Θεσσαλονίκη", "THE", "54622"},
		{"Πάτρα", "Αχαΐα", "ACH", "26221"}, {"Ηράκλειο", "Ηράκλειο", "HER", "71202"},
	}
	streets  = []string{"Ερμού", "Λεωφόρος Ηρακλείου", "Τσιμισκή", "Κορίνθου", "25ης Αυγούστου", "Σταδίου"}
	products = []struct {
		name  string
		price int64 // cents
	}{
		{"3MK Carbon Fiber προστασία πλάτης", 1390}, {"USB-C φορτιστής 30W", 1990}, {"Ασύρματο ποντίκι", 2450},
		{"Θήκη δερμάτινη για κινητό", 1275}, {"Ακουστικά Bluetooth", 4990}, {"Καλώδιο HDMI 2 m", 799},
	}
)

// object is a JSON object.
type object = map[string]any

// orderDocument returns the order document with a number, from 1: JSON of 1.5
// to 2.6 KB on one line. The number alone decides about everything but the
// arguments.
func orderDocument(number int, merchantID int64, state string, created time.Time) ([]byte, error) {
	items, subtotal := lineItems(number, created)
	shipping := address(number)
	shipping["addressType"] = ""
	return json.Marshal(object{
		"merchantId": merchantID, "reference": fmt.Sprintf(referenceFormat, number), "orderId": firstLegacyID + number,
		"state": state, "currency": "EUR", "countryCode": "GR",
		"createdAt": created.Format(time.RFC3339), "updatedAt": nil,
		"expiresAt": created.Add(48 * time.Hour).Format(time.RFC3339), "dispatchUntil": nil,
		"subtotal": subtotal, "discount": 0, "total": subtotal + 400, "notes": nil,
		"customer":        customer(number),
		"billingAddress":  address(number),
		"shippingAddress": shipping,
		"carrier": object{
			"shipmentIds": []int{920_000 + number}, "name": "ACS", "method": "standard", "deliveryName": "Παράδοση στο σπίτι",
			"deliveryKey": "courier", "trackingCodes": "", "comments": nil,
			"deliveryToCourierEstimationDate": nil, "deliveryToCustomerEstimationDate": nil,
		},
		"payment":        object{"name": []string{"cod", "card", "bank-transfer"}[number%3]},
		"invoiceDetails": invoiceDetails(number),
		"lineItems":      items,
	})
}

func customer(number int) object {
	person := people[number%len(people)]
	userID := 200_000 + number%50_000
	if number%7 == 0 {
		userID = 0 // a guest
	}
	return object{
		"userId": userID, "email": fmt.Sprintf("buyer%d@example.com", number), "phone": phone(number),
		"firstName": person[0], "lastName": person[1], "company": "",
	}
}

func phone(number int) string { return fmt.Sprintf("2100%06d", number%1_000_000) }

func address(number int) object {
	person, city := people[number%len(people)], cities[number%len(cities)]
	return object{
		"firstName": person[0], "lastName": person[1],
		"street": streets[number%len(streets)], "streetNumber": fmt.Sprint(1 + number%140), "address2": "",
		"city": city[0], "region": city[1], "regionCode": city[2], "country": "Greece", "countryCode": "GR",
		"postCode": city[3], "phone": phone(number),
	}
}

// invoiceDetails returns the details of every fourth order, else nil.
func invoiceDetails(number int) any {
	if number%4 != 0 {
		return nil
	}
	city := cities[number%len(cities)]
	return object{
		"doy": "1131", "doyName": "ΔΟΥ " + city[0], "vatNumber": fmt.Sprintf("%09d", 90_000_000+number), "company": "Δείγμα ΕΠΕ",
		"occupation": "Λιανικό εμπόριο", "address": streets[number%len(streets)] + " 12", "postCode": city[3], "city": city[0],
		"article39": nil, "article39Eligible": false, "article39IdentityType": nil, "article39IdentityNo": nil,
		"article39MobilePhone": nil, "article39Otp": nil, "article39Valid": nil,
	}
}

// lineItems returns one or two line items and the sum of their totals.
func lineItems(number int, created time.Time) (items []object, subtotal int64) {
	for i := range 1 + number%2 {
		article := (number + i) % 900
		product := products[(number+i)%len(products)]
		quantity := int64(1 + (number+i)%3)
		sku := fmt.Sprintf("SF-%08d", 12_540_000+article)
		ean := fmt.Sprintf("59046224%05d", (number+i)%100_000)
		items = append(items, object{
			"id": 1_688_000_000 + 2*number + i, "productId": fmt.Sprint(20_000_000 + article), "productCode": ean, "sku": sku,
			"merchantSku": fmt.Sprintf("M-%04d", article), "merchantEan": ean, "productName": product.name, "productStatus": "A",
			"masterProductCode": sku, "productUrl": fmt.Sprintf("https://shop.example/p/%d", article), "ean": ean,
			"unitPrice": product.price, "originalUnitPrice": product.price, "basePrice": product.price,
			"totalPrice": product.price * quantity, "quantity": quantity,
			"article39Status": "0", "article39Valid": false, "giftWrap": number%11 == 0, "extendedAttributes": []any{},
			"pickupDate":   created.Add(24 * time.Hour).Format(time.DateOnly),
			"deliveryDate": created.Add(96 * time.Hour).Format(time.DateOnly),
		})
		subtotal += product.price * quantity
	}
	return items, subtotal
}
