package instances

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	hooks "merchantorders/client"
	"merchantorders/internal/app/apptest"
	"merchantorders/internal/certtest"
	"merchantorders/internal/filestore/s3test"
	"merchantorders/internal/store/pgtest"
	"merchantorders/internal/testenv"
)

// rotatedOrders is how many orders there are to accept: more than the load takes.
const rotatedOrders = 1500

// TestRotateSecrets does what docs/runbook.md says, except for the keys of the bucket: that
// of the test has one account. Meanwhile clients read, accept and upload, and a webhook gets
// the events. No request fails, and every signature is valid.
func TestRotateSecrets(t *testing.T) {
	t.Parallel()
	address := pgtest.Database(t)
	settings := onPostgres(t, address, "--storage", bucket(t))
	urlFile := filepath.Join(t.TempDir(), "database")
	testenv.NoError(t, os.WriteFile(urlFile, []byte(address), 0o600))
	end := time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
	old, renewed := certtest.New(t, end), certtest.New(t, end)
	both := old.Pool.Clone()
	both.AppendCertsFromPEM(content(t, renewed.Cert))
	first := settings.filled(t, rotatedOrders)
	folder := apptest.Folder{
		Data: settings.folder(t), Settings: settings.settings[2:], // without --database
		Environ: append(s3test.Environment(), "MERCHANT_ORDERS_DATABASE_FILE="+urlFile),
	}
	server := folder.ServeUnchecked(t, "--tls-cert", old.Cert, "--tls-key", old.Key, "--webhook-allow-private")
	command := func(args ...string) string {
		t.Helper()
		got := folder.Run(t, "", args...)
		got.WantText(t, 0)
		return strings.TrimSpace(got.Stdout)
	}

	var secret atomic.Value
	var delivered atomic.Int64
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		events, err := hooks.WebhookEvents(r.Header, body, secret.Load().(string))
		if err != nil {
			t.Errorf("%s: %v", body, err)
		}
		delivered.Add(int64(len(events)))
	}))
	t.Cleanup(receiver.Close)
	secret.Store(command("webhook", "add", "--merchant", "355", "--url", receiver.URL, "--webhook-allow-private"))

	load := &rotationLoad{t: t, base: server.BaseURL, transport: &http.Transport{MaxIdleConnsPerHost: 64, TLSClientConfig: &tls.Config{RootCAs: both}}}
	load.token.Store(first)
	stop := load.begin()
	more := func() { // what is to come goes over connections that are made now
		before, events := load.done.Load(), delivered.Load()
		testenv.Eventually(t, "more requests and deliveries", func() bool { return load.done.Load() >= before+20 && delivered.Load() >= events+5 })
	}
	more()

	db, at := settings.tables(t), urlOf(t, address)
	role := "rotated_" + strings.TrimPrefix(at.Path, "/")
	execute(t, db, `CREATE ROLE `+role+` LOGIN PASSWORD 'other' IN ROLE `+at.User.Username(), `ALTER ROLE `+role+` SET role = '`+at.User.Username()+`'`)
	t.Cleanup(func() { _, _ = db.ExecContext(context.WithoutCancel(t.Context()), `DROP ROLE `+role) })
	testenv.NoError(t, os.WriteFile(urlFile, []byte(changed(t, address, func(u *url.URL) { u.User = url.UserPassword(role, "other") })), 0o600))
	testenv.Eventually(t, "the other role is used", func() bool {
		load.burst()
		return number(t, db, `SELECT COUNT(*) FROM pg_stat_activity WHERE usename = $1`, role) > 0
	})
	more()

	for to, from := range map[string]string{old.Cert: renewed.Cert, old.Key: renewed.Key} {
		testenv.NoError(t, os.WriteFile(to, content(t, from), 0o600))
	}
	testenv.Eventually(t, "the new certificate is used", func() bool {
		dialer := &tls.Dialer{NetDialer: &net.Dialer{}, Config: &tls.Config{RootCAs: renewed.Pool}}
		conn, err := dialer.DialContext(t.Context(), "tcp", strings.TrimPrefix(server.BaseURL, "https://"))
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
	load.transport.CloseIdleConnections()
	more()

	command("links", "revoke")
	next := command("webhook", "rotate", "1", "--overlap", "1h")
	more() // signed with both
	secret.Store(next)
	more()
	load.token.Store(command("token", "rotate", "1", "--overlap", "1h"))
	more()
	command("token", "revoke", first)
	more()
	stop()
	if failed := load.failed.Load(); failed != 0 {
		t.Errorf("%d of %d requests failed", failed, load.done.Load())
	}
}

// content returns the content of a file.
func content(t *testing.T, path string) []byte {
	t.Helper()
	text := testenv.Of(os.ReadFile(path)).Must(t)
	return text
}

// rotationLoad are clients that read, accept and upload.
type rotationLoad struct {
	t            *testing.T
	base         string
	transport    *http.Transport
	token        atomic.Value
	next         atomic.Int64 // the next order to accept
	read         atomic.Int64 // orders read by bursts
	done, failed atomic.Int64
}

// begin starts the clients. stop ends them.
func (l *rotationLoad) begin() (stop func()) {
	ended := make(chan struct{})
	var clients sync.WaitGroup
	for range 3 {
		clients.Go(func() {
			pace := time.NewTicker(100 * time.Millisecond)
			defer pace.Stop()
			for {
				select {
				case <-ended:
					return
				case <-pace.C:
					l.work()
				}
			}
		})
	}
	stop = sync.OnceFunc(func() {
		close(ended)
		clients.Wait()
		l.transport.CloseIdleConnections()
	})
	l.t.Cleanup(stop)
	return stop
}

// work accepts an order, reads it and uploads a file to some.
func (l *rotationLoad) work() {
	order := apptest.Sample(l.next.Add(1))
	if order > rotatedOrders {
		l.send(http.MethodGet, "/v2/orders", "")
		return
	}
	l.send(http.MethodPatch, order.V2()+"/accept", "")
	l.send(http.MethodGet, order.V2(), "")
	if order%8 == 0 {
		l.send(http.MethodPost, order.V2()+"/invoices", apptest.UploadBody("a.pdf", []byte("%PDF-1.7\n")))
	}
}

// burst reads many orders at once, for which the service needs more connections.
func (l *rotationLoad) burst() {
	var clients sync.WaitGroup
	for range 32 {
		order := apptest.Sample(rotatedOrders - l.read.Add(1)%rotatedOrders)
		clients.Go(func() { l.send(http.MethodGet, order.V2(), "") })
	}
	clients.Wait()
}

func (l *rotationLoad) send(method, path, body string) {
	c := apptest.Client{Base: l.base, Token: l.token.Load().(string), HTTP: &http.Client{Transport: l.transport}}
	got, err := c.Try(method, path, body)
	l.done.Add(1)
	if err != nil || got.Status != http.StatusOK {
		l.failed.Add(1)
		l.t.Errorf("%s %s: %d %s, %v", method, path, got.Status, got.Body, err)
	}
}
