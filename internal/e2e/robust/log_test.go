package robust

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/testenv"
)

// TestLogThatNobodyReads runs a server whose log goes into a pipe that nobody reads, and whose
// end is then closed: it answers, and ends when it is told to.
func TestLogThatNobodyReads(t *testing.T) {
	t.Parallel()
	log, write, err := os.Pipe()
	testenv.NoError(t, err)
	server := exec.CommandContext(t.Context(), apptest.Build(t), "serve", "--data", filepath.Join(t.TempDir(), "data"),
		"--listen", testenv.FreeAddress(t), "--admin-listen", "none", "--rate-limit", "0")
	server.Stderr = write
	testenv.NoError(t, server.Start())
	testenv.NoError(t, write.Close())
	url := "http://" + server.Args[5]
	answers := func() bool {
		response, err := http.Get(url + "/v2/orders")
		return err == nil && response.Body.Close() == nil && response.StatusCode == http.StatusUnauthorized
	}
	testenv.Eventually(t, "the server listens", answers)
	for range 600 { // of some 200 bytes a line; a pipe holds 64 KiB
		if !answers() {
			t.Fatal("the server does not answer while nobody reads its log")
		}
	}
	testenv.NoError(t, log.Close())
	for range 10 {
		if !answers() {
			t.Fatal("the server does not answer after the reader of its log has gone")
		}
	}
	testenv.NoError(t, server.Process.Signal(syscall.SIGTERM))
	testenv.NoError(t, server.Wait())
}
