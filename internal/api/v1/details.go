package v1

import "merchantorders/internal/order"

// fieldsView is the invoice that the customer asked for at checkout, under the
// numbers of the shop's form (spec 2.3, decision 4).
type fieldsView struct {
	HasInvoice   string `json:"115"`
	Company      string `json:"116"`
	Address      string `json:"117"`
	TaxOffice    string `json:"118"`
	VATNumber    string `json:"119"`
	TaxName      string `json:"120"`
	Eligible     string `json:"151"`
	IdentityType string `json:"152"`
	IdentityNo   string `json:"153"`
	MobilePhone  string `json:"154"`
	OTP          string `json:"155"`
	Occupation   string `json:"156"`
}

// newFieldsView writes the details of an invoice; nil where none was asked
// for.
func newFieldsView(details *order.InvoiceDetails) fieldsView {
	if details == nil {
		return fieldsView{HasInvoice: "N"}
	}
	return fieldsView{
		HasInvoice:   "Y",
		Company:      textOf(details.Company),
		Address:      textOf(details.Address),
		TaxOffice:    textOf(details.TaxOfficeCode),
		VATNumber:    details.VATNumber,
		TaxName:      textOf(details.TaxOfficeName),
		Eligible:     eligible(details.Article39Eligible),
		IdentityType: textOf(details.Article39IdentityType),
		IdentityNo:   textOf(details.Article39IdentityNo),
		MobilePhone:  textOf(details.Article39MobilePhone),
		OTP:          textOf(details.Article39OTP),
		Occupation:   textOf(details.Occupation),
	}
}

// eligible writes what came as text, boolean or null as Y or N.
func eligible(value any) string {
	switch value {
	case true, "Y", "yes", "1":
		return "Y"
	}
	return "N"
}
