package robust

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"

	"merchantorders/internal/app/apptest"
)

// crowd is the clients that work on a server until it is killed.
type crowd struct {
	client
	t      *testing.T
	ledger *ledger
	seed   uint64
	wait   sync.WaitGroup
}

// dice returns a client's own generator: what it does depends on the seed
// alone, not on the others.
func (c *crowd) dice(number int) *rand.Rand { return rand.New(rand.NewPCG(c.seed, uint64(number))) }

// answerAll has a client accept and reject orders, one after the other, in both
// versions.
func (c *crowd) answerAll(number int, orders []sample) {
	dice := c.dice(number)
	c.wait.Go(func() {
		for _, n := range orders {
			a := apptest.Decisions[dice.IntN(len(apptest.Decisions))]
			c.ledger.wants(n, a.Makes.String())
			got, err := c.Try(a.Method, a.Path(n), a.Body)
			if err != nil {
				return // the server was killed
			}
			if got.Status != http.StatusOK {
				c.t.Errorf("%s %s: %d %s", a.Method, a.Path(n), got.Status, got.Body)
				return
			}
			c.ledger.has(n)
		}
	})
}

// fileNames are few, so that names are used again and again.
var fileNames = []string{"invoice.pdf", "scan.JPG", "τιμολόγιο.png"}

// uploadAll has a client upload files to an order and delete them again, for
// ever. Several may work on the same order.
func (c *crowd) uploadAll(number int, n sample, largest int) {
	dice := c.dice(number)
	c.wait.Go(func() {
		var mine []*fileNote // stored, not yet deleted
		for round := 0; ; round++ {
			content := randomContent(dice, largest, fmt.Sprintf("client %d, upload %d", number, round))
			note := c.ledger.sends(n, content)
			got, e, err := c.Upload(n.Path(dice.IntN(2)), fileNames[dice.IntN(len(fileNames))], content)
			switch {
			case err != nil:
				return // the server was killed
			case got.Status == http.StatusOK:
				c.ledger.change(func() { note.entry, note.stored = e, true })
				mine = append(mine, note)
			case got.Status != http.StatusBadRequest || apptest.Message(got) != tooManyFiles:
				c.t.Errorf("upload to %s: %d %s", n.V2(), got.Status, got.Body)
				return
			}
			full := got.Status != http.StatusOK
			if len(mine) > 0 && (full || dice.IntN(3) == 0) {
				if !c.deleteFile(n.Path(dice.IntN(2)), mine[0]) {
					return
				}
				mine = mine[1:]
			}
		}
	})
}

// randomContent returns bytes that end with a text, which makes them differ
// from all others.
func randomContent(dice *rand.Rand, largest int, end string) []byte {
	content := make([]byte, 1+dice.IntN(largest))
	for i := range content {
		content[i] = byte(dice.Uint32())
	}
	return append(content, end...)
}

// deleteFile deletes a file and reports whether the server is still there.
func (c *crowd) deleteFile(orderPath string, note *fileNote) bool {
	c.ledger.deletes(note)
	got, err := c.Try(http.MethodDelete, fmt.Sprintf("%s/invoices/%d", orderPath, note.entry.ID), "")
	if err != nil {
		return false
	}
	if got.Status != http.StatusOK {
		c.t.Errorf("delete %s: %d %s", note.entry.URL, got.Status, got.Body)
		return false
	}
	c.ledger.change(func() { note.gone = true })
	return true
}
