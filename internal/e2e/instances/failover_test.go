package instances

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"merchantorders/internal/app/apptest"
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
// Proves decision 5 (events: history).
func TestFailoverLosesCommits(t *testing.T) {
	t.Parallel()
	primary := pgtest.StartServer(t)
	address := primary.Database(t)
	standby := primary.StartStandby(t)
	i := onPostgres(t, changed(t, address, func(u *url.URL) {
		u.Host += "," + urlOf(t, standby.URL("")).Host
		u.RawQuery += "&target_session_attrs=read-write"
	}), "--base-url", "http://localhost")
	token := i.filled(t, 4)
	survivor := apptest.NewClient(t, i.start(t), token)
	paths := []string{
		"/v2/orders", "/v2/orders?status=registered&itemsPerPage=2", "/v2/orders?status=in-processing", "/api/orders", "/v2/events",
		sample(1).V1(), sample(1).V2(), sample(2).V2(), sample(5).V1(), sample(5).V2(),
	}
	sent := admin(t, primary)
	testenv.Eventually(t, "the standby has all commits", func() bool {
		return number(t, sent, `SELECT COUNT(*) FROM pg_stat_replication WHERE replay_lsn = pg_current_wal_lsn()`) == 1
	})
	standby.Stop()
	operator := apptest.NewClient(t, survivor.Base, i.run(t, "", "token", "create", "--operator"))
	kept := marketEnd(t, operator)

	branch(t, i, survivor, "Lost", decisions[2])
	gone := marketEnd(t, operator)
	lost := responses(t, survivor, paths)
	responses(t, survivor, paths) // from the caches
	lostOther := apptest.NewClient(t, survivor.Base, i.run(t, "", "token", "create", "--merchant", "400"))
	lostName := lostOther.Ask(t, http.MethodGet, sample(7).V1(), "")
	if !strings.Contains(lostName.Body, `"Lost"`) {
		t.Fatalf("the order does not name its merchant: %s", lostName.Body)
	}
	primary.Stop()
	testenv.NoError(t, standby.Run())
	testenv.NoError(t, standby.Promote())

	same := func(survivor client, paths []string, lost map[string]response) {
		t.Helper()
		got := responses(t, survivor, paths)
		want := responses(t, apptest.NewClient(t, i.start(t), survivor.Token), paths)
		for path := range want {
			if got[path].Body != want[path].Body || got[path].Header.Get("ETag") != want[path].Header.Get("ETag") {
				t.Errorf("GET %s: %d %s, a new instance has %d %s", path, got[path].Status, got[path].Body, want[path].Status, want[path].Body)
			}
			if got[path].Body == lost[path].Body {
				t.Errorf("GET %s is as before the failover: %s", path, got[path].Body)
			}
			tag := lost[path].Header.Get("ETag")
			if tag != "" && survivor.With("If-None-Match", tag).Ask(t, http.MethodGet, path, "").Status == http.StatusNotModified {
				t.Errorf("GET %s with the tag %s of a lost commit: 304", path, tag)
			}
		}
	}
	testenv.Equal(t, "a lost token's status", http.StatusUnauthorized, responses(t, lostOther, []string{"/v2/orders"})["/v2/orders"].Status)
	changedPaths := []string{"/v2/orders", "/v2/orders?status=registered&itemsPerPage=2", "/api/orders", "/v2/events", sample(1).V1(), sample(5).V2()}
	same(survivor, changedPaths, lost)
	branch(t, i, apptest.NewClient(t, i.start(t), token), "Found", decisions[3])
	same(survivor, changedPaths, lost)
	found := apptest.NewClient(t, survivor.Base, i.run(t, "", "token", "create", "--merchant", "400"))
	same(found, []string{sample(7).V1()}, map[string]response{sample(7).V1(): lostName})

	operator = apptest.NewClient(t, survivor.Base, i.run(t, "", "token", "create", "--operator"))
	operator.Ask(t, http.MethodGet, "/operator/events?cursor="+gone.Next, "").WantText(t, http.StatusConflict, "history_changed")
	again := marketPage(t, operator, kept.Next)
	if len(again.Events) != 3 || again.History == kept.History {
		t.Errorf("after a cursor of before the failover: %+v, the history was %s", again, kept.History)
	}
}

