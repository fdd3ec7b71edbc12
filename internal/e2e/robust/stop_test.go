package robust

import (
	"bytes"
	"net"
	"strings"
	"syscall"
	"testing"

	"merchantorders/internal/testenv"
)

// TestStopFinishesWhatIsUnderWay stops a server with each of the two signals
// while an upload is half sent.
//
// It guards that what is under way is finished and durable, that nobody new is
// let in meanwhile, and the exit code. A stop that closes connections, or that
// ends the requests' contexts, makes it fail.
func TestStopFinishesWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			s := start(t)
			s.Import(t, registered(1, 2))
			content := bytes.Repeat([]byte("until the end "), 30_000)
			first := s.hold(t, sample(1).V1(), "first.pdf", content)
			second := s.hold(t, sample(2).V2(), "second.pdf", content)
			testenv.Eventually(t, "both uploads are under way", func() bool { return len(stagedFiles(t, s.Data)) == 2 })

			testenv.NoError(t, syscall.Kill(s.PID(), signal))
			s.refusesConnections(t)
			for _, held := range []*heldUpload{first, second} {
				held.release()
				got, err := held.result()
				if err != nil || got.Status != 200 {
					t.Errorf("upload under way: %d %s %v", got.Status, got.Body, err)
				}
			}
			testenv.Equal(t, "exit code", 0, s.Stop(t, 0))
			again := startOn(t, s.Data)
			for n := sample(1); n <= 2; n++ {
				shown := again.shown(t, n).Files
				if len(shown) != 1 || !bytes.Equal(again.Download(t, shown[0]), content) {
					t.Errorf("order %d has files %v, and not the one that was stored", n, shown)
				}
			}
		})
	}
}

// refusesConnections waits until a server takes no new connections.
func (r running) refusesConnections(t *testing.T) {
	t.Helper()
	testenv.Eventually(t, "new connections are refused", func() bool {
		connection, err := net.Dial("tcp", strings.TrimPrefix(r.Base, "http://"))
		if err == nil {
			_ = connection.Close()
		}
		return err != nil
	})
}
