package filestore_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"merchantorders/internal/filestore/s3test"
)

// roleVariable tells the test program that it is not to run tests but to play
// a role: what a test wants done by a process of its own.
const roleVariable = "FILESTORE_TEST_ROLE"

// exitSkip is the exit code of a role that cannot be played on this machine.
const exitSkip = 3

// errCannot is the error of a role that cannot be played on this machine.
var errCannot = errors.New("cannot be tried here")

func TestMain(m *testing.M) {
	role := os.Getenv(roleVariable)
	if role == "" {
		os.Exit(s3test.Main(m.Run))
	}
	roles := map[string]func(dir string) error{
		"publish": publishAs,
		"full":    fillDisk,
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

// play returns the command that plays a role in the folder dir, run by the
// program and arguments in wrapper if there are any.
func play(t *testing.T, role, dir string, wrapper ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatalf("find the test program: %v", err)
	}
	arguments := append(wrapper, self, dir)
	command := exec.CommandContext(t.Context(), arguments[0], arguments[1:]...)
	command.Env = append(os.Environ(), roleVariable+"="+role)
	return command
}
