package instances

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"
)

// soakReader waits for the events of a merchant, always at the same instance while
// that runs. When the history changes it begins again at the end of the feed.
type soakReader struct {
	*soak
	client   client
	merchant *soakMerchant
	token    string
	home     int // instance
	dice     *rand.Rand
}

// The waits of a reader.
const (
	soakWait       = 30 // seconds, the longest that the feed allows
	soakLimit      = 20 // events of a page
	soakErrorPause = 3 * time.Second
	soakEmptyPause = time.Second // after a response without events that did not wait
)

// follow reads until the soak ends.
func (r *soakReader) follow() {
	history, after := "", int64(0)
	r.sleep(time.Duration(r.dice.Int64N(int64(soakErrorPause)))) // so that not all of them begin at once
	for r.context.Err() == nil {
		from, waits := fmt.Sprintf("/v2/events?after=%d&limit=%d&wait=%d", after, soakLimit, soakWait), true
		if history == "" {
			from, waits = "/v2/events?after=latest", false
		}
		a := r.ask()
		got, ok := r.send(r.prefer(r.home), http.MethodGet, from, func(base string) (response, error) {
			c := r.client
			c.Base, c.Token = base, r.token
			return c.TryContext(r.context, http.MethodGet, from, http.NoBody)
		})
		if !ok {
			r.sleep(time.Duration(r.dice.Int64N(int64(soakErrorPause))))
			continue
		}
		page, ok := r.sawFeed(r.merchant, a, got, from, after, soakLimit, waits)
		switch {
		case !ok:
			r.sleep(soakErrorPause)
		case waits && (page.History != history || page.Newest < after):
			history = ""
		default:
			history, after = page.History, page.Next
		}
		if waits && ok && len(page.Events) == 0 && r.now()-a.at < soakEmptyPause {
			r.sleep(soakEmptyPause)
		}
	}
}
