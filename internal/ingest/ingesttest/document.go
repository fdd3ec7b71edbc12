// Package ingesttest generates order documents for tests and benchmarks. It does
// not use the parser.
package ingesttest

import (
	"encoding/json"
	"fmt"
	"time"
)

// MerchantID is the merchant of every document unless mutate changes it.
const MerchantID = 355

// FirstOrderID is one less than the orderId of Document(1).
const FirstOrderID = 900_000

// newest is the creation time of the newest document. The others are at most
// spread older.
var newest = time.Date(2026, time.November, 20, 8, 15, 30, 0, time.UTC)

const spread = 365 * 24 * 60 * 60 // seconds

// states are the states of the documents. Most are new or completed.
var states = []string{
	"registered", "registered", "registered", "in-processing", "ready-for-shipment", "picked-by-courier",
	"delivered-to-customer", "completed", "completed", "canceled", "rejected-by-merchant", "delivered-to-pickup-point",
}

var people = [][2]string{
	{"Μαρία", "Παπαδοπούλου"}, {"Γιώργος", "Νικολαΐδης"}, {"Ελένη", "Κωνσταντίνου"}, {"Νίκος", "Αντωνίου"},
	{"Κατερίνα", "Δημητρίου"}, {"Δημήτρης", "Γεωργίου"}, {"Άννα", "Βασιλείου"}, {"Σπύρος", "Ιωάννου"},
}

// places are city, region, region code and post code.
var places = [][4]string{
	{"Αθήνα", "Αττική", "ATT", "10558"}, {"Νέα Ιωνία", "Αττική", "ATT", "14234"}, {"Θεσσαλονίκη", "Θεσσαλονίκη", "THE", "54622"},
	{"Πάτρα", "Αχαΐα", "ACH", "26221"}, {"Ηράκλειο", "Ηράκλειο", "HER", "71202"},
}

var streets = []string{"Ερμού", "Λεωφόρος Ηρακλείου", "Τσιμισκή", "Κορίνθου", "25ης Αυγούστου", "Σταδίου"}

// products are name and price in cents.
var products = []struct {
	name  string
	price int64
}{
	{"3MK Carbon Fiber προστασία πλάτης", 1390}, {"USB-C φορτιστής 30W", 1990}, {"Ασύρματο ποντίκι", 2450},
	{"Θήκη δερμάτινη για κινητό", 1275}, {"Ακουστικά Bluetooth", 4990}, {"Καλώδιο HDMI 2 m", 799},
}

// Document returns the nth document, n from 1: valid, realistic, 1.5 to 2.6 KB,
// and always the same for the same n. Its reference is Reference(n), its orderId
// FirstOrderID+n.
//
// Each mutate may change the document before it is encoded. Objects are
// map[string]any, lineItems is []any of objects, and whole numbers are int64.
// The amounts are consistent: a mutate that changes one must change the others.
func Document(n int, mutate ...func(map[string]any)) []byte {
	doc := fields(n)
	for _, change := range mutate {
		change(doc)
	}
	text, err := json.Marshal(doc)
	if err != nil {
		panic(fmt.Sprintf("encode a document: %v", err))
	}
	return text
}

// Reference returns the order reference of the nth document.
func Reference(n int) string { return fmt.Sprintf("SF-2026-%07d", n) }

// State returns the state of the nth document.
func State(n int) string { return states[n%len(states)] }

// CreatedAt returns the creation time of the nth document: within the year before
// 2026-11-20T08:15:30Z, and not in the order of n.
func CreatedAt(n int) time.Time {
	// The factor is coprime to spread, so that the times differ.
	return newest.Add(-time.Duration(int64(n)*7_654_321%spread) * time.Second)
}

