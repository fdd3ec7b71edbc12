package robust

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// TestDiskOfFilesFull has the disk of the invoice files, and only this one, run
// full in the middle of uploads: first of bytes, so that the file cannot be
// written, then of files, so that a written one cannot get its name.
//
// It guards what an upload undoes when it fails: if a staged file were not aborted, there
// would be no space for the small files at the end; if a reservation were not canceled,
// the order would have no room for them.
// Proves spec 7.1.
func TestDiskOfFilesFull(t *testing.T) {
	t.Parallel()
	if !testenv.MayMount(t) {
		return
	}
	data := filepath.Join(t.TempDir(), "data")
	testenv.SmallDisk(t, filepath.Join(data, "files"), "size=1m,nr_inodes=64")
	s := startOn(t, data)
	s.Import(t, registered(1, 1))
	s.failToUpload(t, 1, bytes.Repeat([]byte("does not fit"), 200_000))
	junk := leaveOneFile(t, filepath.Join(data, "files"))
	s.failToUpload(t, 1, []byte("fits, but there is no space for its folder"))
	for _, file := range junk {
		testenv.NoError(t, os.Remove(file))
	}
	s.takesThree(t, 1, 100_000)
}

// leaveOneFile makes files until there is room for one more, and returns their
// paths.
func leaveOneFile(t *testing.T, dir string) []string {
	t.Helper()
	var junk []string
	for {
		path := filepath.Join(dir, fmt.Sprintf("junk-%d", len(junk)))
		err := os.WriteFile(path, nil, 0o600)
		if errors.Is(err, syscall.ENOSPC) {
			break
		}
		testenv.NoError(t, err)
		junk = append(junk, path)
	}
	last := len(junk) - 1
	testenv.NoError(t, os.Remove(junk[last]))
	return junk[:last]
}

// failToUpload uploads a file, more often than an order may have files, which has
// to fail with the published error and leave nothing.
func (r running) failToUpload(t *testing.T, n sample, content []byte) {
	t.Helper()
	for try := range 2 * order.MaxInvoices {
		got, _, err := r.Upload(n.Path(try), "lost.pdf", content)
		if err != nil || got.Status != http.StatusInternalServerError || got.Body != `{"message":"`+uploadFailed+`"}`+"\n" {
			t.Fatalf("upload on a full disk: %d %s %v", got.Status, got.Body, err)
		}
		r.nothingStored(t, n)
	}
}

// TestDiskFull fills the disk of the whole data folder, database included, and
// makes room again.
//
// It guards that a full disk is an error of the one request that meets it. The requests
// afterwards would fail if it ended the server, if it left the connection to the database
// unusable, or if a state were changed in memory and not on the disk.
// Proves decision 5 (faults, 503).
func TestDiskFull(t *testing.T) {
	t.Parallel()
	if !testenv.MayMount(t) {
		return
	}
	const orders = 60
	data := filepath.Join(t.TempDir(), "data")
	testenv.SmallDisk(t, data, "size=8m")
	token := apptest.Folder{Data: data}.Merchant(t, apptest.MerchantID)
	apptest.Folder{Data: data}.Import(t, registered(1, orders))
	p := apptest.StartProcess(t, data)
	s := running{p, newClient(t, p.BaseURL, token)}

	ballast := testenv.FillDisk(t, data)
	refusedAt := s.acceptUntilFull(t, orders)
	s.checkWhileFull(t, refusedAt)
	testenv.NoError(t, os.Remove(ballast))
	s.checkRoomAgain(t, refusedAt)
	want := s.Walk(t)
	testenv.Equal(t, "exit code", 0, s.Stop(t, syscall.SIGTERM))
	testenv.Equal(t, "orders before and after a restart", want, startOn(t, data).Walk(t))
}

// acceptUntilFull accepts orders, for which the database may have room inside
// its files for a while, until the disk is full, and returns the order that
// could not be accepted.
func (r running) acceptUntilFull(t *testing.T, orders sample) sample {
	t.Helper()
	for n := sample(1); n <= orders; n++ {
		got := r.Ask(t, http.MethodPatch, n.V2()+"/accept", "")
		if got.Status == http.StatusOK {
			continue
		}
		r.unavailable(t, "v2 accept", got, `{"error":{"code":"unavailable","message":"The service cannot answer for now."}}`)
		return n
	}
	t.Fatal("the disk is full and every order was accepted")
	return 0
}

// unavailable checks a response that says that the service cannot work for now.
func (r running) unavailable(t *testing.T, what string, got response, body string) {
	t.Helper()
	if got.Status != http.StatusServiceUnavailable || got.Header.Get("Retry-After") == "" || got.Body != body+"\n" {
		t.Errorf("%s on a full disk: %d %v %s, want 503 with Retry-After and %s", what, got.Status, got.Header, got.Body, body)
	}
}

// checkWhileFull asks for all sorts of things, each of which must get a response
// in its form and change nothing.
func (r running) checkWhileFull(t *testing.T, n sample) {
	t.Helper()
	r.unavailable(t, "v1 reject", r.Ask(t, http.MethodPut, n.V1(), `{"status":"D"}`), `{"message":"Service Unavailable"}`)
	for try := range 2 {
		got, _, err := r.Upload(n.Path(try), "a.pdf", []byte("content"))
		if err != nil || got.Status != http.StatusInternalServerError || apptest.Message(got) != uploadFailed {
			t.Errorf("upload on a full disk: %d %s %v", got.Status, got.Body, err)
		}
	}
	r.Ask(t, http.MethodGet, "/readyz", "").WantStatus(t, http.StatusServiceUnavailable)
	r.Ask(t, http.MethodGet, "/healthz", "").WantStatus(t, http.StatusOK)
	// What is there can be read.
	testenv.Equal(t, fmt.Sprintf("state of order %d after its failed accept", n), order.Registered.String(), r.shown(t, n).State)
	r.nothingStored(t, n)
}

// checkRoomAgain does, now that there is room, what could not be done.
func (r running) checkRoomAgain(t *testing.T, n sample) {
	t.Helper()
	r.Ask(t, http.MethodPatch, n.V2()+"/accept", "").WantStatus(t, http.StatusOK)
	testenv.Equal(t, fmt.Sprintf("state of order %d", n), order.InProcessing.String(), r.shown(t, n).State)
	r.takesThree(t, n, 10_000)
	testenv.Eventually(t, "the service is ready with room again", func() bool { // a result is shared for a second
		return r.Ask(t, http.MethodGet, "/readyz", "").Status == http.StatusOK
	})
	totals := r.Totals(t)
	testenv.Equal(t, "orders accepted", int(n), totals[order.InProcessing.String()])
}
