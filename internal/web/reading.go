package web

import (
	"net/http"
	"time"

	"merchantorders/internal/order"
)

// Reading answers a GET of what belongs to a merchant. It says what there is to
// answer, if need be in two steps, so that a client that has it already costs
// no more than the first.
type Reading func(r *http.Request) (Answer, error)

// Response is what a GET is answered with.
type Answer struct {
	// Tag is the entity tag of the body, in quotes.
	Tag string
	// Day is the day of UTC that the body shows as the present one; NoDay where
	// it shows none. The answer is good for that day only.
	Day order.Day
	// Links are the Link headers.
	Links []string
	// Body returns what is encoded as JSON. It may add Links and, where none is
	// known yet, the Tag.
	Body func(*Answer) (any, error)
}

// Kept keeps answers to GET requests in memory, each as long as nothing of its
// merchant has changed, and gives them again. That nothing has changed is known
// from the number of the merchant's newest event, which is read with the token
// of each request: a change by another process is seen at the very next one.
type Kept struct {
	now     func() time.Time
	answers *answers
}

// NewKept returns an empty memory of up to size bytes. now is the clock.
func NewKept(size int, now func() time.Time) *Kept {
	return &Kept{now: now, answers: newAnswers(size)}
}

// Serve returns the handler of a reading. An answer that the client says it has
// is 304 Not Modified (RFC 9110, 13.1.2), without a body.
func (k *Kept) Serve(read Reading) Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		wanted, err := ParseEntityTags(r.Header, "If-None-Match")
		if err != nil {
			return err
		}
		key := answerKey{route: RoutePattern(r), merchantID: MerchantID(r), path: r.URL.Path, query: r.URL.RawQuery}
		event := MerchantEvent(r)
		kept, done := k.find(r, key, event, wanted)
		if kept != nil {
			kept.write(w, wanted)
			return nil
		}
		defer done()
		answer, err := read(r)
		if err != nil {
			return err
		}
		if answer.Tag != "" && has(wanted, answer.Tag) {
			made := readyAnswer{event: event, day: answer.Day, tag: []string{answer.Tag}, links: answer.Links}
			k.answers.put(key, made)
			made.write(w, wanted)
			return nil
		}
		value, err := answer.Body(&answer)
		if err != nil {
			return err
		}
		return withJSON(value, func(body []byte) {
			made := readyAnswer{event: event, day: answer.Day, tag: []string{answer.Tag}, links: answer.Links, body: body}
			made.length = lengthOf(body)
			k.answers.put(key, made)
			done() // the others need not wait for this client to read
			made.write(w, wanted)
		})
	}
}

// waits is how often a request waits for another that makes what it asks for.
const waits = 3

// find returns the answer to a request, after a while if somebody is making it.
// Where there is none it returns what to call, once or more, when it is made.
func (k *Kept) find(r *http.Request, key answerKey, event int64, wanted *EntityTags) (*readyAnswer, func()) {
	for range waits {
		kept := k.answers.get(key, event, k.now)
		if kept != nil && (kept.body != nil || has(wanted, kept.tag[0])) {
			return kept, nil
		}
		done, busy := k.answers.turn(key)
		if busy == nil {
			return nil, done
		}
		select {
		case <-busy:
		case <-r.Context().Done():
			return nil, func() {}
		}
	}
	return nil, func() {}
}

// has reports whether a client has what a tag stands for.
func has(wanted *EntityTags, tag string) bool { return wanted != nil && wanted.MatchWeakly(tag) }

// Values of headers that many answers have. They are shared, and never changed.
var (
	typeJSON   = []string{"application/json; charset=utf-8"}
	noSniff    = []string{"nosniff"}
	noStore    = []string{"no-store"}
	revalidate = []string{"private, no-cache"}
)

// write sends an answer, or says that the client has it.
func (a *readyAnswer) write(w http.ResponseWriter, wanted *EntityTags) {
	h := w.Header()
	h["Etag"] = a.tag
	h["Cache-Control"] = revalidate
	if len(a.links) > 0 {
		h["Link"] = a.links
	}
	if has(wanted, a.tag[0]) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h["Content-Type"] = typeJSON
	h["X-Content-Type-Options"] = noSniff
	h["Content-Length"] = a.length
	w.WriteHeader(http.StatusOK)
	// The client may be gone; there is nobody left to tell.
	_, _ = w.Write(a.body)
}
