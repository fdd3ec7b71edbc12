package instances

import (
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/filestore/s3test"
	"merchantorders/internal/testenv"
)

// soakFaultPause is the longest time between two faults.
const soakFaultPause = 20 * time.Second

// disturb injects faults, in random order and at random moments, until the time is
// over. Instance 0 is killed only at first: its memory must not grow afterwards.
func (s *soak) disturb(end time.Duration) {
	s.t.Helper()
	dice := rand.New(rand.NewPCG(*soakSeed, 102))
	s.database.standby = s.database.primary.StartStandby(s.t)
	faults := []func(){
		func() { s.kill(dice, end) }, func() { s.kill(dice, end) }, func() { s.kill(dice, end) }, func() { s.kill(dice, end) },
		func() { s.failover(dice, true) }, func() { s.failover(dice, false) },
		s.dumpOrRestore, s.dumpOrRestore, s.copyOrRestore, s.copyOrRestore,
		func() { s.loseStorage(true) }, func() { s.loseStorage(false) },
	}
	for s.now() < end {
		for _, at := range dice.Perm(len(faults)) {
			if !s.sleep(time.Duration(dice.Int64N(int64(soakFaultPause)))) || s.now() >= end {
				return
			}
			faults[at]()
		}
	}
}

// kill kills an instance and starts another one in its place.
func (s *soak) kill(dice *rand.Rand, end time.Duration) {
	s.t.Helper()
	slot := dice.IntN(len(s.instances))
	if s.now() > warmUp(end) {
		slot = 1
	}
	one := s.instances[slot].Load()
	one.killed.Store(true)
	one.process.Kill(s.t)
	s.startInstance(slot)
	s.counts.kills++
}

// noError ends the test if something that the soak itself does has failed.
func (s *soak) noError(err error) {
	s.t.Helper()
	testenv.NoError(s.t, err)
}

// failover kills the primary and promotes its asynchronous standby. If it loses
// commits, the standby has stopped some seconds before.
func (s *soak) failover(dice *rand.Rand, loses bool) {
	s.t.Helper()
	d := s.database
	if loses {
		d.standby.Stop()
		s.sleep(time.Second + time.Duration(dice.Int64N(int64(4*time.Second))))
	}
	s.replace(replacement{
		end: d.primary.Stop,
		old: s.restarted,
		begin: func() {
			d.primary.Remove()
			if loses {
				s.noError(d.standby.Run())
			}
			s.noError(d.standby.Promote())
			d.primary = d.standby
		},
	})
	d.standby = d.primary.StartStandby(s.t)
	s.counts.failovers++
}

// restarted starts the primary again, which the service does not reach any more, and
// opens its database.
func (s *soak) restarted() *sql.DB {
	s.t.Helper()
	s.noError(s.database.primary.Run())
	return openDatabase(s.t, s.database.primary, s.database.name)
}

// dumpOrRestore dumps the database, and the next time puts a database made from the
// dump in its place.
func (s *soak) dumpOrRestore() {
	s.t.Helper()
	d := s.database
	if d.dump == nil {
		var err error
		s.uploading.Lock()
		d.dump, err = d.primary.Dump(d.name)
		s.uploading.Unlock()
		s.noError(err)
		return
	}
	const restored, gone = "restored", "gone"
	s.noError(d.primary.Restore(restored, d.dump))
	s.replace(replacement{
		end: func() {
			d.wire.move("")
			s.noError(d.primary.Rename(d.name, gone))
		},
		old: func() *sql.DB { return openDatabase(s.t, d.primary, gone) },
		begin: func() {
			s.noError(d.primary.Drop(gone))
			s.noError(d.primary.Rename(restored, d.name))
		},
	})
	d.dump = nil
	s.counts.restores++
}

// copyOrRestore copies the files of the database server, and the next time puts a
// server with the copy in its place. If no instance has run since before the copy, none
// can notice, and the histories are renewed as the guide says.
func (s *soak) copyOrRestore() {
	s.t.Helper()
	d := s.database
	if d.copy == nil {
		d.copied = s.now()
		s.uploading.Lock()
		d.copy = d.primary.StartCopy(s.t)
		s.uploading.Unlock()
		d.copy.Stop()
		return
	}
	silent := false
	for slot := range s.instances {
		silent = silent || s.instances[slot].Load().begun < d.copied
	}
	s.replace(replacement{
		end: d.primary.Stop,
		old: s.restarted,
		begin: func() {
			d.primary.Remove()
			d.standby.Remove()
			s.noError(d.copy.Run())
			d.primary, d.copy = d.copy, nil
			if !silent {
				db := openDatabase(s.t, d.primary, d.name)
				_, err := db.Exec(`WITH feed AS (UPDATE event_feed SET history = 1 + CAST(random() * 9000000000000000 AS BIGINT))
					UPDATE merchants SET history = md5(random()::text)`)
				s.noError(errors.Join(err, db.Close()))
			}
		},
		silent: silent,
	})
	d.standby = d.primary.StartStandby(s.t)
	s.counts.restores++
}

// soakStorage is an S3 server behind a wire.
type soakStorage struct {
	server  *s3test.Server
	wire    *wire
	setting string
	outage  soakOutage
}

func (o *soakStorage) start(t *testing.T) {
	t.Helper()
	o.server = s3test.StartServer(t)
	name := testenv.Of(o.server.NewBucket()).Must(t)
	address := testenv.Of(url.Parse(o.server.Endpoint())).Must(t)
	o.wire = newWire(t, address.Host)
	o.setting = storage(name, "http://"+o.wire.address())
}

// outageTime is how long the storage is out of reach.
const outageTime = 8 * time.Second

// loseStorage has the storage out of reach for a while: stopped, or hanging.
func (s *soak) loseStorage(stops bool) {
	s.t.Helper()
	o := &s.storage
	o.outage.begin()
	if stops {
		o.server.Stop()
	} else {
		o.wire.hang()
	}
	s.sleep(outageTime)
	if stops {
		s.noError(o.server.Run())
	} else {
		o.wire.heal()
	}
	for slot := range s.instances {
		testenv.Eventually(s.t, "the instance finds the storage", func() bool {
			got := s.probe(slot, s.merchants[0], "/readyz")
			return got.Status == http.StatusOK && got.Body == "{\"status\":\"ready\"}\n"
		})
	}
	o.outage.end()
	s.counts.outages++
}

// soakImporter imports orders with the command, beside the instances.
type soakImporter struct {
	*soak
	dice *rand.Rand
}

const (
	importPause  = 45 * time.Second
	importOrders = 8 // new ones, and as many that were imported before
)

func (i *soakImporter) work() {
	for i.sleep(time.Duration(i.dice.Int64N(int64(2 * importPause)))) {
		m := i.merchants[i.dice.IntN(len(i.merchants))]
		orders := i.fresh(m, importOrders)
		var documents []byte
		for range importOrders {
			orders = append(orders, m.any(i.dice))
		}
		for _, n := range orders {
			documents = append(append(documents, apptest.Registered(m.id, n, 1)...), '\n')
		}
		a, database := i.ask(), i.database.outage.mark()
		got := apptest.Run(i.t, string(documents), slices.Concat([]string{"--data", i.folder(i.t)}, i.settings, []string{"import", "-"})...)
		what := fmt.Sprintf("import: %d %s%s", got.Code, got.Stdout, got.Stderr)
		switch {
		case got.Code == 0:
			i.counts.imports.Add(1)
			i.saw(m, a, observed{what: what, explains: allExist(orders)})
		case !i.database.outage.since(database) && i.context.Err() == nil:
			i.problem("%s", what)
		}
	}
}
