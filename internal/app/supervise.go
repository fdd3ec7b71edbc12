package app

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
)

const (
	// readyInterval is the time between two questions of a starting server whether it is ready.
	readyInterval = time.Second / 2
	// selfTimeout is how long a server may take to answer itself.
	selfTimeout = 5 * time.Second
	// heartbeats is how many signs of life systemd gets in the time in which it wants one.
	heartbeats = 3
)

// supervisor reloads the settings of a server, and tells systemd of it (sd_notify(3)): when it
// is ready, and, as often as systemd wants to know, that it is alive.
type supervisor struct {
	*server
	port   *port // that the server answers on
	client *http.Client
	ready  bool // systemd knows
	unsaid bool // the log does not say yet why it is not ready
}

// supervise runs until ctx ends.
func (s *server) supervise(ctx context.Context, p *port) {
	// The certificate is for another name. No secret is sent.
	transport := &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, p.Addr().Network(), p.Addr().String())
	}
	u := &supervisor{server: s, port: p, client: &http.Client{Transport: transport, Timeout: selfTimeout}, unsaid: true}
	next := time.NewTimer(0)
	defer next.Stop()
	interval, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		s.log.Warn("the watchdog of systemd does not work", "error", err)
	}
	if os.Getenv("NOTIFY_SOCKET") == "" {
		next.Stop() // systemd does not want to know
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.Reload:
			u.reload()
		case <-next.C:
			if !u.ready {
				if err := u.answers(ctx, "/readyz"); err != nil {
					u.waits(ctx, err)
					next.Reset(readyInterval)
					continue
				}
				u.ready = true
				u.notify(daemon.SdNotifyReady)
			}
			if interval > 0 {
				u.beat(ctx)
				next.Reset(interval / heartbeats)
			}
		}
	}
}

// reload reloads the settings, and tells systemd that it does.
func (u *supervisor) reload() {
	if u.ready {
		u.notify(daemon.SdNotifyReloading + "\n" + daemon.SdNotifyMonotonicUsec())
		defer u.notify(daemon.SdNotifyReady)
	}
	u.server.reload()
}

// waits logs once why the server is not ready.
func (u *supervisor) waits(ctx context.Context, err error) {
	if u.unsaid && ctx.Err() == nil {
		u.unsaid = false
		u.log.Warn("the server is not ready, so systemd waits", "error", err)
	}
}

// beat tells systemd that the server is alive, if it is: it accepts connections and answers.
// Whether the database and the storage work says nothing about that, and a restart would not
// repair them.
func (u *supervisor) beat(ctx context.Context) {
	err := u.answers(ctx, "/healthz")
	if err == nil {
		u.notify(daemon.SdNotifyWatchdog)
	} else if ctx.Err() == nil {
		u.log.Error("the server does not answer itself: systemd will restart it", "error", err)
	}
}

// answers returns an error unless the server answers a request with 200.
func (u *supervisor) answers(ctx context.Context, path string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.port.url()+path, nil)
	if err != nil {
		return err
	}
	response, err := u.client.Do(request)
	if err != nil {
		return err
	}
	_ = response.Body.Close() // it was not read
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", path, response.Status)
	}
	return nil
}

// notify tells systemd of a new state, if the server is a service with Type=notify.
func (s *server) notify(state string) {
	if _, err := daemon.SdNotify(false, state); err != nil {
		s.log.Warn("cannot notify systemd", "error", err)
	}
}
