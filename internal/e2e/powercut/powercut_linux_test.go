package powercut

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/testenv"
)

func TestMain(m *testing.M) { os.Exit(apptest.Main(m)) }

// cutsOfOne is how many cuts an installation has before the next one begins: each cut reads
// all that it has.
const cutsOfOne = 20

// TestPowerCut cuts the power under all kinds of traffic, also while a server starts and
// right after one has stopped. After each cut the service starts, and shows all that was
// acknowledged and nothing that was not asked for; a backup that was acknowledged can be
// restored.
func TestPowerCut(t *testing.T) {
	t.Parallel()
	needFUSE(t)
	if !testenv.MayMount(t) {
		return
	}
	dice, begun := apptest.Dice(t), time.Now()
	counts, starts := make(map[string]int), 0
	cuts := testenv.Count(2, 200)
	for left := cuts; left > 0 && !t.Failed(); left -= cutsOfOne {
		t.Run(fmt.Sprintf("%d left", left), func(t *testing.T) {
			h := newInstallation(newMachine(t, dice), newLedger())
			h.cuts(min(left, cutsOfOne))
			for what, n := range h.counts {
				counts[what] += n
			}
			starts += h.starts
		})
	}
	for _, kind := range kinds {
		if counts[kind] == 0 {
			t.Errorf("no %s were acknowledged", kind)
		}
	}
	t.Logf("%d cuts in %v, acknowledged and found again: %v; %d cuts while a server started", cuts, time.Since(begun).Round(time.Second), counts, starts)
}

// cuts has the power cut again and again, and looks at what is left each time.
func (h *installation) cuts(count int) {
	h.powerOff()
	for i := range count {
		h.powerOn()
		if i > 0 && h.dice.IntN(5) == 0 {
			h.cutAfter(h.dice.IntN(60), false)
		}
		s := h.serve(h.token)
		if s == nil {
			h.starts++
			h.powerOff()
			continue
		}
		h.cutAfter(-1, false)
		h.wantAll(s, false)
		h.restore()
		if h.dice.IntN(4) == 0 {
			h.mustRun(nil, "check")
		}
		h.untilCut(s, i == 0 || h.dice.IntN(4) == 0, 200+h.dice.IntN(1500), h.dice.IntN(5) == 0)
		if h.t.Failed() {
			return
		}
	}
	h.powerOn()
	s := h.serve(h.token)
	h.wantAll(s, true)
	h.restore()
	h.mustRun(nil, "check")
	s.stop(h.t)
	h.powerOff()
}

// lost returns what a server does not show.
func (h *installation) lost(s *service, all bool) []string {
	shown, err := export(s.Client)
	if err != nil {
		return []string{err.Error()}
	}
	var newest int
	h.with(func() { newest = h.ledger.now })
	lost := append(h.compare(shown, newest), h.download(s.Client, shown, all)...)
	h.pin(shown)
	return lost
}

// wantAll reports what a server does not show.
func (h *installation) wantAll(s *service, all bool) {
	h.t.Helper()
	for _, what := range h.lost(s, all) {
		h.t.Errorf("after the cut: %s", what)
	}
}

// restore restores the newest acknowledged backup into a folder elsewhere, and removes all.
func (h *installation) restore() {
	h.t.Helper()
	if len(h.backup) > 0 {
		made := h.backup[len(h.backup)-1]
		data := filepath.Join(h.t.TempDir(), "data")
		cmd := apptest.Command(h.t, "restore", made.path, "--data", data)
		if output, err := cmd.CombinedOutput(); err != nil {
			h.t.Fatalf("restore %s: %v\n%s", made.path, err, output)
		}
		server := apptest.StartOn(h.t, data)
		shown := testenv.Of(export(apptest.NewClient(h.t, server.BaseURL, h.token))).Must(h.t)
		for _, what := range h.compare(shown, made.since) {
			h.t.Errorf("restored from %s: %s", filepath.Base(made.path), what)
		}
		server.Stop(h.t)
		h.backup = nil
	}
	// This process must not open the files itself.
	output, err := exec.Command("sh", "-c", "rm -rf "+h.path(backupFolder)+"/b*").CombinedOutput()
	if err != nil {
		h.t.Errorf("remove backups: %v: %s", err, output)
	}
}

// TestPowerCutIsNoticed has disks and databases that lose what they should keep: TestPowerCut
// would fail. scripts/release-check runs it.
func TestPowerCutIsNoticed(t *testing.T) {
	t.Parallel()
	if !testenv.Soak() {
		t.Skip("takes long: disks that lose what they should keep; scripts/release-check has them")
	}
	needFUSE(t)
	if !testenv.MayMount(t) {
		return
	}
	files := func(n *node) bool { return strings.HasPrefix(n.path, "data/files/") }
	for name, faults := range map[string]faults{
		"synchronous=NORMAL":     {lazyLog: true},
		"files are not synced":   {ignores: func(n *node) bool { return files(n) && !n.isFolder() }},
		"folders are not synced": {ignores: func(n *node) bool { return files(n) && n.isFolder() }},
	} {
		t.Run(name, func(t *testing.T) {
			h := newInstallation(newMachine(t, apptest.Dice(t)), newLedger())
			h.powerOff()
			h.disk.faults = faults
			// A cut may lose nothing by luck.
			for range 20 {
				h.powerOn()
				s := h.serve(h.token)
				if lost := h.lost(s, false); len(lost) > 0 {
					t.Logf("lost %d, such as: %s", len(lost), lost[0])
					h.powerOff()
					return
				}
				h.untilCut(s, false, 200+h.dice.IntN(300), false)
			}
			t.Error("nothing is lost, and should be")
		})
	}
}