// fields returns the nth document.
func fields(n int) map[string]any {
	created := CreatedAt(n)
	lines, subtotal := lineItems(n, created)
	shipping := address(n)
	shipping["addressType"] = ""
	return map[string]any{
		"merchantId": int64(MerchantID), "reference": Reference(n), "orderId": int64(FirstOrderID + n),
		"state": State(n), "currency": "EUR", "countryCode": "GR",
		"createdAt": stamp(created), "updatedAt": nil, "expiresAt": stamp(created.Add(48 * time.Hour)), "dispatchUntil": nil,
		"subtotal": subtotal, "discount": int64(0), "total": subtotal + 400, "notes": nil,
		"customer":        customer(n),
		"billingAddress":  address(n),
		"shippingAddress": shipping,
		"carrier": map[string]any{
			"shipmentIds": []any{int64(920_000 + n)}, "name": "ACS", "method": "standard", "deliveryName": "Παράδοση στο σπίτι",
			"deliveryKey": "courier", "trackingCodes": "", "comments": nil,
			"deliveryToCourierEstimationDate": nil, "deliveryToCustomerEstimationDate": nil,
		},
		"payment":        map[string]any{"name": []string{"cod", "card", "bank-transfer"}[n%3]},
		"invoiceDetails": invoiceDetails(n),
		"lineItems":      lines,
	}
}

func stamp(t time.Time) string { return t.Format(time.RFC3339) }

func customer(n int) map[string]any {
	person := people[n%len(people)]
	userID := int64(200_000 + n%50_000)
	if n%7 == 0 {
		userID = 0 // a guest
	}
	return map[string]any{
		"userId": userID, "email": fmt.Sprintf("buyer%d@example.com", n), "phone": fmt.Sprintf("2100%06d", n%1_000_000),
		"firstName": person[0], "lastName": person[1], "company": "",
	}
}

func address(n int) map[string]any {
	person, place := people[n%len(people)], places[n%len(places)]
	return map[string]any{
		"firstName": person[0], "lastName": person[1], "street": streets[n%len(streets)], "streetNumber": fmt.Sprint(1 + n%140),
		"address2": "", "city": place[0], "region": place[1], "regionCode": place[2], "country": "Greece", "countryCode": "GR",
		"postCode": place[3], "phone": fmt.Sprintf("2100%06d", n%1_000_000),
	}
}

// invoiceDetails returns the details of every fourth document, else nil.
func invoiceDetails(n int) any {
	if n%4 != 0 {
		return nil
	}
	place := places[n%len(places)]
	return map[string]any{
		"doy": "1131", "doyName": "ΔΟΥ " + place[0], "vatNumber": fmt.Sprintf("%09d", 90_000_000+n), "company": "Δείγμα ΕΠΕ",
		"occupation": "Λιανικό εμπόριο", "address": streets[n%len(streets)] + " 12", "postCode": place[3], "city": place[0],
		"article39": nil, "article39Eligible": false, "article39IdentityType": nil, "article39IdentityNo": nil,
		"article39MobilePhone": nil, "article39Otp": nil, "article39Valid": nil,
	}
}

// lineItems returns one or two lines and the sum of their totals.
func lineItems(n int, created time.Time) ([]any, int64) {
	var lines []any
	subtotal := int64(0)
	for i := range 1 + n%2 {
		product := products[(n+i)%len(products)]
		quantity := int64(1 + (n+i)%3)
		sku := fmt.Sprintf("SF-%08d", 12_540_000+(n+i)%900)
		ean := fmt.Sprintf("59046224%05d", (n+i)%100_000)
		lines = append(lines, map[string]any{
			"id": int64(1_688_000_000 + 2*n + i), "productId": fmt.Sprint(20_000_000 + (n+i)%900), "productCode": ean, "sku": sku,
			"merchantSku": fmt.Sprintf("M-%04d", (n+i)%900), "merchantEan": ean, "productName": product.name, "productStatus": "A",
			"masterProductCode": sku, "productUrl": fmt.Sprintf("https://shop.example/p/%d", (n+i)%900), "ean": ean,
			"unitPrice": product.price, "originalUnitPrice": product.price, "basePrice": product.price,
			"totalPrice": product.price * quantity, "quantity": quantity,
			"article39Status": "0", "article39Valid": false, "giftWrap": n%11 == 0, "extendedAttributes": []any{},
			"pickupDate":   created.Add(24 * time.Hour).Format(time.DateOnly),
			"deliveryDate": created.Add(96 * time.Hour).Format(time.DateOnly),
		})
		subtotal += product.price * quantity
	}
	return lines, subtotal
}
