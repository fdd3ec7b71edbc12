// Package ordertest has orders for tests: one with every field, one with the required
// fields only.
package ordertest

import (
	"time"

	"merchantorders/internal/order"
)

// The merchant of the orders.
const (
	MerchantID   = 355
	MerchantName = "Κατάστημα & Υιοί"
)

func text(s string) *string { return &s }

// Rich returns an order with every field, about 2 KB, without invoice files. Its texts have
// characters that JSON encoders escape or break.
func Rich() order.Order {
	billing := order.Address{
		FirstName: "Μαρία", LastName: "Παπαδοπούλου",
		Street: "Ερμού", StreetNumber: "12Α", Address2: "2ος όροφος",
		City: "Αθήνα", Region: "Αττική", RegionCode: "ATT",
		Country: "Greece", CountryCode: "GR", PostCode: "10563", Phone: "2101111111",
	}
	shipping := order.Address{
		FirstName: "Γιώργος", LastName: "Παπαδόπουλος",
		Street: "Tsimiski", StreetNumber: "5", Address2: "back <door>",
		City: "Θεσσαλονίκη", Region: "Κεντρική Μακεδονία", RegionCode: "KMA",
		Country: "Greece", CountryCode: "GR", PostCode: "54624", Phone: "2310222222",
		Type: "residential",
	}
	return order.Order{
		MerchantID: MerchantID, MerchantName: MerchantName,
		LegacyID: 915664, Reference: "SF-2026-000123",
		State: order.ReadyForShipment, Currency: "EUR", CountryCode: "GR",
		CreatedAt:     time.Date(2026, 11, 20, 8, 15, 30, 0, time.UTC),
		UpdatedAt:     time.Date(2026, 11, 20, 9, 0, 1, 0, time.UTC),
		ExpiresAt:     time.Date(2026, 11, 22, 8, 15, 30, 0, time.UTC),
		DispatchUntil: time.Date(2026, 11, 21, 23, 59, 59, 0, time.UTC),
		Subtotal:      3275, Discount: 150, Total: 3525, ShippingAmount: new(int64(400)), ShippingVATRate: "24",
		Notes: text(`call "first" & ring`),
		Customer: order.Customer{
			UserID: 222039, Email: "buyer@example.com", Phone: text("6900000000"),
			FirstName: "Μαρία", LastName: "Παπαδοπούλου", Company: "Παπαδοπούλου ΑΕ",
		},
		Billing: billing, Shipping: shipping,
		Carrier: order.Carrier{
			ShipmentIDs: []int64{925746, 925747},
			Name:        "ACS", Method: "Courier", DeliveryName: "Door to door", DeliveryKey: "courier",
			TrackingCodes: "7001,7002", Comments: text("after 17:00"),
			DeliveryToCourierEstimation:  text("2026-11-21"),
			DeliveryToCustomerEstimation: text("2026-11-24"),
		},
		PaymentName:    "cod",
		InvoiceDetails: richDetails(),
		LineItems:      richLines(),
		Revision:       1,
	}
}

func richDetails() *order.InvoiceDetails {
	return &order.InvoiceDetails{
		TaxOfficeCode: text("1131"), TaxOfficeName: text("ΙΓ' Αθηνών"), VATNumber: "094014201",
		Company: text("Παπαδοπούλου ΑΕ"), Occupation: text("Εμπόριο"), Address: text("Ερμού 12Α"),
		PostCode: text("10563"), City: text("Αθήνα"),
		Article39: text("39a"), Article39Eligible: true, Article39IdentityType: text("Ταυτότητα"),
		Article39IdentityNo: text("ΑΒ123456"), Article39MobilePhone: text("6900000000"),
		Article39OTP: text("135790"), Article39Valid: "yes",
	}
}

// richLines returns lines that are not sorted by their ids.
func richLines() []order.LineItem {
	pickup, _ := order.ParseDay("2026-11-21")
	delivery, _ := order.ParseDay("2026-12-04")
	return []order.LineItem{
		{
			ID: 1688147141, ProductID: "20000907", ProductCode: "5904622494338",
			SKU: "SF-12540218", MerchantSKU: "3MK-CG", MerchantEAN: "5904622494338",
			ProductName: "Θήκη <slim> & strap", ProductStatus: "A", MasterProductCode: "SF-12540218",
			ProductURL: "https://shop.example/p/2?a=1&b=2", EAN: text("5904622494338"),
			UnitPrice: 1390, OriginalUnitPrice: 1590, BasePrice: 1490, TotalPrice: 2780, Quantity: 2, VATRate: "6.5",
			Article39Status: "1", Article39Valid: true, GiftWrap: true,
			ExtendedAttributes: []byte(`[{"name":"size","value":12345678901234567890},"<b>"]`),
			PickupDate:         pickup, DeliveryDate: delivery,
		},
		{
			ID: 99, ProductID: "7", ProductName: "Cable", SKU: "C-1",
			UnitPrice: 495, OriginalUnitPrice: 495, BasePrice: 495, TotalPrice: 495, Quantity: 1,
			Article39Status: "0", ExtendedAttributes: []byte("[]"),
			PickupDate: order.NoDay, DeliveryDate: order.NoDay,
		},
	}
}

// Minimal returns an order with the required fields only. Its currency has no minor
// unit.
func Minimal() order.Order {
	return order.Order{
		MerchantID: MerchantID, MerchantName: MerchantName,
		LegacyID: 7, Reference: "m",
		State: order.Registered, Currency: "JPY", CountryCode: "",
		CreatedAt: time.Date(2026, 11, 19, 0, 0, 0, 0, time.UTC),
		Subtotal:  5, Total: 5,
		LineItems: []order.LineItem{{
			ID: 1, ProductName: "x", UnitPrice: 5, TotalPrice: 5, Quantity: 1,
			ExtendedAttributes: []byte("[]"), PickupDate: order.NoDay, DeliveryDate: order.NoDay,
		}},
		Revision: 1,
	}
}
