package robust

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"merchantorders/internal/testenv"
)

// seedVariable chooses the seed of the random tests, to see a failure again.
const seedVariable = "ROBUST_SEED"

// seed returns the seed of a random test and has it printed when it fails.
func seed(t *testing.T) uint64 {
	t.Helper()
	chosen := rand.Uint64()
	if text := os.Getenv(seedVariable); text != "" {
		var err error
		if chosen, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("%s: %v", seedVariable, err)
		}
	}
	t.Logf("to see the same once more: %s=%d", seedVariable, chosen)
	return chosen
}

// The orders of one round: those that are accepted and rejected, those that
// files are uploaded to, and those that are imported meanwhile.
const (
	answeredOrders = 90
	answerers      = 3
	uploadOrders   = 4
	importedOrders = 400
	roundOrders    = answeredOrders + uploadOrders + importedOrders
)

// TestKilledAtAnyMoment kills a server, as kill -9 does, at random times while
// clients accept, reject, upload and delete and an import runs beside it, which
// is killed as well in every other round.
//
// It guards that whatever is acknowledged is durable, and that a start cleans up
// by itself. Answering before the commit makes it fail, and so does a start that
// does not sweep.
func TestKilledAtAnyMoment(t *testing.T) {
	t.Parallel()
	rounds := testenv.Count(6, 60)
	dice := rand.New(rand.NewPCG(seed(t), 0))
	data := filepath.Join(t.TempDir(), "data")
	var ledgers []*ledger
	interrupted := 0
	server := startOn(t, data, "--log-level", "warn")
	for round := range rounds {
		ledgers = append(ledgers, crashRound(t, server, sample(1+round*roundOrders), dice))
		interrupted += len(stagedFiles(t, data))
		server = startOn(t, data, "--log-level", "warn")
		server.checkFolders(t)
		server.checkLedger(t, ledgers[round], server.Walk(t))
		if t.Failed() {
			t.Fatalf("after round %d", round)
		}
		server.fillUp(t, ledgers[round])
	}
	// What a round has left must outlive the rounds after it.
	states := server.Walk(t)
	for _, l := range ledgers {
		server.checkLedger(t, l, states)
	}
	t.Logf("%d uploads were interrupted on their way", interrupted)
}

// crashRound has clients work on fresh orders, from first on, until enough is
// acknowledged, and kills the server a little later.
func crashRound(t *testing.T, server running, first sample, dice *rand.Rand) *ledger {
	t.Helper()
	server.Import(t, registered(first, answeredOrders+uploadOrders))
	l := newLedger(10 + dice.IntN(150))
	crowd := &crowd{client: server.client, t: t, ledger: l, seed: dice.Uint64()}
	for i := range answerers {
		var orders []sample
		for n := i; n < answeredOrders; n += answerers {
			orders = append(orders, first+sample(n))
		}
		crowd.answerAll(i, orders)
	}
	for i := range uploadOrders {
		n := first + answeredOrders + sample(i)
		crowd.uploadAll(100+i, n, 40_000)
		if i == 0 {
			// Here they are in each other's way, with files that take longer.
			crowd.uploadAll(200, n, 900_000)
			crowd.uploadAll(201, n, 900_000)
		}
	}
	documents := marked{first + answeredOrders + uploadOrders, importedOrders}
	imports := startImport(t, server.Data, func(line int) { l.took(documents.before(line)...) })
	go func() {
		_, _ = imports.input.Write(documents.text()) // it may be killed meanwhile
		_ = imports.input.Close()
	}()

	killsImport, moment := dice.IntN(2) == 0, time.Duration(dice.IntN(5000))*time.Microsecond
	select {
	case <-l.goal:
	case <-time.After(testenv.WaitTimeout):
		t.Error("the clients get no further")
	}
	time.Sleep(moment)
	if killsImport {
		_ = imports.command.Process.Kill()
	}
	server.Kill(t)
	crowd.wait.Wait()
	checkImport(t, imports, documents, killsImport)
	return l
}

// checkImport waits for an import and sees, where it was left alone, that the
// death of the server is nothing to it.
func checkImport(t *testing.T, imports *importing, documents marked, killed bool) {
	t.Helper()
	code := imports.end()
	if killed && code == -1 {
		return
	}
	if code != 1 {
		t.Fatalf("the import ended with %d, want 1 as there are refused lines:\n%s", code, &imports.stderr)
	}
	if err := documents.clean(parseCounts(t, imports.stdout.String())); err != nil {
		t.Error(err)
	}
}
