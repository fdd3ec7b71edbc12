package robust

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"merchantorders/internal/testenv"
)

// TestDeletedDatabase deletes the database of a running server: nothing is acknowledged any
// more, and the readiness, the log and doctor say so.
func TestDeletedDatabase(t *testing.T) {
	t.Parallel()
	s := startOn(t, filepath.Join(t.TempDir(), "data"))
	s.Import(t, registered(1, 2))
	accept := func(n sample) testenv.Response {
		return testenv.Send(t, s.client.Token, http.MethodPatch, s.Process.BaseURL+"/v2/orders/"+n.Reference()+"/accept", "")
	}
	accept(1).WantStatus(t, http.StatusOK)
	testenv.NoError(t, os.Remove(filepath.Join(s.Folder.Data, "orders.db")))
	accept(2).WantStatus(t, http.StatusServiceUnavailable)
	accept(2).WantStatus(t, http.StatusServiceUnavailable)
	testenv.Eventually(t, "a line in the log", func() bool { return strings.Contains(s.Log(), "the database cannot be used") })
	testenv.Eventually(t, "the server is not ready", func() bool {
		return testenv.Send(t, "", http.MethodGet, s.Process.BaseURL+"/readyz", "").Status == http.StatusServiceUnavailable
	})
	s.Folder.Run(t, "", "doctor").WantText(t, 1, "was deleted while a server has it open")
}
