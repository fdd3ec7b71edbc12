package apptest

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"merchantorders/internal/testenv"
)

// SeedVariable is the environment variable with the seed of Dice, to see a failure again. What
// clients have reached by then depends on the machine.
const SeedVariable = "MERCHANT_ORDERS_TEST_SEED"

// Dice returns what decides in a random test, and logs how to have the same again.
func Dice(t testing.TB) *rand.Rand {
	t.Helper()
	seed := rand.Uint64()
	if text := os.Getenv(SeedVariable); text != "" {
		var err error
		seed, err = strconv.ParseUint(text, 10, 64)
		testenv.NoError(t, err)
	}
	t.Logf("to see the same once more: %s=%d", SeedVariable, seed)
	return rand.New(rand.NewPCG(seed, 0))
}
