package demo

// invoiceDetails writes what a customer asks an invoice to be made out to.
func (d *dice) invoiceDetails(who person, bill object, article39 bool) object {
	c := pick(d, companies)
	details := object{
		"doy": c.officeCode, "doyName": c.officeTax,
		// No tax number begins with six zeros.
		"vatNumber": "000000" + d.digits(3),
		"company":   c.title, "occupation": c.occupation,
		"address":  bill["street"].(string) + " " + bill["streetNumber"].(string),
		"postCode": bill["postCode"], "city": bill["city"],
		"article39": nil, "article39Eligible": false, "article39IdentityType": nil, "article39IdentityNo": nil,
		"article39MobilePhone": nil, "article39Otp": nil, "article39Valid": nil,
	}
	if article39 {
		details["company"] = who.last + " " + who.first
		details["article39"], details["article39Eligible"] = "1", true
		details["article39IdentityType"], details["article39IdentityNo"] = "Δελτίο ταυτότητας", "ΑΒ 000"+d.digits(3)
		details["article39MobilePhone"], details["article39Otp"] = who.phone, d.digits(6)
		details["article39Valid"] = true
	}
	return details
}
