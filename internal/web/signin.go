package web

import (
	"container/list"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	// signInsAMinute is how many failed sign-ins an address has in a minute.
	signInsAMinute = 60
	// mostAddresses bounds the memory for addresses that failed, about 3 MB.
	mostAddresses = 10_000
)

// errSignIns refuses an address that has failed too often.
var errSignIns = &LimitError{
	policy: fmt.Sprintf(`"sign-in";q=%d;w=60`, signInsAMinute),
	state:  fmt.Sprintf(`"sign-in";r=0;t=%d`, retrySeconds),
}

// signIns counts failed sign-ins by address, of the addresses that failed last.
type signIns struct {
	mu        sync.Mutex
	addresses map[netip.Addr]*list.Element // of *failing
	recent    *list.List                   // the address that failed last in front
	most      int
}

// failing is one address.
type failing struct {
	address netip.Addr
	bucket  *rate.Limiter
}

func newSignIns(most int) *signIns {
	return &signIns{addresses: make(map[netip.Addr]*list.Element), recent: list.New(), most: most}
}

// allow counts one failed sign-in and reports whether the address may have it.
func (s *signIns) allow(address netip.Addr, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	element, ok := s.addresses[address]
	if !ok {
		if s.recent.Len() == s.most {
			gone := s.recent.Remove(s.recent.Back()).(*failing)
			delete(s.addresses, gone.address)
		}
		fresh := &failing{address: address, bucket: rate.NewLimiter(signInsAMinute/60, signInsAMinute)}
		element = s.recent.PushFront(fresh)
		s.addresses[address] = element
	}
	s.recent.MoveToFront(element)
	return element.Value.(*failing).bucket.AllowN(now, 1)
}
