package robust

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"merchantorders/internal/testenv"
)

// TestChangedDatabase deletes the database of a running server, writes into it, or cuts its log:
// nothing is acknowledged any more, and the readiness, the log and doctor say so.
func TestChangedDatabase(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(path string) error{
		"deleted": os.Remove,
		"overwritten": func(path string) error {
			content, err := os.ReadFile(path)
			if err == nil {
				content[27]-- // the file change counter is that of a backup
				err = os.WriteFile(path, content, 0o600)
			}
			return err
		},
		"cut log": func(path string) error { return os.Truncate(path+"-wal", 0) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startOn(t, filepath.Join(t.TempDir(), "data"))
			s.Import(t, registered(1, 2))
			accept := func(n sample) testenv.Response {
				return testenv.Send(t, s.client.Token, http.MethodPatch, s.Process.BaseURL+"/v2/orders/"+n.Reference()+"/accept", "")
			}
			accept(1).WantStatus(t, http.StatusOK)
			testenv.NoError(t, change(filepath.Join(s.Folder.Data, "orders.db")))
			accept(2).WantStatus(t, http.StatusServiceUnavailable)
			accept(2).WantStatus(t, http.StatusServiceUnavailable)
			testenv.Eventually(t, "a line in the log", func() bool { return strings.Contains(s.Log(), "the database cannot be used") })
			testenv.Eventually(t, "the server is not ready", func() bool {
				return testenv.Send(t, "", http.MethodGet, s.Process.BaseURL+"/readyz", "").Status == http.StatusServiceUnavailable
			})
			s.Folder.Run(t, "", "doctor").WantText(t, 1, "the server that has it open:")
		})
	}
}
