package e2e

// Whole orders: the document that comes in and what each version shows of it.

// richDocument has a value of its own in every field, so that no two can be
// mixed up.
const richDocument = `{"merchantId":355,"reference":"Rich.1_a-B","orderId":42,"state":"ready-for-shipment","currency":"EUR","countryCode":"CY",
 "createdAt":"2026-03-01T23:59:59.999+00:00","updatedAt":"2026-03-02T01:02:03Z","expiresAt":"2026-03-04T02:00:00+02:00","dispatchUntil":"2026-03-03T00:00:00Z",
 "subtotal":3275,"discount":150,"total":3525,"shippingAmount":350,"shippingVatRate":"24.00","notes":"ring \"twice\" & <wait>",
 "customer":{"userId":7,"email":"maria@example.com","phone":"6900000001","firstName":"Μαρία","lastName":"Παππά","company":"Παππά ΑΕ"},
 "billingAddress":{"firstName":"Νίκος","lastName":"Ιωάννου","street":"Ερμού","streetNumber":"12Α","address2":"2ος όροφος","city":"Αθήνα","region":"Αττική",
   "regionCode":"ATT","country":"Ελλάδα","countryCode":"GR","postCode":"10563","phone":"2101111111"},
 "shippingAddress":{"firstName":"Άννα","lastName":"Γεωργίου","street":"Makariou","streetNumber":"5","address2":"back door","city":"Nicosia","region":"Nicosia district",
   "regionCode":"NIC","country":"Cyprus","countryCode":"CY","postCode":"1065","phone":"2310222222","addressType":"residential"},
 "carrier":{"shipmentIds":[9,8],"name":"ACS","method":"Courier","deliveryName":"To the door","deliveryKey":"door","trackingCodes":"7001,7002",
   "comments":"after 17:00","deliveryToCourierEstimationDate":"2026-03-02","deliveryToCustomerEstimationDate":"2026-03-05"},
 "payment":{"name":"card"},
 "invoiceDetails":{"doy":"1131","doyName":"ΙΓ Αθηνών","vatNumber":"094014201","company":"Παππά ΑΕ","occupation":"Εμπόριο","address":"Ερμού 12Α","postCode":"10563",
   "city":"Αθήνα","article39":"39a","article39Eligible":true,"article39IdentityType":"ID card","article39IdentityNo":"AB123456",
   "article39MobilePhone":"6900000002","article39Otp":"135790","article39Valid":"yes"},
 "lineItems":[
  {"id":1002,"productId":"P2","productCode":"C2","sku":"S2","merchantSku":"M2","merchantEan":"E2","productName":"Θήκη & <strap>","productStatus":"A",
   "masterProductCode":"MP2","productUrl":"https://shop.example/p/2?a=1&b=2","ean":"5904622494338","unitPrice":1390,"originalUnitPrice":1590,"basePrice":1490,
   "totalPrice":2780,"quantity":2,"vatRate":"6.5","article39Status":"1","article39Valid":true,"giftWrap":true,"extendedAttributes":[{"name":"size","value":"XL"}],
   "pickupDate":"2026-03-02","deliveryDate":"2026-12-04"},
  {"id":99,"productName":"Cable","unitPrice":495,"quantity":1}]}`

