package app

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/testenv"
)

// TestJobs checks the record of a job that succeeds, fails, and is stopped.
func TestJobs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		j := &jobs{now: time.Now, log: slog.New(slog.NewTextHandler(&log, nil))}
		started := time.Now()
		group := j.newGroup()
		want := jobRecord{name: "purge", interval: time.Hour, lastSuccess: started}
		check := func(when string) {
			t.Helper()
			testenv.Equal(t, when, []jobRecord{want}, j.all(), cmp.AllowUnexported(jobRecord{}))
		}
		results := []error{nil, errors.New("first"), errors.New("second")}
		group.every("purge", time.Hour, false, func(context.Context) error {
			if len(results) == 0 {
				group.cancel()
				return errors.New("stopped")
			}
			result := results[0]
			results = results[1:]
			return result
		})
		check("before the first run")
		time.Sleep(time.Hour + time.Second)
		want.lastRun, want.lastSuccess = started.Add(time.Hour), started.Add(time.Hour)
		check("success")
		time.Sleep(2 * time.Hour)
		want.lastRun, want.failures = started.Add(3*time.Hour), 2
		check("two failures")
		time.Sleep(time.Hour)
		check("stopped")
		group.stop()
		if text := log.String(); strings.Count(text, "background job failed") != 2 || !strings.Contains(text, `job=purge next_try_in=1h0m0s error=second`) {
			t.Errorf("log:\n%s", text)
		}
	})
}
