package disk_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"merchantorders/internal/filestore/disk"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// committedPath is where commitFile stores committedContent.
var committedPath = order.InvoicePath("SF-1", "a.pdf")

const committedContent = "content"

// commitFile stores one file in dir and then creates the folder "acknowledged",
// which marks the end of the commit in a trace of system calls.
func commitFile(dir string) error {
	// The trace counts system calls by thread.
	runtime.LockOSThread()
	files, err := disk.Open(dir)
	if err != nil {
		return err
	}
	staged, err := files.Stage(context.Background())
	if err != nil {
		return err
	}
	defer staged.Abort()
	if _, err := staged.Write([]byte(committedContent)); err != nil {
		return err
	}
	if err := staged.Commit(context.Background(), committedPath); err != nil {
		return err
	}
	return os.Mkdir(filepath.Join(dir, "acknowledged"), 0o700)
}

// trace runs commitFile under strace with further arguments and returns the
// calls it made, in order, and whether it succeeded.
func trace(t *testing.T, dir string, arguments ...string) ([]string, bool) {
	t.Helper()
	strace := testenv.Program(t, "strace", "strace")
	log := filepath.Join(t.TempDir(), "trace")
	wrapper := append([]string{
		strace, "-f", "-y", "-e", "signal=none", "-e", "trace=fsync,fdatasync,/renameat,mkdirat", "-o", log,
	}, arguments...)
	output, runErr := runCommit(t, dir, wrapper...).CombinedOutput()
	calls, err := os.ReadFile(log)
	if err != nil {
		t.Fatalf("read the trace: %v; strace said: %s", err, output)
	}
	t.Logf("output: %s\ncalls:\n%s", output, calls)
	return strings.Split(string(calls), "\n"), runErr == nil
}

func TestDiskOrderOfCalls(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	calls, ok := trace(t, dir)
	if !ok {
		t.Fatal("not committed")
	}
	// call returns the index of the one successful call with this name and a
	// text in its arguments.
	call := func(name, argument string) int {
		is := func(line string) bool {
			return regexp.MustCompile(" "+name+"2?\\(").MatchString(line) && strings.Contains(line, argument) && strings.HasSuffix(line, "= 0")
		}
		at := slices.IndexFunc(calls, is)
		if at < 0 {
			t.Fatalf("no call %s of %s", name, argument)
		}
		return at
	}
	bytesDurable := call("fsync", dir+"/tmp/staged-")
	madeTop, madeOrder := call("mkdirat", `"invoices"`), call("mkdirat", `"SF-1"`)
	named := call("renameat", `"a.pdf"`)
	nameDurable := call("fsync", dir+"/invoices/SF-1>")
	orderDurable, topDurable := call("fsync", dir+"/invoices>"), call("fsync", dir+">")
	acknowledged := call("mkdirat", "/acknowledged")
	for _, pair := range []struct {
		what          string
		before, after int
	}{
		{"the bytes are durable before the rename", bytesDurable, named},
		{"the order's folder exists before the rename", madeOrder, named},
		{"the name is synced after the rename", named, nameDurable},
		{"the order's folder is synced after it was created", madeOrder, orderDurable},
		{"the top folder is synced after it was created", madeTop, topDurable},
		{"the name is durable before the result", nameDurable, acknowledged},
		{"the order's folder is durable before the result", orderDurable, acknowledged},
		{"the top folder is durable before the result", topDurable, acknowledged},
	} {
		if pair.before >= pair.after {
			t.Errorf("violated: %s (calls %d, %d)", pair.what, pair.before, pair.after)
		}
	}
}

func TestDiskFaults(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		inject []string // faults, as strace's inject= expects them
		stored bool     // the commit succeeds
	}{
		{"bytes not durable", []string{"fsync:error=EIO:when=1"}, false},
		{"name not durable", []string{"fsync:error=EIO:when=2"}, false},
		{"order folder not durable", []string{"fsync:error=EIO:when=3"}, false},
		{"top folder not durable", []string{"fsync:error=EIO:when=4"}, false},
		// The first mkdirat is of the store's folder, which exists.
		{"no top folder", []string{"mkdirat:error=ENOSPC:when=2"}, false},
		{"no order folder", []string{"mkdirat:error=ENOSPC:when=3"}, false},
		{"no space for the name", []string{"/renameat:error=ENOSPC"}, false},
		{"nothing wrong", nil, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			files := openDisk(t, dir)
			_, ok := trace(t, dir, injecting(test.inject)...)
			testenv.Equal(t, "committed", test.stored, ok)
			want := ""
			if test.stored {
				want = committedContent
			}
			wantFile(t, files, committedPath, want)
			wantNoStagedFiles(t, dir)
		})
	}
}

func TestDiskNoOverwriteByAnotherProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := openDisk(t, dir)
	store(t, files, committedPath, "first")
	if _, ok := trace(t, dir); ok {
		t.Error("committed over a file")
	}
	wantFile(t, files, committedPath, "first")
	wantNoStagedFiles(t, dir)
}

// injecting returns the arguments of strace that inject faults.
func injecting(faults []string) []string {
	var arguments []string
	for _, fault := range faults {
		arguments = append(arguments, "-e", fmt.Sprintf("inject=%s", fault))
	}
	return arguments
}
