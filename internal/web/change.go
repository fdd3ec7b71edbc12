package web

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"

	"merchantorders/internal/order"
)

// Change is a request for a change of one order, and how it is answered: the
// same answer goes to the client and, where it gave a key, is kept within the
// transaction of the change.
type Change struct {
	attempt *attempt
	view    func(h http.Header, done order.WriteResult) any
	refuse  func(error) error
	kept    *keptAnswer
}

// NewChange returns the change that a request asks for. view returns the body of
// a success and sets the headers that belong to it, beside ETag. refuse turns
// an error of the service into one that the section's ErrorForm knows; nil: it
// knows them all.
func NewChange(r *http.Request, view func(h http.Header, done order.WriteResult) any, refuse func(error) error) *Change {
	if refuse == nil {
		refuse = func(err error) error { return err }
	}
	return &Change{attempt: attemptOf(r), view: view, refuse: refuse}
}

// Attempt returns what the service is to be asked with, once, when the body has
// been read.
func (c *Change) Attempt() order.WriteOptions {
	if c.attempt != nil {
		c.attempt.handed = true
	}
	return c.attempt.order(c.answer)
}

// answer is the Answer of an order.WriteOptions.
func (c *Change) answer(done order.WriteResult, refusal error) ([]byte, error) {
	if refusal != nil {
		return c.attempt.refusal(done, c.refuse(refusal))
	}
	c.kept = newKeptAnswer()
	if err := c.write(c.kept, done); err != nil {
		return nil, err
	}
	return c.kept.encode()
}

// Response answers with what the service returned.
func (c *Change) Answer(w http.ResponseWriter, done order.WriteResult, err error) error {
	if err != nil {
		return c.refuse(err)
	}
	if c.kept != nil {
		c.kept.send(w)
		return nil
	}
	return c.write(w, done)
}

func (c *Change) write(w http.ResponseWriter, done order.WriteResult) error {
	body := c.view(w.Header(), done)
	w.Header().Set("ETag", OrderTag(done.LegacyID, done.Revision))
	return WriteJSON(w, http.StatusOK, body)
}

// keptAnswer is an answer that is kept. It is an http.ResponseWriter. Its JSON
// form is stored: no name in it is ever changed.
type keptAnswer struct {
	Status int         `json:"status"`
	Fields http.Header `json:"header"`
	Body   []byte      `json:"body"`
}

func newKeptAnswer() *keptAnswer { return &keptAnswer{Fields: make(http.Header)} }

// Header implements http.ResponseWriter.
func (k *keptAnswer) Header() http.Header { return k.Fields }

// WriteHeader implements http.ResponseWriter.
func (k *keptAnswer) WriteHeader(status int) { k.Status = status }

// Write implements http.ResponseWriter.
func (k *keptAnswer) Write(p []byte) (int, error) {
	k.Body = append(k.Body, p...)
	return len(p), nil
}

func (k *keptAnswer) encode() ([]byte, error) { return json.Marshal(k) }

// send sends the answer.
func (k *keptAnswer) send(w http.ResponseWriter) {
	maps.Copy(w.Header(), k.Fields)
	w.WriteHeader(k.Status)
	// The client may be gone; there is nobody left to tell.
	_, _ = w.Write(k.Body)
}

// replay gives an answer again.
func replay(w http.ResponseWriter, answer []byte) error {
	var kept keptAnswer
	if err := json.Unmarshal(answer, &kept); err != nil {
		return fmt.Errorf("read an answer that was kept: %w", err)
	}
	w.Header().Set(replayed, "true")
	kept.send(w)
	return nil
}
