package ingest

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"merchantorders/internal/order"
)

func (r *reader) carrier(given *carrier) order.Carrier {
	c := order.Carrier{
		ShipmentIDs:   make([]int64, 0, len(given.ShipmentIDs)),
		Name:          given.Name,
		Method:        given.Method,
		DeliveryName:  given.DeliveryName,
		DeliveryKey:   given.DeliveryKey,
		TrackingCodes: given.TrackingCodes,
		Comments:      given.Comments,

		DeliveryToCourierEstimation:  given.DeliveryToCourierEstimation,
		DeliveryToCustomerEstimation: given.DeliveryToCustomerEstimation,
	}
	for i, id := range given.ShipmentIDs {
		if id == nil {
			r.refuse("carrier.shipmentIds["+strconv.Itoa(i)+"]", "must be a whole number")
			break
		}
		c.ShipmentIDs = append(c.ShipmentIDs, *id)
	}
	return c
}

func (r *reader) invoiceDetails(given *invoiceDetails) *order.InvoiceDetails {
	if given == nil {
		return nil
	}
	return &order.InvoiceDetails{
		TaxOfficeCode: given.TaxOfficeCode,
		TaxOfficeName: given.TaxOfficeName,
		VATNumber:     given.VATNumber,
		Company:       given.Company,
		Occupation:    given.Occupation,
		Address:       given.Address,
		PostCode:      given.PostCode,
		City:          given.City,

		Article39:             given.Article39,
		Article39Eligible:     r.flag("invoiceDetails.article39Eligible", given.Article39Eligible),
		Article39IdentityType: given.Article39IdentityType,
		Article39IdentityNo:   given.Article39IdentityNo,
		Article39MobilePhone:  given.Article39MobilePhone,
		Article39OTP:          given.Article39OTP,
		Article39Valid:        r.flag("invoiceDetails.article39Valid", given.Article39Valid),
	}
}

// flag returns a string, a bool or nil, as in the document (decision 4).
func (r *reader) flag(field string, given jsontext.Value) any {
	switch given.Kind() {
	case '"':
		text, err := jsontext.AppendUnquote(nil, given)
		if err != nil {
			r.refuse(field, "must be text")
		}
		return string(text)
	case 't':
		return true
	case 'f':
		return false
	case '0', '[', '{':
		r.refuse(field, "must be text, true, false or null")
	}
	return nil
}
