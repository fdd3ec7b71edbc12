package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// syncs is how many small writes are made durable to see what the disk can do.
const syncs = 1000

// measureDisk measures the disk alone, since most rates come down to it.
func (i *installation) measureDisk(context.Context) error {
	if i.database != SQLite || !i.wants("Disk") {
		return nil
	}
	load := busy()
	file, err := os.Create(filepath.Join(i.dir, "disk"))
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	block := make([]byte, 8192)
	began := time.Now()
	for range syncs {
		if _, err := file.Write(block); err != nil {
			return err
		}
		if err := file.Sync(); err != nil {
			return err
		}
	}
	i.add("Disk: durable writes", thousands(perSecond(syncs, time.Since(began)))+"/s", "",
		fmt.Sprintf("8 KB and fsync, one after the other; machine with %d cores, load %s before", runtime.NumCPU(), load))
	return nil
}

// busy tells how many processes wanted to run in the last minute, as the
// system tells: with more than a few the figures are too low.
func busy() string {
	text, err := os.ReadFile("/proc/loadavg")
	load, _, found := strings.Cut(string(text), " ")
	if err != nil || !found {
		return "unknown"
	}
	return load
}

// measureImport makes the merchants and takes in their orders.
func (i *installation) measureImport(ctx context.Context) error {
	info, err := os.Stat(i.program)
	if err != nil {
		return err
	}
	i.add("Program", megabytes(float64(info.Size())/1e6), "< 40 MB", "as go build makes it")
	if err := i.addMerchants(ctx); err != nil {
		return err
	}
	for _, m := range i.all() {
		info, err := os.Stat(i.file(m))
		if err != nil {
			return err
		}
		began := time.Now()
		counts, err := i.run(ctx, "import", i.file(m))
		took := time.Since(began)
		if err != nil {
			return err
		}
		if want := fmt.Sprintf("created %d, unchanged 0, conflicting 0, invalid 0", m.count); counts != want {
			return fmt.Errorf("%s, want %s", counts, want)
		}
		if m == i.b {
			i.add("Import", thousands(perSecond(m.count, took))+" orders/s", i.asked("≥ 30,000", ""),
				fmt.Sprintf("%s orders, %s MB, the whole command in %.1f s", thousands(float64(m.count)), thousands(float64(info.Size())/1e6), took.Seconds()))
		}
	}
	return i.settle(ctx)
}