const richV1 = `{
	"order_id": 42, "user_id": 7, "order_reference": "Rich.1_a-B", "status": "H", "timestamp": 1772409599,
	"total": "35.25", "subtotal": "32.75", "discount": 1.5, "company_id": "355", "notes": "ring \"twice\" & <wait>",
	"firstname": "Μαρία", "lastname": "Παππά", "phone": "6900000001", "email": "maria@example.com",
	"b_firstname": "Νίκος", "b_lastname": "Ιωάννου", "b_address": "Ερμού 12Α", "b_address_2": "2ος όροφος", "b_city": "Αθήνα",
	"b_state": "ATT", "b_country": "GR", "b_zipcode": "10563", "b_phone": "2101111111",
	"s_firstname": "Άννα", "s_lastname": "Γεωργίου", "s_address": "Makariou 5", "s_address_2": "back door", "s_city": "Nicosia",
	"s_state": "NIC", "s_country": "CY", "s_zipcode": "1065", "s_phone": "2310222222", "s_address_type": "residential",
	"b_country_descr": "Ελλάδα", "s_country_descr": "Cyprus", "b_state_descr": "Αττική", "s_state_descr": "Nicosia district",
	"shipment_ids": [9, 8], "company_name": "Store 355", "last_order_change": "1772413323",
	"payment_method": {"payment": "card"},
	"shipping": {"name": "ACS", "method": "Courier", "delivery_key": "door"},
	"invoices": [],
	"fields": {"115": "Y", "116": "Παππά ΑΕ", "117": "Ερμού 12Α", "118": "1131", "119": "094014201", "120": "ΙΓ Αθηνών",
		"151": "Y", "152": "ID card", "153": "AB123456", "154": "6900000002", "155": "135790", "156": "Εμπόριο"},
	"products": {
		"1002": {"item_id": 1002, "order_id": 42, "product_id": "P2", "product_code": "C2",
			"price": "13.90", "total_price": "27.80", "status_a39": "1", "amount": 2, "product": "Θήκη & <strap>", "product_status": "A",
			"master_product_code": "MP2", "company_id": "355", "base_price": "14.90", "original_price": "15.90",
			"ean": "5904622494338", "product_url": "https://shop.example/p/2?a=1&b=2", "extended_attributes": [{"name": "size", "value": "XL"}],
			"extra": {"pickup_date": "02/03/2026", "delivery_date": "04/12/2026"}},
		"99": {"item_id": 99, "order_id": 42, "product_id": "", "product_code": "",
			"price": "4.95", "total_price": "4.95", "status_a39": "", "amount": 1, "product": "Cable", "product_status": "",
			"master_product_code": "", "company_id": "355", "base_price": "4.95", "original_price": "4.95",
			"ean": null, "product_url": "", "extended_attributes": [], "extra": {"pickup_date": "", "delivery_date": ""}}}
}`

const richV2 = `{"order": {
	"id": "Rich.1_a-B", "state": "ready-for-shipment", "countryCode": "CY", "hasInvoice": true,
	"subTotalItemsAmount": 3275, "totalItemsAmount": 3525, "currency": "EUR",
	"createdAt": "2026-03-01 23:59:59", "updatedAt": "2026-03-02 01:02:03", "expiresAt": "2026-03-04 00:00:00", "dispatchUntil": "2026-03-03 00:00:00",
	"customer": {"userId": 7, "email": "maria@example.com", "phone": "6900000001", "firstName": "Μαρία", "lastName": "Παππά"},
	"addressDetails": {"street": "Makariou", "streetNumber": "5", "postCode": "1065", "city": "Nicosia",
		"region": "Nicosia district", "regionCode": "NIC", "country": "Cyprus", "countryCode": "CY"},
	"invoiceDetails": {"doy": "1131", "doyName": "ΙΓ Αθηνών", "vatNumber": "094014201", "company": "Παππά ΑΕ", "occupation": "Εμπόριο",
		"address": "Ερμού 12Α", "postCode": "10563", "city": "Αθήνα", "article39": "39a", "article39Eligible": true,
		"article39IdentityType": "ID card", "article39IdentityNo": "AB123456", "article39MobilePhone": "6900000002",
		"article39Otp": "135790", "article39Valid": "yes"},
	"invoices": [],
	"carrier": {"shipmentId": 9, "name": "ACS", "deliveryName": "To the door", "deliveryKey": "door", "trackingCodes": "7001,7002",
		"comments": "after 17:00", "deliveryToCourierEstimationDate": "2026-03-02", "deliveryToCustomerEstimationDate": "2026-03-05"},
	"payment": {"name": "card"},
	"lineItems": [
		{"id": 1002, "sku": "S2", "merchantEan": "E2", "merchantSku": "M2", "productName": "Θήκη & <strap>",
			"unitPrice": 1390, "originalUnitPrice": 1590, "totalPrice": 2780, "quantity": 2,
			"sfArticle39Valid": true, "giftWrap": true, "extendedAttributes": [{"name": "size", "value": "XL"}], "vatRate": "6.5"},
		{"id": 99, "sku": "", "merchantEan": "", "merchantSku": "", "productName": "Cable",
			"unitPrice": 495, "originalUnitPrice": 495, "totalPrice": 495, "quantity": 1,
			"sfArticle39Valid": false, "giftWrap": false, "extendedAttributes": []}],
	"shippingAmount": 350, "shippingVatRate": "24.00"
}}`

