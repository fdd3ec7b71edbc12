package app

import (
	"context"
	"sync"
	"time"

	"merchantorders/internal/filestore"
	"merchantorders/internal/order"
)

// probeInterval is how often the readiness stores a file as an upload does, which costs syncs
// of the disk, or requests that an object storage charges for.
const probeInterval = time.Minute

// storageCheck finds out whether files can be stored. In between two probes, and after one that
// succeeded, it does what costs little.
type storageCheck struct {
	files order.Files
	now   func() time.Time

	mu     sync.Mutex
	probed time.Time // the last time that succeeded; zero: none
}

// run returns an error if files cannot be stored now.
func (c *storageCheck) run(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if since := c.now().Sub(c.probed); since >= 0 && since < probeInterval {
		return c.files.Check(ctx)
	}
	c.probed = time.Time{}
	err := filestore.Probe(ctx, c.files)
	if err == nil {
		c.probed = c.now()
	}
	return err
}
