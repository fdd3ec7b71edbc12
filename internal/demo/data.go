package demo

import (
	_ "embed"
	"encoding/json"
	"sync"
)

//go:embed data.json
var dataJSON []byte

// data is the content of data.json.
type data struct {
	Women     []name
	Men       []name
	Surnames  []struct{ Man, Woman name }
	Companies []company
	Products  []product
	Couriers  []courier
	Payments  []string
	Notes     []string
	Streets   []string
	Places    []place // Greece; large cities occur several times
	Abroad    struct{ Nicosia, Stockholm place }
}

// name is a name, and its spelling in an e-mail address.
type name struct{ Greek, Latin string }

// company is a customer that requests an invoice.
type company struct {
	Name, Occupation string
	DOY, DOYName     string // tax office
}

// product is an article of the demo merchant.
type product struct {
	Name          string
	Price         int64 // in cents
	OriginalPrice int64 // before a discount, in cents; 0: no discount
	Gift          bool  // some orders have it gift-wrapped
}

type courier struct {
	Name, Method              string
	DeliveryName, DeliveryKey string
	TrackingPrefix            string
}

// pickupPoint is the DeliveryKey of couriers that deliver to pickup points.
const pickupPoint = "pickup-point"

// place is a city. PostCode and Phone are the first digits.
type place struct {
	City, Region, RegionCode string
	Country, CountryCode     string
	PostCode, Phone          string
}

// loadData decodes data.json once.
var loadData = sync.OnceValues(func() (*data, error) {
	var d data
	return &d, json.Unmarshal(dataJSON, &d)
})
