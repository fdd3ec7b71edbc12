package filestore_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"merchantorders/internal/filestore"
	"merchantorders/internal/order"
)

// publishedPath is where publishAs publishes publishedContent.
var publishedPath = order.InvoicePath("SF-1", "a.pdf")

const publishedContent = "content"

// publishAs publishes one file in the store in dir and then makes the folder
// acknowledged there, which marks the moment in a trace of system calls.
func publishAs(dir string) error {
	// So that whoever counts system calls counts them on one thread.
	runtime.LockOSThread()
	disk, err := filestore.OpenDisk(dir)
	if err != nil {
		return err
	}
	draft, err := disk.Stage(context.Background())
	if err != nil {
		return err
	}
	defer draft.Abort()
	if _, err := draft.Write([]byte(publishedContent)); err != nil {
		return err
	}
	if err := draft.Commit(context.Background(), publishedPath); err != nil {
		return err
	}
	return os.Mkdir(filepath.Join(dir, "acknowledged"), 0o700)
}

// trace runs publishAs under strace with further arguments and returns the
// calls it made, in order, and whether it succeeded.
func trace(t *testing.T, dir string, arguments ...string) ([]string, bool) {
	t.Helper()
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not installed: the order of system calls is not tested")
	}
	log := filepath.Join(t.TempDir(), "trace")
	wrapper := append([]string{
		strace, "-f", "-y", "-e", "signal=none", "-e", "trace=fsync,fdatasync,/renameat,mkdirat", "-o", log,
	}, arguments...)
	output, runErr := play(t, "publish", dir, wrapper...).CombinedOutput()
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
		t.Fatal("not published")
	}
	// call returns the place of the one successful call of a name with a text
	// among its arguments.
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
	bytesDurable := call("fsync", dir+"/tmp/draft-")
	madeTop, madeOrder := call("mkdirat", `"invoices"`), call("mkdirat", `"SF-1"`)
	named := call("renameat", `"a.pdf"`)
	nameDurable := call("fsync", dir+"/invoices/SF-1>")
	orderDurable, topDurable := call("fsync", dir+"/invoices>"), call("fsync", dir+">")
	acknowledged := call("mkdirat", "/acknowledged")
	for _, pair := range []struct {
		what          string
		before, after int
	}{
		{"the bytes are durable before they get their name", bytesDurable, named},
		{"the order's folder is there before the name", madeOrder, named},
		{"the name is made durable after it was given", named, nameDurable},
		{"the order's folder is made durable after it was made", madeOrder, orderDurable},
		{"the top folder is made durable after it was made", madeTop, topDurable},
		{"the name is durable before the answer", nameDurable, acknowledged},
		{"the order's folder is durable before the answer", orderDurable, acknowledged},
		{"the top folder is durable before the answer", topDurable, acknowledged},
	} {
		if pair.before >= pair.after {
			t.Errorf("not so: %s (calls %d, %d)", pair.what, pair.before, pair.after)
		}
	}
}

func TestDiskFaults(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		inject []string // faults, in strace's words
		stored bool     // it is published all the same
	}{
		{"bytes not durable", []string{"fsync:error=EIO:when=1"}, false},
		{"name not durable", []string{"fsync:error=EIO:when=2"}, false},
		{"order folder not durable", []string{"fsync:error=EIO:when=3"}, false},
		{"top folder not durable", []string{"fsync:error=EIO:when=4"}, false},
		// The first is for the folder of the store, which is there.
		{"no top folder", []string{"mkdirat:error=ENOSPC:when=2"}, false},
		{"no order folder", []string{"mkdirat:error=ENOSPC:when=3"}, false},
		{"no space for the name", []string{"/renameat:error=ENOSPC"}, false},
		{"nothing wrong", nil, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			disk := openDisk(t, dir)
			_, ok := trace(t, dir, injecting(test.inject)...)
			if ok != test.stored {
				t.Errorf("published: %t, want %t", ok, test.stored)
			}
			want := ""
			if test.stored {
				want = publishedContent
			}
			wantFile(t, disk, publishedPath, want)
			wantNoDrafts(t, dir)
		})
	}
}

func TestDiskNoOverwriteByAnotherProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	disk := openDisk(t, dir)
	store(t, disk, publishedPath, "first")
	if _, ok := trace(t, dir); ok {
		t.Error("published over a file")
	}
	wantFile(t, disk, publishedPath, "first")
	wantNoDrafts(t, dir)
}

// injecting returns the arguments that make strace cause faults.
func injecting(faults []string) []string {
	var arguments []string
	for _, fault := range faults {
		arguments = append(arguments, "-e", fmt.Sprintf("inject=%s", fault))
	}
	return arguments
}