// minimalDocument has what is required (decision 7), and a number so that v1
// can be asked for it.
const minimalDocument = `{"merchantId":355,"reference":"m","orderId":7,"createdAt":"2026-05-01T12:00:00Z","total":5,
 "customer":{},"shippingAddress":{},"lineItems":[{"id":1,"productName":"x","unitPrice":5,"quantity":1}]}`

const minimalV1 = `{
	"order_id": 7, "user_id": 0, "order_reference": "m", "status": "O", "timestamp": 1777636800,
	"total": "0.05", "subtotal": "0.05", "discount": 0, "company_id": "355", "notes": null,
	"firstname": "", "lastname": "", "phone": "", "email": "",
	"b_firstname": "", "b_lastname": "", "b_address": "", "b_address_2": "", "b_city": "",
	"b_state": "", "b_country": "", "b_zipcode": "", "b_phone": "",
	"s_firstname": "", "s_lastname": "", "s_address": "", "s_address_2": "", "s_city": "",
	"s_state": "", "s_country": "", "s_zipcode": "", "s_phone": "", "s_address_type": "",
	"b_country_descr": "", "s_country_descr": "", "b_state_descr": "", "s_state_descr": "",
	"shipment_ids": [], "company_name": "Store 355", "last_order_change": "",
	"payment_method": {"payment": ""}, "shipping": {"name": "", "method": "", "delivery_key": ""},
	"invoices": [],
	"fields": {"115": "N", "116": "", "117": "", "118": "", "119": "", "120": "",
		"151": "N", "152": "", "153": "", "154": "", "155": "", "156": ""},
	"products": {"1": {"item_id": 1, "order_id": 7, "product_id": "", "product_code": "",
		"price": "0.05", "total_price": "0.05", "status_a39": "", "amount": 1, "product": "x", "product_status": "",
		"master_product_code": "", "company_id": "355", "base_price": "0.05", "original_price": "0.05",
		"ean": null, "product_url": "", "extended_attributes": [], "extra": {"pickup_date": "", "delivery_date": ""}}}
}`

const minimalV2 = `{"order": {
	"id": "m", "state": "registered", "countryCode": "", "hasInvoice": false,
	"subTotalItemsAmount": 5, "totalItemsAmount": 5, "currency": "EUR",
	"createdAt": "2026-05-01 12:00:00", "updatedAt": null, "expiresAt": null, "dispatchUntil": null,
	"customer": {"userId": 0, "email": "", "phone": null, "firstName": "", "lastName": ""},
	"addressDetails": {"street": "", "streetNumber": "", "postCode": "", "city": "", "region": "", "regionCode": "", "country": "", "countryCode": ""},
	"invoiceDetails": null, "invoices": [],
	"carrier": {"shipmentId": 0, "name": "", "deliveryName": "", "deliveryKey": "", "trackingCodes": "",
		"comments": null, "deliveryToCourierEstimationDate": null, "deliveryToCustomerEstimationDate": null},
	"payment": {"name": ""},
	"lineItems": [{"id": 1, "sku": "", "merchantEan": "", "merchantSku": "", "productName": "x",
		"unitPrice": 5, "originalUnitPrice": 5, "totalPrice": 5, "quantity": 1,
		"sfArticle39Valid": false, "giftWrap": false, "extendedAttributes": []}]
}}`
