package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"
)

// syncs is how many small writes are made durable to see what the disk can do.
const syncs = 1000

// measureDisk measures the disk alone, since most rates come down to it.
func (b *bench) measureDisk(context.Context) error {
	file, err := os.Create(filepath.Join(b.dir, "disk"))
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
	b.figures.add("Disk: durable writes", thousands(perSecond(syncs, time.Since(began)))+"/s", "",
		fmt.Sprintf("8 KB and fsync, one after the other; machine with %d cores", runtime.NumCPU()))
	return nil
}

// measureImport makes the merchants and takes in their orders.
func (b *bench) measureImport(ctx context.Context) error {
	for _, m := range []*merchant{b.a, b.b} {
		id := strconv.FormatInt(m.id, 10)
		if _, err := b.run(ctx, "merchant", "add", "--id", id, "--name", "Store "+m.name); err != nil {
			return err
		}
		var err error
		if m.token, err = b.run(ctx, "token", "create", "--merchant", id); err != nil {
			return err
		}
		info, err := os.Stat(b.file(m))
		if err != nil {
			return err
		}
		began := time.Now()
		counts, err := b.run(ctx, "import", b.file(m))
		took := time.Since(began)
		if err != nil {
			return err
		}
		if want := fmt.Sprintf("created %d, unchanged 0, conflicting 0, invalid 0", m.count); counts != want {
			return fmt.Errorf("%s, want %s", counts, want)
		}
		if m == b.b {
			b.figures.add("Import", thousands(perSecond(m.count, took))+" orders/s", "≥ 10,000",
				fmt.Sprintf("%s orders, %s MB, the whole command in %.1f s", thousands(float64(m.count)), thousands(float64(info.Size())/1e6), took.Seconds()))
		}
		// Room for what follows.
		if err := os.Remove(b.file(m)); err != nil {
			return err
		}
	}
	return nil
}
