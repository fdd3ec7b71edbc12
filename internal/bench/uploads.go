package bench

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	largestFile = 4_000_000 // bytes
	filesEach   = 3         // files that an order may have
	// uploadsInRound are what a clock of a hundredth of a second can tell of.
	uploadsInRound = 9
)

// largestContent is the largest file, as uploads have it.
func largestContent() []byte {
	return []byte(base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("0123456789"), largestFile/10)))
}

// measureUploads compares the processor time of uploads with that of what they
// cannot do without: decoding, one write and one sync.
func (i *installation) measureUploads(ctx context.Context) error {
	const what = "Uploads of 4,000,000 bytes, processor time"
	if !i.wants(what) {
		return nil
	}
	content := largestContent()
	body := uploadBody(content)
	return i.with(ctx, func(server *process) error {
		c, err := dial(server.base, i.tokens[i.b])
		if err != nil {
			return err
		}
		defer c.close()
		before, err := server.processorTime()
		if err != nil {
			return err
		}
		var bare, took time.Duration
		for n := range i.Rounds * uploadsInRound {
			spent, err := bareUpload(filepath.Join(i.dir, "bare"), content)
			if err != nil {
				return err
			}
			bare += spent
			began := time.Now()
			if err := c.upload(i.b.reference(n/filesEach), body); err != nil {
				return err
			}
			took += time.Since(began)
		}
		after, err := server.processorTime()
		count := time.Duration(i.Rounds * uploadsInRound)
		i.add(what, ratio(float64(after-before)/float64(bare)), atMost(3),
			fmt.Sprintf("%s each, decoding and writing alone %s; answered in %s", milliseconds((after-before)/count), milliseconds(bare/count), milliseconds(took/count)))
		return err
	})
}

// bareUpload decodes a file, writes and syncs it, and returns the time that this
// process spent on a processor meanwhile.
func bareUpload(path string, content []byte) (time.Duration, error) {
	before, err := ownProcessorTime()
	if err != nil {
		return 0, err
	}
	decoded := make([]byte, base64.StdEncoding.DecodedLen(len(content)))
	n, err := base64.StdEncoding.Decode(decoded, content)
	if err != nil {
		return 0, err
	}
	file, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	_, err = file.Write(decoded[:n])
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return 0, err
	}
	after, err := ownProcessorTime()
	return after - before, err
}

func ownProcessorTime() (time.Duration, error) {
	var usage syscall.Rusage
	err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()), err
}

// measureUploadsAtOnce uploads the largest files all at once to a fresh server,
// while one client reads.
func (i *installation) measureUploadsAtOnce(ctx context.Context) error {
	what := fmt.Sprintf("%d uploads of 4,000,000 bytes at once", i.Uploads)
	if !i.wants(what) {
		return nil
	}
	body := uploadBody(largestContent())
	return i.with(ctx, func(server *process) error {
		reader, err := dial(server.base, i.tokens[i.b])
		if err != nil {
			return err
		}
		defer reader.close()
		var under atomic.Int64
		under.Store(int64(i.Uploads))
		var waits []time.Duration
		read := make(chan error, 1)
		go func() {
			var err error
			for err == nil && under.Load() > 0 {
				var took time.Duration
				_, took, err = reader.get("/v2/orders?state=registered")
				waits = append(waits, took)
			}
			read <- err
		}()
		began := time.Now()
		err = atOnce(server.base, i.tokens[i.a], i.Uploads, i.Uploads, func(c *connection, n int) error {
			defer under.Add(-1)
			return c.upload(i.a.reference(n/filesEach), body)
		})
		took := time.Since(began)
		under.Store(0) // also where some never began
		if err := errors.Join(err, <-read); err != nil {
			return err
		}
		held, err := server.memory("VmHWM")
		i.add(what+": memory", megabytes(held), "< 256 MB", "VmHWM")
		i.add(what+": rate", fmt.Sprintf("%.0f/s", perSecond(i.Uploads, took)), "", "")
		i.add(what+": a reader beside", milliseconds(slices.Max(waits)), "",
			fmt.Sprintf("the slowest of %d lists, median %s", len(waits), milliseconds(median(waits))))
		return err
	})
}
