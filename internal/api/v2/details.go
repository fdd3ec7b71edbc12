package v2

import "merchantorders/internal/order"

// detailsView is the invoice that the customer asked for at checkout
// (spec 2.6).
type detailsView struct {
	TaxOfficeCode         *string `json:"doy"`
	TaxOfficeName         *string `json:"doyName"`
	VATNumber             string  `json:"vatNumber"`
	Company               *string `json:"company"`
	Occupation            *string `json:"occupation"`
	Address               *string `json:"address"`
	PostCode              *string `json:"postCode"`
	City                  *string `json:"city"`
	Article39             *string `json:"article39"`
	Article39Eligible     any     `json:"article39Eligible"` // text, boolean or null, as it came
	Article39IdentityType *string `json:"article39IdentityType"`
	Article39IdentityNo   *string `json:"article39IdentityNo"`
	Article39MobilePhone  *string `json:"article39MobilePhone"`
	Article39OTP          *string `json:"article39Otp"`
	Article39Valid        any     `json:"article39Valid"` // text, boolean or null, as it came
}

// newDetailsView writes the details of an invoice; nil where none was asked
// for.
func newDetailsView(details *order.InvoiceDetails) *detailsView {
	if details == nil {
		return nil
	}
	return &detailsView{
		TaxOfficeCode:         details.TaxOfficeCode,
		TaxOfficeName:         details.TaxOfficeName,
		VATNumber:             details.VATNumber,
		Company:               details.Company,
		Occupation:            details.Occupation,
		Address:               details.Address,
		PostCode:              details.PostCode,
		City:                  details.City,
		Article39:             details.Article39,
		Article39Eligible:     details.Article39Eligible,
		Article39IdentityType: details.Article39IdentityType,
		Article39IdentityNo:   details.Article39IdentityNo,
		Article39MobilePhone:  details.Article39MobilePhone,
		Article39OTP:          details.Article39OTP,
		Article39Valid:        details.Article39Valid,
	}
}
