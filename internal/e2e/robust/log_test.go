package robust

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
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

// TestAnswersThatNobodyAsked has a bucket whose server sends more than its response: the log has
// nothing of it, since it can be of a document.
func TestAnswersThatNobodyAsked(t *testing.T) {
	t.Parallel()
	const more = "name of a buyer"
	var requests atomic.Int64
	bucket := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		connection, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_, _ = io.WriteString(connection, "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"+more)
		}
	}))
	t.Cleanup(bucket.Close)
	cmd := exec.Command(apptest.Build(t), "serve", "--data", filepath.Join(t.TempDir(), "data"), "--wait", "1m",
		"--listen", "127.0.0.1:0", "--admin-listen", "none", "--storage", "s3://bucket?region=eu-central-1&endpoint="+bucket.URL)
	cmd.Env = append(os.Environ(), "AWS_ACCESS_KEY_ID=key", "AWS_SECRET_ACCESS_KEY=secret")
	p := apptest.Launch(t, cmd)
	testenv.Eventually(t, "requests after one", func() bool { return requests.Load() > 3 })
	testenv.Lacks(t, "log", p.Log(), more)
}
