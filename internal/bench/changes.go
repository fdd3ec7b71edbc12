package bench

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

const (
	largestFile = 4_000_000 // bytes
	smallFile   = 100_000   // bytes, a usual invoice
	filesEach   = 3         // files that an order may have
)

// uploadBody returns the body of an upload of so many bytes.
func uploadBody(size int) []byte {
	content := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("0123456789"), size/10))
	return fmt.Appendf(nil, `{"filename":"invoice.pdf","contentBase64":%q}`, content)
}

// measureLargeUploads uploads the largest files all at once to a fresh server,
// while one client reads.
func (b *bench) measureLargeUploads(ctx context.Context) error {
	s, err := b.start(ctx)
	if err != nil {
		return err
	}
	return errors.Join(b.largeUploads(ctx, s), s.stop())
}

func (b *bench) largeUploads(ctx context.Context, s *server) error {
	uploader, reader := s.client(b.a, b.Uploads), s.client(b.b, 1)
	defer uploader.close()
	defer reader.close()
	body := uploadBody(largestFile)
	var under atomic.Int64
	under.Store(int64(b.Uploads))
	var waits []time.Duration
	read := make(chan error, 1)
	go func() {
		var err error
		for err == nil && under.Load() > 0 {
			var took time.Duration
			_, took, err = reader.do(ctx, http.MethodGet, "/v2/orders?state=registered", nil)
			waits = append(waits, took)
		}
		read <- err
	}()
	began := time.Now()
	err := atOnce(b.Uploads, b.Uploads, func(n int) error {
		defer under.Add(-1)
		_, _, err := uploader.do(ctx, http.MethodPost, "/v2/orders/"+b.a.reference(n/filesEach)+"/invoices", bytes.NewReader(body))
		return err
	})
	took := time.Since(began)
	if err := errors.Join(err, <-read); err != nil {
		return err
	}
	held, err := s.memory("VmHWM")
	if err != nil {
		return err
	}
	what := fmt.Sprintf("%d uploads of 4,000,000 bytes at once", b.Uploads)
	b.figures.add("Memory, "+what, fmt.Sprintf("%.0f MB", held), "< 256 MB", "VmHWM")
	b.figures.add("A reader beside them", milliseconds(slowest(waits)), "",
		fmt.Sprintf("the slowest of %d lists, median %s", len(waits), milliseconds(median(waits))))
	b.figures.add("Uploads of 4,000,000 bytes", fmt.Sprintf("%.0f/s", perSecond(b.Uploads, took)), "",
		fmt.Sprintf("those %d, %.0f MB/s", b.Uploads, perSecond(b.Uploads*largestFile/1e6, took)))
	return nil
}

// measureChanges measures the rates of accepts and of usual uploads.
func (b *bench) measureChanges(ctx context.Context) error {
	s, err := b.start(ctx)
	if err != nil {
		return err
	}
	return errors.Join(b.changes(ctx, s), s.stop())
}

func (b *bench) changes(ctx context.Context, s *server) error {
	c := s.client(b.b, b.Clients)
	defer c.close()
	orders, err := c.references(ctx, "&state=registered", b.Changes)
	if err != nil {
		return err
	}
	began := time.Now()
	err = atOnce(b.Clients, len(orders), func(n int) error {
		_, _, err := c.do(ctx, http.MethodPatch, "/v2/orders/"+orders[n]+"/accept", nil)
		return err
	})
	if err != nil {
		return err
	}
	b.figures.add("Accepts", thousands(perSecond(len(orders), time.Since(began)))+"/s", "", fmt.Sprintf("%d clients, %d accepts", b.Clients, len(orders)))

	body := uploadBody(smallFile)
	uploads := min(b.Changes, len(orders)*filesEach)
	began = time.Now()
	err = atOnce(b.Clients, uploads, func(n int) error {
		_, _, err := c.do(ctx, http.MethodPost, "/v2/orders/"+orders[n/filesEach]+"/invoices", bytes.NewReader(body))
		return err
	})
	if err != nil {
		return err
	}
	b.figures.add("Uploads of 100,000 bytes", thousands(perSecond(uploads, time.Since(began)))+"/s", "", fmt.Sprintf("%d clients, %d uploads", b.Clients, uploads))
	return nil
}

// references returns up to count orders of a list, newest first.
func (c *client) references(ctx context.Context, query string, count int) ([]string, error) {
	var found []string
	for page := 1; len(found) < count; page++ {
		text, _, err := c.do(ctx, http.MethodGet, fmt.Sprintf("/v2/orders?itemsPerPage=100&page=%d%s", page, query), nil)
		if err != nil {
			return nil, err
		}
		var list struct{ Orders []struct{ ID string } }
		if err := json.Unmarshal(text, &list); err != nil {
			return nil, err
		}
		if len(list.Orders) == 0 {
			break
		}
		for _, o := range list.Orders {
			found = append(found, o.ID)
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("the list %q is empty", query)
	}
	return found[:min(len(found), count)], nil
}

// atOnce has clients do a number of things, each the next one as soon as it is
// free, and returns the first error of each client.
func atOnce(clients, things int, do func(n int) error) error {
	var next atomic.Int64
	var all sync.WaitGroup
	failed := make([]error, clients)
	for i := range clients {
		all.Go(func() {
			for n := int(next.Add(1)) - 1; n < things && failed[i] == nil; n = int(next.Add(1)) - 1 {
				failed[i] = do(n)
			}
		})
	}
	all.Wait()
	return errors.Join(failed...)
}
