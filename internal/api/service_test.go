// Package api_test tests the interfaces for merchants, operators and files over HTTP,
// with a database and a disk, and compares whole responses.
package api_test

import (
	"fmt"
	"io/fs"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"merchantorders/internal/api/apitest"
	"merchantorders/internal/app/apptest"
	"merchantorders/internal/order"
	"merchantorders/internal/order/ordertest"
	"merchantorders/internal/testenv"
)

const (
	baseURL    = "https://shop.example/mo"
	storageURL = baseURL + "/storage/eu/inv"
)

// otherMerchant is the id of a second merchant.
const otherMerchant = 400

// service is a service with two merchants and their orders, at baseURL.
type service struct {
	*apptest.Service
	merchant, other, operator string // tokens
}

// start starts a service that runs until the test ends.
func start(t *testing.T) *service {
	t.Helper()
	return startWith(t, apptest.Setup{})
}

// startWith is start with a setup. Faults begin after the data is there.
func startWith(t *testing.T, with apptest.Setup) *service {
	t.Helper()
	s := new(service)
	with.Settings.BaseURL, with.Settings.StorageURL = baseURL, storageURL
	with.Fill = func(filled *apptest.Service) {
		s.Service = filled
		s.fill()
	}
	apptest.New(t, with)
	return s
}

// fill adds two merchants with a token each, the orders of apitest, and some
// registered ones: with the legacy ids 101 to 109, and X-1 of the other
// merchant with 201.
func (s *service) fill() {
	s.T.Helper()
	ctx := s.T.Context()
	testenv.NoError(s.T, s.Merchants.Add(ctx, order.Command(), apitest.MerchantID, apitest.MerchantName, order.Options[order.Merchant]{}))
	testenv.NoError(s.T, s.Merchants.Add(ctx, order.Command(), otherMerchant, "Other", order.Options[order.Merchant]{}))
	s.merchant = s.NewToken(apitest.MerchantID, order.DefaultScopes)
	s.other = s.NewToken(otherMerchant, order.DefaultScopes)
	s.operator = s.NewOperatorToken(order.OperatorScopes)

	batch := []order.Incoming{apitest.Incoming(ordertest.Rich()), apitest.Incoming(ordertest.Minimal())}
	for i := int64(1); i <= 9; i++ {
		batch = append(batch, apitest.Incoming(registered(apitest.MerchantID, 100+i, fmt.Sprintf("R-%d", i))))
	}
	s.MustImport(append(batch, apitest.Incoming(registered(otherMerchant, 201, "X-1")))...)
}

// registered returns a plain registered order.
func registered(merchantID, number int64, reference string) order.Order {
	o := ordertest.Minimal()
	o.MerchantID, o.LegacyID, o.Reference, o.Currency = merchantID, number, reference, "EUR"
	return o
}

// expect sends a request of the merchant and compares status and body.
func (s *service) expect(method, path, body string, status int, want string) testenv.Response {
	s.T.Helper()
	got := s.Send(s.merchant, method, path, body)
	got.Want(s.T, method+" "+path, status, want)
	return got
}

// state returns the state of an order in the database.
func (s *service) state(reference string) order.State {
	s.T.Helper()
	o := testenv.Of(s.Orders.Get(s.T.Context(), apitest.MerchantID, order.ByReference(reference))).Must(s.T)
	return o.State
}

// storedFiles returns the names of all files on the disk, staged ones too.
func (s *service) storedFiles() []string {
	s.T.Helper()
	var names []string
	testenv.NoError(s.T, filepath.WalkDir(s.Folder, func(_ string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			names = append(names, entry.Name())
		}
		return err
	}))
	return names
}

// metricsText returns the metrics.
func (s *service) metricsText() string {
	recorder := httptest.NewRecorder()
	s.Metrics.Handler().ServeHTTP(recorder, httptest.NewRequest("GET", "/metrics", nil))
	return recorder.Body.String()
}
