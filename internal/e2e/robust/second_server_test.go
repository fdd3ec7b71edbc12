package robust

import (
	"net/http"
	"testing"

	"merchantorders/internal/testenv"
)

// TestSecondServerOfAKilledOne leaves the files of a killed server to one that
// still runs beside it, and to the next one that starts.
//
// It guards that a server that is not alone leaves reservations that may be another's,
// and that the next one that starts alone expires them.
func TestSecondServerOfAKilledOne(t *testing.T) {
	t.Parallel()
	first := start(t)
	first.Import(t, registered(1, 1))
	second := startOn(t, first.Data)
	first.hold(t, sample(1).V1(), "first.pdf", make([]byte, 400_000))
	held := second.hold(t, sample(1).V2(), "second.pdf", make([]byte, 400_000))
	testenv.Eventually(t, "both uploads are under way", func() bool { return len(stagedFiles(t, first.Data)) == 2 })
	first.Kill(t)
	third := startOn(t, first.Data)
	held.release()
	if got, err := held.result(); err != nil || got.Status != http.StatusOK {
		t.Errorf("upload through the second: %d %s %v", got.Status, got.Body, err)
	}
	second.Kill(t)
	third.Kill(t)
	last := startOn(t, first.Data)
	last.checkFolders(t)
	if shown := last.shown(t, 1).Files; len(shown) != 1 {
		t.Errorf("files %v, want the one that was acknowledged", shown)
	}
}
