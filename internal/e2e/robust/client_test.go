package robust

import (
	"fmt"
	"path/filepath"
	"testing"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/testenv"
)

type (
	response = testenv.Response
	entry    = apptest.File
	sample   = apptest.Sample
)

const (
	uploadFailed = apptest.UploadFailed
)

// running is a server process and a client of its merchant.
type running struct {
	*apptest.Process
	client
}

// start starts a server on a new data folder, with further flags of serve.
func start(t *testing.T, flags ...string) running {
	t.Helper()
	return startOn(t, filepath.Join(t.TempDir(), "data"), flags...)
}

// startOn starts a server on a data folder that may hold something already.
func startOn(t *testing.T, data string, flags ...string) running {
	t.Helper()
	p := apptest.StartProcess(t, data, flags...)
	return running{p, newClient(t, p.BaseURL, p.Merchant(t, apptest.MerchantID))}
}

// client talks to a server as its merchant.
type client struct{ apptest.Client }

func newClient(t testing.TB, base, token string) client {
	return client{apptest.NewClient(t, base, token)}
}

// registered returns the documents of samples of the merchant.
func registered(first sample, count int) []byte {
	return apptest.Registered(apptest.MerchantID, first, count)
}

// shown returns what an order shows, in which both versions must agree.
func (c client) shown(t testing.TB, n sample) apptest.ShownOrder {
	t.Helper()
	v1, v2 := c.Order(t, n, 0), c.Order(t, n, 1)
	testenv.Equal(t, fmt.Sprintf("order %s in both versions", n.Reference()), v1, v2)
	return v2
}

// counted counts orders by state.
func counted(states map[string]string) map[string]int {
	totals := make(map[string]int)
	for _, state := range states {
		totals[state]++
	}
	return totals
}
