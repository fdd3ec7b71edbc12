package robust

import (
	"crypto/tls"
	"io"
	"net/http"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/certtest"
	"merchantorders/internal/testenv"
)

// endless is a body that never ends: a byte from time to time.
type endless struct {
	begun func()
	ended <-chan struct{}
	once  sync.Once
}

// Read implements io.Reader.
func (e *endless) Read(p []byte) (int, error) {
	e.once.Do(e.begun)
	select {
	case <-e.ended:
		return 0, io.EOF
	case <-time.After(200 * time.Millisecond):
	}
	p[0] = ' '
	return 1, nil
}

// TestStrangersLeaveRoom has two clients without a token that send 99 bodies without an
// end each, over one connection with HTTP/2, to a server of 200 connections, and begin
// again whenever one is cut.
//
// It guards that requests without a valid token never keep out those with one.
func TestStrangersLeaveRoom(t *testing.T) {
	t.Parallel()
	const clients, streams, limit = 2, 99, "--max-connections=200"
	pair := certtest.New(t, time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC))
	p := apptest.StartProcess(t, filepath.Join(t.TempDir(), "data"), limit, "--tls-cert", pair.Cert, "--tls-key", pair.Key)
	token := p.Merchant(t, apptest.MerchantID)
	newClient := func() *http.Client {
		transport := &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{RootCAs: pair.Pool}, MaxConnsPerHost: 1}
		t.Cleanup(transport.CloseIdleConnections)
		return &http.Client{Transport: transport, Timeout: testenv.WaitTimeout}
	}
	ended := make(chan struct{})
	var all, begun sync.WaitGroup
	for range clients {
		stranger := newClient()
		for range streams {
			begun.Add(1)
			first := sync.OnceFunc(begun.Done)
			all.Go(func() {
				for {
					select {
					case <-ended:
						return
					default:
					}
					request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.BaseURL+"/", &endless{begun: first, ended: ended})
					if err != nil {
						t.Error(err)
						return
					}
					request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
					if response, err := stranger.Do(request); err == nil {
						_ = response.Body.Close()
					}
				}
			})
		}
	}
	begun.Wait()
	merchant := newClient()
	for range 20 {
		request := testenv.NewRequest(t, token, http.MethodGet, p.BaseURL+"/v2/orders", nil)
		testenv.Do(t, merchant.Do, request).WantStatus(t, http.StatusOK)
		ready := testenv.NewRequest(t, "", http.MethodGet, p.BaseURL+"/readyz", nil)
		testenv.Do(t, merchant.Do, ready).WantStatus(t, http.StatusOK)
		time.Sleep(100 * time.Millisecond)
	}
	close(ended)
	all.Wait()
}