// TestFailoverAfterOldCopy promotes a standby, puts a copy of the first server's files in
// its place, and promotes a standby of that one, which gets the same timeline again: two
// servers with other events have all that PostgreSQL identifies them by in common. The
// instance that has seen the first one renews the histories when the copy is there, so that
// no instance, also none that is new, shows the events of the second one in the history
// of the first: nor those of a merchant whose feed only an instance has read that ended.
func TestFailoverAfterOldCopy(t *testing.T) {
	t.Parallel()
	server := pgtest.StartServer(t)
	address := server.Database(t)
	w := newWire(t, hostOf(t, server))
	i := onPostgres(t, changed(t, address, func(u *url.URL) { u.Host = w.address() }))
	token := i.filled(t, 3)
	const other = 400
	i.run(t, "", "merchant", "add", "--id", strconv.Itoa(other), "--name", "Other")
	otherToken := i.run(t, "", "token", "create", "--merchant", strconv.Itoa(other))
	survivor, ended := apptest.NewClient(t, i.start(t), token), apptest.NewClient(t, i.start(t), otherToken)
	histories := make(map[string]bool)
	step := func(what string, c client, newest int64) {
		t.Helper()
		var page soakPage
		got := responses(t, c, []string{"/v2/events?after=latest"})["/v2/events?after=latest"]
		if err := json.Unmarshal([]byte(got.Body), &page); err != nil || page.Newest != newest {
			t.Fatalf("%s: %d %s", what, got.Status, got.Body)
		}
		if histories[c.Token+page.History] {
			t.Errorf("%s: the history is %s, as it was with other events", what, page.History)
		}
		histories[c.Token+page.History] = true
	}
	promote := func() {
		t.Helper()
		standby := server.StartStandby(t)
		server.Stop()
		testenv.NoError(t, standby.Promote())
		server = standby
		w.move(hostOf(t, server))
	}

	step("at first", survivor, 3)
	old := server.StartCopy(t)
	promote()
	i.run(t, string(apptest.Registered(merchantID, 4, 1))+"\n"+string(apptest.Registered(other, 6, 1)), "import", "-")
	step("promoted", survivor, 4)
	step("another merchant, promoted", ended, 1)
	server.Stop()
	server = old
	w.move(hostOf(t, server))
	step("an old copy", survivor, 3)
	promote()
	i.run(t, string(apptest.Registered(merchantID, 5, 1))+"\n"+string(apptest.Registered(other, 7, 1)), "import", "-")
	last := i.start(t)
	step("promoted again, as a new instance sees it", apptest.NewClient(t, last, token), 4)
	step("another merchant, promoted again", apptest.NewClient(t, last, otherToken), 1)
}

// soakMarketPage is a page of the feed of all merchants.
type soakMarketPage struct {
	Events        []soakMarketEvent
	Next, History string
	More          bool
}

// soakMarketEvent is an event in the feed of all merchants.
type soakMarketEvent struct {
	MerchantID int64
	soakEvent
}

// marketEnd returns where the feed of all merchants ends.
func marketEnd(t *testing.T, operator client) soakMarketPage {
	return marketPage(t, operator, "latest")
}

// marketPage returns a page of the feed of all merchants.
func marketPage(t *testing.T, operator client, cursor string) soakMarketPage {
	t.Helper()
	var page soakMarketPage
	got := operator.Ask(t, http.MethodGet, "/operator/events?cursor="+cursor, "")
	if err := json.Unmarshal([]byte(got.Body), &page); err != nil || got.Status != http.StatusOK {
		t.Fatalf("events of all merchants after %s: %d %s", cursor, got.Status, got.Body)
	}
	return page
}

// branch makes the commits that are different before and after the failover: a
// decision, an order, and a merchant with an order.
func branch(t *testing.T, i installation, c client, name string, d decision) {
	t.Helper()
	if got := c.Ask(t, d.Method, d.Path(1), d.Body); got.Status != http.StatusOK {
		t.Fatalf("%s: %d %s", d.Path(1), got.Status, got.Body)
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
			all[path] = c.Ask(t, http.MethodGet, path, "")
			return all[path].Status != http.StatusServiceUnavailable
		})
	}
	return all
}
