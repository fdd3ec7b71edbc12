package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// diskWrites is the number of durable writes that measureDisk makes.
const diskWrites = 1000

// measureDisk measures durable writes without any database. Most rates of
// writes depend on it.
func (i *installation) measureDisk(context.Context) error {
	if i.database != sqlite || !i.wants("Disk") {
		return nil
	}
	load := loadAverage()
	file, err := os.Create(filepath.Join(i.workDir, "disk"))
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	block := make([]byte, 8192)
	start := time.Now()
	for range diskWrites {
		if _, err := file.Write(block); err != nil {
			return err
		}
		if err := file.Sync(); err != nil {
			return err
		}
	}
	i.add("Disk: durable writes", thousands(perSecond(diskWrites, time.Since(start)))+"/s", "",
		fmt.Sprintf("8 KB and fsync, one after the other; machine with %d cores, load average %s before", runtime.NumCPU(), load))
	return nil
}

// loadAverage returns the load average of the last minute. If it is above one
// or two, other programs make the results worse.
func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	load, _, found := strings.Cut(string(text), " ")
	if err != nil || !found {
		return "unknown"
	}
	return load
}

// measureImport creates the merchants and imports their orders.
func (i *installation) measureImport(ctx context.Context) error {
	info, err := os.Stat(i.programPath)
	if err != nil {
		return err
	}
	i.add("Program", fmt.Sprintf("%.1f MB", float64(info.Size())/1e6), "< 40 MB", "as a release has it")
	if err := i.addMerchants(ctx, i.all()...); err != nil {
		return err
	}
	for _, m := range i.all() {
		info, err := os.Stat(i.importFile(m))
		if err != nil {
			return err
		}
		start := time.Now()
		counts, err := i.run(ctx, "import", i.importFile(m))
		elapsed := time.Since(start)
		if err != nil {
			return err
		}
		if want := fmt.Sprintf("created %d, unchanged 0, deleted 0, conflicting 0, invalid 0", m.count); counts != want {
			return fmt.Errorf("import of merchant %s: %s, want %s", m.name, counts, want)
		}
		if m == i.b {
			i.add("Import", thousands(perSecond(m.count, elapsed))+" orders/s", i.target("≥ 20,000", "≥ 8,000"),
				fmt.Sprintf("%s orders, %s MB, the whole command in %.1f s", thousands(float64(m.count)), thousands(float64(info.Size())/1e6), elapsed.Seconds()))
		}
	}
	return i.analyze(ctx)
}

// analyze makes PostgreSQL update its statistics, as autovacuum does some time
// after many inserts.
func (i *installation) analyze(ctx context.Context) error {
	if i.postgresURL == "" {
		return nil
	}
	connection, err := pgx.Connect(ctx, i.postgresURL)
	if err != nil {
		return err
	}
	_, err = connection.Exec(ctx, "VACUUM ANALYZE")
	return errors.Join(err, connection.Close(ctx))
}
