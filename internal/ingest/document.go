package ingest

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

type customer struct {
	UserID    int64   `json:"userId"`
	Email     string  `json:"email"`
	Phone     *string `json:"phone"`
	FirstName string  `json:"firstName"`
	LastName  string  `json:"lastName"`
	Company   string  `json:"company"`
}

type address struct {
	FirstName    string `json:"firstName"`
	LastName     string `json:"lastName"`
	Street       string `json:"street"`
	StreetNumber string `json:"streetNumber"`
	Address2     string `json:"address2"`
	City         string `json:"city"`
	Region       string `json:"region"`
	RegionCode   string `json:"regionCode"`
	Country      string `json:"country"`
	CountryCode  string `json:"countryCode"`
	PostCode     string `json:"postCode"`
	Phone        string `json:"phone"`
	Type         string `json:"-"` // of a shipping address only
}

type shippingAddress struct {
	address
	Type string `json:"addressType"`
}

type carrier struct {
	ShipmentIDs   []*int64 `json:"shipmentIds"`
	Name          string   `json:"name"`
	Method        string   `json:"method"`
	DeliveryName  string   `json:"deliveryName"`
	DeliveryKey   string   `json:"deliveryKey"`
	TrackingCodes string   `json:"trackingCodes"`
	Comments      *string  `json:"comments"`

	DeliveryToCourierEstimation  *string `json:"deliveryToCourierEstimationDate"`
	DeliveryToCustomerEstimation *string `json:"deliveryToCustomerEstimationDate"`
}

type payment struct {
	Name string `json:"name"`
}

type invoiceDetails struct {
	TaxOfficeCode *string `json:"doy"`
	TaxOfficeName *string `json:"doyName"`
	VATNumber     string  `json:"vatNumber"`
	Company       *string `json:"company"`
	Occupation    *string `json:"occupation"`
	Address       *string `json:"address"`
	PostCode      *string `json:"postCode"`
	City          *string `json:"city"`

	Article39             *string `json:"article39"`
	Article39Eligible     any     `json:"article39Eligible"`
	Article39IdentityType *string `json:"article39IdentityType"`
	Article39IdentityNo   *string `json:"article39IdentityNo"`
	Article39MobilePhone  *string `json:"article39MobilePhone"`
	Article39OTP          *string `json:"article39Otp"`
	Article39Valid        any     `json:"article39Valid"`
}

// MaxTextLength is the longest text of a document, in characters (decision 7).
const MaxTextLength = 10_000

// checkTexts refuses texts that are too long or contain a NUL character, which
// PostgreSQL cannot store. It checks all texts of a document that is valid JSON,
// also keys and extended attributes.
func checkTexts(document []byte) *DocumentError {
	// Most documents are shorter than the longest text. JSON can write NUL only
	// as this escape.
	if len(document) <= MaxTextLength && !bytes.Contains(document, []byte(`\u0000`)) {
		return nil
	}
	decoder := jsontext.NewDecoder(bytes.NewReader(document))
	for {
		token, err := decoder.ReadToken()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return decodingError(document, err)
		}
		if token.Kind() != '"' {
			continue
		}
		if problem := textProblem(token.String()); problem != "" {
			return &DocumentError{Field: fieldName(decoder.StackPointer()), Problem: problem}
		}
	}
}

// textProblem returns what is wrong with a text; empty if it is valid.
func textProblem(text string) string {
	if strings.IndexByte(text, 0) >= 0 {
		return "contains a NUL character"
	}
	if len(text) > MaxTextLength && utf8.RuneCountInString(text) > MaxTextLength {
		return "must have at most 10,000 characters"
	}
	return ""
}
