package robust

import (
	"bytes"
	"errors"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

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

			s.signal(t, signal)
			s.refusesConnections(t)
			for _, held := range []*heldUpload{first, second} {
				held.release()
				got, err := held.result()
				if err != nil || got.Status != 200 {
					t.Errorf("upload under way: %d %s %v", got.Status, got.Body, err)
				}
			}
			if code := s.ended(t); code != 0 {
				t.Errorf("exit code %d, want 0", code)
			}
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

// TestStopCutsWhatIsStuck stops a server while an upload is half sent whose
// client sends no more.
//
// It guards that a stop comes to an end, after 10 seconds, and that half an
// upload leaves nothing.
func TestStopCutsWhatIsStuck(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Import(t, registered(1, 1))
	held := s.hold(t, sample(1).V1(), "stuck.pdf", make([]byte, 400_000))
	testenv.Eventually(t, "the upload is under way", func() bool { return len(stagedFiles(t, s.Data)) == 1 })
	s.signal(t, syscall.SIGTERM)
	if code := s.ended(t); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
	held.release()
	if got, err := held.result(); err == nil && got.Status < 400 {
		t.Errorf("half an upload got a response: %d %s", got.Status, got.Body)
	}
	if !strings.Contains(s.Log(), "cut off") {
		t.Error("the log does not tell of the request that was cut off")
	}
	again := startOn(t, s.Data)
	again.nothingStored(t, 1)
	again.takesThree(t, 1, 100)
}

// TestSecondSignalEndsAtOnce sends a server that waits for a stuck upload
// another signal.
//
// It guards the way out for a person who does not want to wait: if the second signal were
// caught like the first, the exit code would be 0.
func TestSecondSignalEndsAtOnce(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Import(t, registered(1, 1))
	s.hold(t, sample(1).V1(), "stuck.pdf", make([]byte, 400_000))
	testenv.Eventually(t, "the upload is under way", func() bool { return len(stagedFiles(t, s.Data)) == 1 })
	s.signal(t, syscall.SIGTERM)
	s.refusesConnections(t)
	gone := make(chan int, 1)
	go func() { gone <- s.ended(t) }()
	for {
		select {
		case code := <-gone:
			if code != -1 {
				t.Errorf("exit code %d, want the end by the signal", code)
			}
			startOn(t, s.Data).nothingStored(t, 1)
			return
		case <-time.After(50 * time.Millisecond):
			// Until it has put the first one behind it, the next may be lost.
			_ = syscall.Kill(s.PID(), syscall.SIGTERM)
		}
	}
}

// ended waits until a server has ended by itself, and returns its exit code: -1
// where a signal has ended it.
func (r running) ended(t testing.TB) int {
	t.Helper()
	testenv.Eventually(t, "the server ends", func() bool { return errors.Is(syscall.Kill(r.PID(), 0), syscall.ESRCH) })
	return r.Stop(t, syscall.Signal(0)) // which is none
}

// signal sends a signal to a server.
func (r running) signal(t testing.TB, s syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(r.PID(), s); err != nil {
		t.Errorf("signal %v: %v", s, err)
	}
}
