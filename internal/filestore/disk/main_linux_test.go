package disk_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"merchantorders/internal/testenv"
)

// roleVariable makes the test program run a role instead of tests. A role is
// the part of a test that needs its own process.
const roleVariable = "FILESTORE_TEST_ROLE"

// exitSkip is the exit code of a role that cannot run on this machine.
const exitSkip = 3

// errCannot is the error of a role that cannot run on this machine.
var errCannot = errors.New("cannot run here")

func TestMain(m *testing.M) {
	role := os.Getenv(roleVariable)
	if role == "" {
		os.Exit(m.Run())
	}
	roles := map[string]func(dir string) error{
		"commit": commitFile,
		"full":   fillDisk,
	}
	err := roles[role](os.Args[len(os.Args)-1])
	if err == nil {
		return
	}
	fmt.Println(err)
	if errors.Is(err, errCannot) {
		os.Exit(exitSkip)
	}
	os.Exit(1)
}

// runRole returns the command that runs a role in the folder dir, under the
// program and arguments in wrapper if there are any.
func runRole(t *testing.T, role, dir string, wrapper ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	testenv.NoError(t, err)
	arguments := append(wrapper, self, dir)
	command := exec.CommandContext(t.Context(), arguments[0], arguments[1:]...)
	command.Env = append(os.Environ(), roleVariable+"="+role)
	return command
}
