package instances

import (
	"bytes"
	"net/http"
	"os"
	"slices"
	"strconv"
	"syscall"
	"testing"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/testenv"
)

// TestSuspendedImport stops an import again and again, as Ctrl-Z does: other processes write
// meanwhile.
func TestSuspendedImport(t *testing.T) {
	t.Parallel()
	const rounds = 20
	i := onSQLite(t)
	token := i.filled(t, rounds)
	c := apptest.NewClient(t, i.process(t).BaseURL, token)
	importing := apptest.Command(t, slices.Concat([]string{"--data", i.data}, i.settings, []string{"import", "-"})...)
	input := testenv.Of(importing.StdinPipe()).Must(t)
	testenv.NoError(t, importing.Start())
	go func() {
		for first := sample(rounds + 1); ; first += 1000 {
			if _, err := input.Write(apptest.Registered(merchantID, first, 1000)); err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		_ = importing.Process.Kill()
		_ = importing.Wait()
	})
	tables := i.tables(t)
	counted := func() int { return number(t, tables, `SELECT COUNT(*) FROM orders`) }
	for n := range sample(rounds) {
		before := counted()
		testenv.Eventually(t, "the import goes on", func() bool { return counted() > before })
		testenv.NoError(t, importing.Process.Signal(syscall.SIGTSTP))
		testenv.Eventually(t, "the import is stopped", func() bool {
			stat, err := os.ReadFile("/proc/" + strconv.Itoa(importing.Process.Pid) + "/stat")
			return err == nil && bytes.Contains(stat, []byte(") T "))
		})
		if got := c.Ask(t, http.MethodPatch, (1+n).V2()+"/accept", ""); got.Status != http.StatusOK {
			t.Fatalf("a change while an import is stopped: %d %s", got.Status, got.Body)
		}
		testenv.NoError(t, importing.Process.Signal(syscall.SIGCONT))
	}
}
