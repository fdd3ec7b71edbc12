package instances

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"merchantorders/internal/ingest/ingesttest"
	"merchantorders/internal/order"
	"merchantorders/internal/store/pgtest"
	"merchantorders/internal/testenv"
)

// TestFailoverLosesCommits replaces the database by an asynchronous standby that
// lacks the last commits, and gives out their event numbers, order ids and revisions
// again. The surviving instance has shown the lost commits. At its first response it
// must show what a new instance shows, with other tags, and a feed of another
// history.
func TestFailoverLosesCommits(t *testing.T) {
	t.Parallel()
	primary := pgtest.StartServer(t)
	address := primary.Database(t)
	standby := primary.StartStandby(t)
	i := onPostgres(t, changed(t, address, func(u *url.URL) {
		u.Host += "," + urlOf(t, standby.URL("")).Host
		u.RawQuery += "&target_session_attrs=read-write"
	}), "--base-url", "https://orders.example.com")
	token := i.filled(t, 4)
	survivor := newClient(t, i.start(t), token)
	paths := []string{
		"/v2/orders", "/v2/orders?status=registered&itemsPerPage=2", "/v2/orders?status=in-processing", "/api/orders", "/v2/events",
		sample(1).v1(), sample(1).v2(), sample(2).v2(), sample(5).v1(), sample(5).v2(),
	}
	sent := admin(t, primary)
	testenv.Eventually(t, "the standby has all commits", func() bool {
		return number(t, sent, `SELECT COUNT(*) FROM pg_stat_replication WHERE replay_lsn = pg_current_wal_lsn()`) == 1
	})
	standby.Stop()

	branch(t, i, survivor, "Lost", decisions[2])
	lost := responses(t, survivor, paths)
	responses(t, survivor, paths) // from the caches
	lostOther := newClient(t, survivor.base, i.run(t, "", "token", "create", "--merchant", "400"))
	lostName := lostOther.ask(t, http.MethodGet, sample(7).v1(), "")
	if !strings.Contains(lostName.body, `"Lost"`) {
		t.Fatalf("the order does not name its merchant: %s", lostName.body)
	}
	primary.Stop()
	testenv.NoError(t, standby.Run())
	testenv.NoError(t, standby.Promote())

	same := func(survivor client, paths []string, lost map[string]response) {
		t.Helper()
		got := responses(t, survivor, paths)
		want := responses(t, newClient(t, i.start(t), survivor.token), paths)
		for path := range want {
			if got[path].body != want[path].body || got[path].header.Get("ETag") != want[path].header.Get("ETag") {
				t.Errorf("GET %s: %d %s, a new instance has %d %s", path, got[path].status, got[path].body, want[path].status, want[path].body)
			}
			if got[path].body == lost[path].body {
				t.Errorf("GET %s is as before the failover: %s", path, got[path].body)
			}
			had := survivor
			if had.has = lost[path].header.Get("ETag"); had.has != "" && had.ask(t, http.MethodGet, path, "").status == http.StatusNotModified {
				t.Errorf("GET %s with the tag %s of a lost commit: 304", path, had.has)
			}
		}
	}
	if got := responses(t, lostOther, []string{"/v2/orders"}); got["/v2/orders"].status != http.StatusUnauthorized {
		t.Errorf("a lost token: %+v", got)
	}
	changedPaths := []string{"/v2/orders", "/v2/orders?status=registered&itemsPerPage=2", "/api/orders", "/v2/events", sample(1).v1(), sample(5).v2()}
	same(survivor, changedPaths, lost)
	branch(t, i, newClient(t, i.start(t), token), "Found", decisions[3])
	same(survivor, changedPaths, lost)
	found := newClient(t, survivor.base, i.run(t, "", "token", "create", "--merchant", "400"))
	same(found, []string{sample(7).v1()}, map[string]response{sample(7).v1(): lostName})
}

// branch makes the commits that are different before and after the failover: a
// decision, an order, and a merchant with an order.
func branch(t *testing.T, i installation, c client, name string, d decision) {
	t.Helper()
	if got := c.ask(t, d.method, d.path(1), d.body); got.status != http.StatusOK {
		t.Fatalf("%s: %d %s", d.path(1), got.status, got.body)
	}
	i.run(t, "", "merchant", "add", "--id", "400", "--name", name)
	for n, merchant := range map[int]int64{5: merchantID, 7: 400} {
		i.run(t, string(ingesttest.Document(n, func(document map[string]any) {
			document["merchantId"], document["state"] = merchant, order.Registered.String()
			document["customer"].(map[string]any)["firstName"] = "Customer " + name
		})), "import", "-")
	}
}

// responses returns the first responses to requests that find the database.
func responses(t *testing.T, c client, paths []string) map[string]response {
	t.Helper()
	all := make(map[string]response)
	for _, path := range paths {
		testenv.Eventually(t, "the database is found", func() bool {
			all[path] = c.ask(t, http.MethodGet, path, "")
			return all[path].status != http.StatusServiceUnavailable
		})
	}
	return all
}
