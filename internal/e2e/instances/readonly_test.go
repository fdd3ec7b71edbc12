package instances

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/store/pgtest"
	"merchantorders/internal/testenv"
)

// readOnlyTimes are ways in which the database takes no changes for a time. begin starts
// it and returns what ends it.
var readOnlyTimes = map[string]func(t *testing.T, server *pgtest.Server, w *wire) (end func()){
	"its name leads to a standby": func(t *testing.T, server *pgtest.Server, w *wire) func() {
		standby := server.StartStandby(t)
		w.move(hostOf(t, standby))
		return func() { w.move(hostOf(t, server)) }
	},
	"the database is set read-only": func(t *testing.T, server *pgtest.Server, w *wire) func() {
		super := admin(t, server)
		execute(t, super, `ALTER DATABASE test1 SET default_transaction_read_only = on`)
		w.move(hostOf(t, server))
		return func() { execute(t, super, `ALTER DATABASE test1 RESET default_transaction_read_only`) }
	},
	"the server is set read-only": func(t *testing.T, server *pgtest.Server, _ *wire) func() {
		super := admin(t, server)
		execute(t, super, `ALTER SYSTEM SET default_transaction_read_only = on`)
		execute(t, super, `SELECT pg_reload_conf()`)
		return func() {
			execute(t, super, `SET default_transaction_read_only = off`)
			execute(t, super, `ALTER SYSTEM RESET default_transaction_read_only`)
			execute(t, super, `SELECT pg_reload_conf()`)
		}
	},
}

// TestReadOnlyTime has the database take no changes for a time. The instance says that it
// is not ready and why, shows nothing that may be old, and keeps no connection of that time.
func TestReadOnlyTime(t *testing.T) {
	t.Parallel()
	for what, begin := range readOnlyTimes {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			server := pgtest.StartServer(t)
			address := server.Database(t)
			w := newWire(t, hostOf(t, server))
			i := onPostgres(t, changed(t, address, func(u *url.URL) { u.Host = w.address() }))
			const orders = 20
			token := i.filled(t, orders)
			process := i.process(t)
			c := apptest.NewClient(t, process.BaseURL, token)
			end := begin(t, server, w)
			testenv.Eventually(t, "the instance is not ready, and says why", func() bool {
				got := c.Ask(t, http.MethodGet, "/readyz", "")
				return got.Status == http.StatusServiceUnavailable && strings.Contains(process.Log(), "read-only")
			})
			for n := range sample(orders) {
				if got := c.Ask(t, http.MethodGet, (1 + n).V2(), ""); got.Status != http.StatusServiceUnavailable {
					t.Fatalf("a read of a database that takes no changes: %d %s", got.Status, got.Body)
				}
			}
			advice := "default_transaction_read_only is on"
			if strings.Contains(what, "standby") {
				advice = "name the primary server"
			}
			testenv.Contains(t, "doctor", apptest.Run(t, "", append([]string{"--data", i.folder(t), "doctor"}, i.settings...)...).Stdout, "accepts no changes: "+advice)
			end()
			testenv.Eventually(t, "the instance is ready", func() bool {
				return c.Ask(t, http.MethodGet, "/readyz", "").Status == http.StatusOK
			})
			for n := range sample(orders) {
				if got := c.Ask(t, http.MethodPatch, (1+n).V2()+"/accept", ""); got.Status != http.StatusOK {
					t.Fatalf("a change afterwards: %d %s", got.Status, got.Body)
				}
			}
		})
	}
}

// TestAdviceInLog starts an instance on a database that is not set as it should be: the log
// says so once, as doctor does.
func TestAdviceInLog(t *testing.T) {
	t.Parallel()
	server := pgtest.StartServer(t)
	address := server.Database(t)
	execute(t, admin(t, server), `ALTER SYSTEM SET synchronous_commit = off`, `SELECT pg_reload_conf()`)
	i := onPostgres(t, address)
	i.filled(t, 1)
	const advice = "synchronous_commit is off"
	process := i.process(t)
	testenv.Eventually(t, "the log is read", func() bool { return strings.Contains(process.Log(), `"msg":"listening"`) })
	testenv.Equal(t, "advice in the log", 1, strings.Count(process.Log(), advice))
	got := apptest.Run(t, "", append([]string{"--data", i.folder(t), "doctor"}, i.settings...)...)
	if !strings.Contains(got.Stdout, advice) || got.Code != 0 {
		t.Errorf("doctor: %+v", got)
	}
}
