package client_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/ingest/ingesttest"
	"merchantorders/internal/testenv"
)

// exampleOrders is the number of orders of the service of the examples.
const exampleOrders = 30

// host implements the testing.TB methods that apptest needs, for the service of the
// examples.
type host struct {
	testing.TB
	cleanups []func()
	folders  []string
	failed   bool
}

func (h *host) Helper()                  {}
func (h *host) Failed() bool             { return h.failed }
func (h *host) Context() context.Context { return context.Background() }
func (h *host) Cleanup(f func())         { h.cleanups = append(h.cleanups, f) }
func (h *host) Logf(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
}
func (h *host) Errorf(format string, args ...any) {
	h.failed = true
	h.Logf(format, args...)
}
func (h *host) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (h *host) Fatal(args ...any)                 { panic(fmt.Sprint(args...)) }

func (h *host) TempDir() string {
	folder := testenv.Of(os.MkdirTemp("", "merchant-orders-client-")).Must(h)
	h.folders = append(h.folders, folder)
	return folder
}

// end runs the cleanups in reverse order.
func (h *host) end() {
	for i := len(h.cleanups) - 1; i >= 0; i-- {
		h.cleanups[i]()
	}
	for _, folder := range h.folders {
		_ = os.RemoveAll(folder)
	}
}

// TestMain starts the service of the examples and sets the variables with its
// address and token.
func TestMain(m *testing.M) {
	h := &host{}
	server := apptest.Start(h)
	for n := 1; n <= exampleOrders; n++ {
		server.Import(h, ingesttest.Document(n))
	}
	_ = os.Setenv("MERCHANT_ORDERS_ADDRESS", server.BaseURL)
	_ = os.Setenv("MERCHANT_ORDERS_TOKEN", server.Token)
	code := m.Run()
	h.end()
	if h.failed && code == 0 {
		code = 1
	}
	os.Exit(code)
}
