package instances

import (
	"hash/maphash"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"merchantorders/internal/app/apptest"
)

// incarnation is an instance from its start to its end.
type incarnation struct {
	process *apptest.Process
	begun   time.Duration
	killed  atomic.Bool // or about to be
}

// logged returns the lines of the log of an instance that name a request, each after a
// line feed. The instance writes them some time after its response.
func (i *incarnation) logged(request string) string {
	var lines strings.Builder
	for line := range strings.Lines(i.process.Log()) {
		if strings.Contains(line, request) {
			lines.WriteString("\n" + strings.TrimSuffix(line, "\n"))
		}
	}
	return lines.String()
}

// soakOutage is a time during which requests may fail: odd while it lasts.
type soakOutage struct{ phase atomic.Int64 }

func (o *soakOutage) begin()      { o.phase.Add(1) }
func (o *soakOutage) end()        { o.phase.Add(1) }
func (o *soakOutage) mark() int64 { return o.phase.Load() }

// since reports whether there was an outage at any time since a mark.
func (o *soakOutage) since(mark int64) bool { return mark%2 == 1 || o.mark() != mark }

// pick returns one of the instances that run: the picker in front of the service.
func (s *soak) pick(dice *rand.Rand) *incarnation { return s.prefer(dice.IntN(len(s.instances))) }

// prefer returns an instance, or another one if that is killed.
func (s *soak) prefer(slot int) *incarnation {
	if one := s.instances[slot].Load(); !one.killed.Load() {
		return one
	}
	return s.instances[1-slot].Load()
}

// startInstance starts an instance in place of the one before.
func (s *soak) startInstance(slot int) {
	s.t.Helper()
	s.instances[slot].Store(&incarnation{begun: s.now(), process: s.process(s.t, "--log-level", "error", "--webhook-allow-private")})
}

// send makes a request at an instance. It returns false if the request has failed as
// it may: the instance was killed, or the database or the storage was out of reach.
// Then nobody knows what has become of it.
func (s *soak) send(at *incarnation, method, path string, try func(base string) (response, error)) (response, bool) {
	database, storage := s.database.outage.mark(), s.storage.outage.mark()
	s.counts.requests.Add(1)
	got, err := try(at.process.BaseURL)
	switch {
	case err != nil:
		if !at.killed.Load() && s.context.Err() == nil {
			s.problem("%s %s: %v", method, path, err)
		}
	case got.Status < http.StatusInternalServerError:
		return got, true
	case s.database.outage.since(database):
	case s.storage.outage.since(storage) && (strings.HasPrefix(path, "/storage/") || strings.HasSuffix(path, "/invoices")):
		if got.Status == http.StatusInternalServerError && apptest.Message(got) == uploadFailed {
			return got, true
		}
	default:
		s.problem("%s %s: %d %s", method, path, got.Status, got.Body)
		s.t.Cleanup(func() { s.t.Logf("log of %s %s:%s", method, path, at.logged(got.Header.Get("X-Request-Id"))) })
	}
	s.counts.faults.Add(1)
	return response{}, false
}

var soakHash = maphash.MakeSeed()

// checkTag sees that the same ETag never stands for two bodies.
func (s *soak) checkTag(m *soakMerchant, path string, got response) {
	tag := got.Header.Get("ETag")
	if tag == "" || got.Status != http.StatusOK {
		return
	}
	hash := maphash.String(soakHash, got.Body)
	key := struct {
		merchant  int64
		path, tag string
	}{m.id, path, strings.Replace(tag, "-gzip", "", 1)}
	if other, found := s.tags.LoadOrStore(key, hash); found && other != hash {
		s.problem("GET %s of merchant %d: two bodies with the tag %s, the second is %s", path, m.id, tag, got.Body)
	}
}

// uploads are the times of the uploads of each order: while one is under way, or
// broken off and not expired, it may take a slot of the order.
type uploads struct {
	mu    sync.Mutex
	spans map[sample][]*span
}

// span is the time of an upload. end is 0 while it is under way.
type span struct{ begin, end time.Duration }

// reservationTime is how long an upload that was broken off can take a slot: far
// above what the service says.
const reservationTime = 3 * time.Minute

func (u *uploads) start(n sample, at time.Duration) *span {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.spans == nil {
		u.spans = make(map[sample][]*span)
	}
	one := &span{begin: at}
	u.spans[n] = append(u.spans[n], one)
	return one
}

func (u *uploads) finish(one *span, at time.Duration) {
	u.mu.Lock()
	defer u.mu.Unlock()
	one.end = at
}

// beside returns how many other uploads to an order may have had a slot while one was
// under way.
func (u *uploads) beside(n sample, one *span) int {
	u.mu.Lock()
	defer u.mu.Unlock()
	count := 0
	for _, other := range u.spans[n] {
		if other != one && (other.end == 0 || other.end > one.begin) && (one.end == 0 || other.begin < one.end) {
			count++
		}
	}
	return count
}
