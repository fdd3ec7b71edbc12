package demo

// person is a customer.
type person struct {
	first, last, email, phone string
}

func (g *generator) person() person {
	first, last := pick(g, g.Men), pick(g, g.Surnames).Man
	if g.oneIn(2) {
		first, last = pick(g, g.Women), pick(g, g.Surnames).Woman
	}
	return person{
		first: first.Greek,
		last:  last.Greek,
		email: first.Latin + "." + last.Latin + "@example.com",
		phone: "6900000" + g.digits(3), // not assigned to subscribers
	}
}

func (g *generator) customer(n int, who person, shipping object) object {
	c := object{
		"userId": 222000 + g.between(1, 899), "email": who.email, "phone": who.phone,
		"firstName": who.first, "lastName": who.last, "company": "",
	}
	if n%4 == 0 {
		c["userId"] = 0 // a guest
	}
	if n%9 == 0 {
		c["phone"] = nil
	} else if g.oneIn(5) {
		c["phone"] = shipping["phone"]
	}
	return c
}

// address generates an address of a person in a city.
func (g *generator) address(who person, where place) object {
	street, postCodeLength := pick(g, g.Streets), 5
	switch where.CountryCode {
	case "SE":
		street = "Exempelgatan"
	case "CY":
		postCodeLength = 4
	}
	address := object{
		"firstName": who.first, "lastName": who.last,
		"street": street, "streetNumber": g.number(1, 140), "address2": "",
		"city": where.City, "region": where.Region, "regionCode": where.RegionCode,
		"country": where.Country, "countryCode": where.CountryCode,
		"postCode": where.PostCode + g.digits(postCodeLength-len(where.PostCode)),
		"phone":    where.Phone + g.digits(3),
	}
	if g.oneIn(4) {
		address["address2"] = g.number(1, 6) + "ος όροφος"
	}
	return address
}

// invoiceDetails generates the invoice that a customer requests.
func (g *generator) invoiceDetails(who person, billing object, article39 bool) object {
	c := pick(g, g.Companies)
	details := object{
		"doy": c.DOY, "doyName": c.DOYName,
		"vatNumber": "000000" + g.digits(3), // no real number begins with six zeros
		"company":   c.Name, "occupation": c.Occupation,
		"address":  billing["street"].(string) + " " + billing["streetNumber"].(string),
		"postCode": billing["postCode"], "city": billing["city"],
		"article39": nil, "article39Eligible": false, "article39IdentityType": nil, "article39IdentityNo": nil,
		"article39MobilePhone": nil, "article39Otp": nil, "article39Valid": nil,
	}
	if article39 {
		details["company"] = who.last + " " + who.first
		details["article39"], details["article39Eligible"] = "1", true
		details["article39IdentityType"], details["article39IdentityNo"] = "Δελτίο ταυτότητας", "ΑΒ 000"+g.digits(3)
		details["article39MobilePhone"], details["article39Otp"] = who.phone, g.digits(6)
		details["article39Valid"] = true
	}
	return details
}
