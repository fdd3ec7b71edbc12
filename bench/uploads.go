package main

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
	maxFiles    = 3         // files of one order
	// uploadsPerRound take long enough for a clock with a resolution of a
	// hundredth of a second.
	uploadsPerRound = 9
)

// largestContent returns the largest file in base64.
func largestContent() []byte {
	return []byte(base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("0123456789"), largestFile/10)))
}

// measureUploads compares the processor time of uploads with that of the work
// they need at least: decode, one write and one fsync.
func (i *installation) measureUploads(ctx context.Context) error {
	const name = "Uploads of 4,000,000 bytes, processor time"
	if !i.wants(name) {
		return nil
	}
	content := largestContent()
	body := uploadBody(content)
	return i.withServer(ctx, func(server *process) error {
		c, err := dial(server.baseURL, i.tokens[i.b])
		if err != nil {
			return err
		}
		defer c.close()
		before, err := server.processorTime()
		if err != nil {
			return err
		}
		var bare, elapsed time.Duration
		for n := range i.rounds * uploadsPerRound {
			spent, err := bareUpload(filepath.Join(i.workDir, "bare"), content)
			if err != nil {
				return err
			}
			bare += spent
			start := time.Now()
			if err := c.upload(i.b.reference(n/maxFiles), body); err != nil {
				return err
			}
			elapsed += time.Since(start)
		}
		after, err := server.processorTime()
		count := time.Duration(i.rounds * uploadsPerRound)
		i.add(name, ratio(float64(after-before)/float64(bare)), atMost(3),
			fmt.Sprintf("%s each, decode and write alone %s; response after %s",
				milliseconds((after-before)/count), milliseconds(bare/count), milliseconds(elapsed/count)))
		return err
	})
}

// bareUpload decodes, writes and syncs a file. It returns the processor time
// that this process used for it.
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

// ownProcessorTime returns the user and system time of this process.
func ownProcessorTime() (time.Duration, error) {
	var usage syscall.Rusage
	err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()), err
}

// measureConcurrentUploads uploads the largest files concurrently to a fresh
// server, while one client reads a list again and again.
func (i *installation) measureConcurrentUploads(ctx context.Context) error {
	name := fmt.Sprintf("%d concurrent uploads of 4,000,000 bytes", i.uploads)
	if !i.wants(name) {
		return nil
	}
	body := uploadBody(largestContent())
	return i.withServer(ctx, func(server *process) error {
		reader, err := dial(server.baseURL, i.tokens[i.b])
		if err != nil {
			return err
		}
		defer reader.close()
		var uploading atomic.Bool
		uploading.Store(true)
		var readTimes []time.Duration
		readErr := make(chan error, 1)
		go func() {
			var err error
			for err == nil && (uploading.Load() || len(readTimes) == 0) {
				var elapsed time.Duration
				_, elapsed, err = reader.get("/v2/orders?state=registered")
				readTimes = append(readTimes, elapsed)
			}
			readErr <- err
		}()
		start := time.Now()
		err = concurrently(server.baseURL, i.tokens[i.a], i.uploads, i.uploads, func(c *connection, n int) error {
			return c.upload(i.a.reference(n/maxFiles), body)
		})
		elapsed := time.Since(start)
		uploading.Store(false)
		if err := errors.Join(err, <-readErr); err != nil {
			return err
		}
		memory, err := server.memory("VmHWM")
		i.add(name+": memory", megabytes(memory), "< 256 MB", "VmHWM")
		i.add(name+": rate", fmt.Sprintf("%.0f/s", perSecond(i.uploads, elapsed)), "", "")
		i.add(name+": slowest read", milliseconds(slices.Max(readTimes)), "",
			fmt.Sprintf("of %d lists meanwhile, median %s", len(readTimes), milliseconds(median(readTimes))))
		return err
	})
}
