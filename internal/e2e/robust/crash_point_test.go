package robust

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/testenv"
)

// naming are the system calls that can give a file its final name.
const naming = "linkat,renameat,renameat2"

// TestKilledInTheMiddleOfAnUpload kills a server in each state between the
// first byte of an upload and its success, every time in exactly that state.
//
// It guards the order of the steps, and that a start expires all reservations. Each of
// these makes it fail: the entry is active when it is reserved; a start expires none, or
// only old ones; it expires the reservation and leaves the file.
func TestKilledInTheMiddleOfAnUpload(t *testing.T) {
	t.Parallel()
	content := bytes.Repeat([]byte("interrupted "), 30_000)
	cases := []struct {
		name   string
		faults []string // what strace does to the server
		until  func(t *testing.T, data string) bool
		swept  bool // there was a reservation
	}{
		{
			"the file is on its way", nil,
			func(t *testing.T, data string) bool { return len(stagedFiles(t, data)) > 0 }, false,
		},
		{
			"a file is reserved", []string{"inject=" + naming + ":delay_enter=60000000"},
			func(t *testing.T, data string) bool { return reserved(t, data) == 1 && len(stored(t, data, 1)) == 0 }, true,
		},
		{
			"the file has its name", []string{"inject=" + naming + ":delay_exit=60000000"},
			func(t *testing.T, data string) bool { return len(stored(t, data, 1)) == 1 }, true,
		},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			data := filepath.Join(t.TempDir(), "data")
			start := apptest.Folder{Data: data}
			token := start.Merchant(t, apptest.MerchantID)
			start.Import(t, registered(1, 1))
			server := startTraced(t, data, tc.faults)
			c := newClient(t, server.BaseURL, token)
			held := c.hold(t, sample(1).V2(), "invoice.pdf", content)
			if tc.faults != nil {
				held.release()
			}
			testenv.Eventually(t, tc.name, func() bool { return tc.until(t, data) })
			server.kill(t)
			held.release()
			if got, err := held.result(); err == nil {
				t.Fatalf("the upload got a response: %d %s", got.Status, got.Body)
			}
			checkAfterKill(t, data, tc.swept)
		})
	}
}

// checkAfterKill starts a server on what a killed one has left.
func checkAfterKill(t *testing.T, data string, swept bool) {
	t.Helper()
	server := startOn(t, data)
	server.checkFolders(t)
	if shown := server.shown(t, 1).Files; len(shown) > 0 {
		t.Errorf("files are shown that were not acknowledged: %v", shown)
	}
	if left := stored(t, data, 1); len(left) > 0 {
		t.Errorf("files are left on the disk: %v", left)
	}
	testenv.Equal(t, "the start expired reservations", swept, strings.Contains(server.Log(), "reservations of unfinished uploads expired"))
	server.takesThree(t, 1, 100)
}

// traced is a server whose system calls are tampered with.
type traced struct{ *apptest.Process }

// startTraced starts a server under strace, which delays some of its system
// calls; faults are in the words of its option -e. The process is the server's:
// strace runs beside it.
func startTraced(t *testing.T, data string, faults []string) traced {
	t.Helper()
	strace := testenv.Program(t, "strace", "strace")
	command := apptest.Command(t, "serve", "--data", data, "--listen", "127.0.0.1:0")
	args := []string{"strace", "-D", "-f", "-o", filepath.Join(t.TempDir(), "trace"), "-e", "trace=" + naming}
	for _, fault := range faults {
		args = append(args, "-e", fault)
	}
	command.Args = append(append(args, command.Path), command.Args[1:]...)
	command.Path = strace
	server := traced{apptest.Launch(t, command)}
	server.Await(t)
	return server
}

// kill ends the server as kill -9 does and waits for its end. strace, which
// would not let it go before a delay is over, is ended after it.
func (s traced) kill(t *testing.T) {
	t.Helper()
	tracer := apptest.Status(t, s.PID(), "TracerPid")
	testenv.NoError(t, syscall.Kill(s.PID(), syscall.SIGKILL))
	if tracer != 0 {
		if err := syscall.Kill(tracer, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			t.Error(err)
		}
	}
	s.Kill(t)
}
