package main

import (
	"cmp"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

const (
	// besideJobs is how many jobs there are, besideTime how long those without an end run.
	besideJobs = 7
	besideTime = 5 * time.Second
	// besideErasures is how many orders are erased, besideAge beyond which age orders are deleted.
	besideErasures, besideAge = 20, "900d"
)

// measureBeside measures single accepts beside everything that an operator runs beside a
// server, and beside two busy loops, which take as much processor time and touch no database.
func (i *installation) measureBeside(ctx context.Context) error {
	if !i.wants("Accepts beside a job, 99th percentile") {
		return nil
	}
	imported := &merchant{name: "F", id: 1006, first: i.e.first + i.e.count, count: i.answers}
	if err := imported.writeDocuments(ctx, i.importFile(imported), false); err != nil {
		return err
	}
	if err := i.addMerchants(ctx, imported); err != nil {
		return err
	}
	command := func(args ...string) func() error {
		return func() error {
			_, err := i.run(ctx, args...)
			return err
		}
	}
	n, loops := 0, time.Duration(0)
	measure := func(server *process, what string, job func() error) error {
		n++
		latencies, err := i.acceptBeside(server, (2*i.rounds+n)*i.answers, job)
		if err != nil {
			return fmt.Errorf("beside %s: %w", what, err)
		}
		i.addBeside(what, latencies, loops)
		loops = cmp.Or(loops, percentile99(latencies))
		return nil
	}
	err := i.withServer(ctx, func(server *process) error {
		err := measure(server, "two busy loops", func() error { return busyLoops(ctx) })
		if err == nil {
			err = measure(server, "an import", command("import", i.importFile(imported)))
		}
		if err == nil {
			err = measure(server, "check", command("check"))
		}
		if err == nil && i.database == sqlite {
			err = measure(server, "a backup", command("backup", filepath.Join(i.workDir, i.database+".backup")))
		}
		if err == nil {
			err = measure(server, "erasures", func() error { return i.eraseSome(ctx) })
		}
		if err == nil {
			err = measure(server, "a webhook's backlog", func() error {
				_, err := i.deliver(ctx, server, min(i.large, maxDeliveries))
				return err
			})
		}
		return err
	}, "--webhook-allow-private")
	if err != nil {
		return err
	}
	return i.withServer(ctx, func(server *process) error {
		return measure(server, "the retention", func() error { return pause(ctx) })
	}, "--retain", besideAge, "--retain-confirmed", besideAge)
}

// eraseSome erases orders, one by one.
func (i *installation) eraseSome(ctx context.Context) error {
	for n := range besideErasures {
		if _, err := i.run(ctx, "erase", "--merchant", strconv.FormatInt(i.b.id, 10), "--reference", i.b.reference(n)); err != nil {
			return err
		}
	}
	return nil
}

// busyLoops takes the time of two processors.
func busyLoops(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	var loops sync.WaitGroup
	defer loops.Wait()
	defer stop()
	for range 2 {
		loops.Go(func() { _ = exec.CommandContext(ctx, "sh", "-c", "while :; do :; done").Run() }) // killed
	}
	return pause(ctx)
}

// pause waits for besideTime.
func pause(ctx context.Context) error {
	select {
	case <-time.After(besideTime):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
