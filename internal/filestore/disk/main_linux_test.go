package disk_test

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"merchantorders/internal/testenv"
)

// commitVariable makes the test program run commitFile instead of tests, on the folder
// that is its argument.
const commitVariable = "FILESTORE_TEST_COMMIT"

func TestMain(m *testing.M) {
	if os.Getenv(commitVariable) == "" {
		os.Exit(m.Run())
	}
	if err := commitFile(os.Args[len(os.Args)-1]); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// runCommit returns the command that runs commitFile in the folder dir, under the
// program and arguments in wrapper.
func runCommit(t *testing.T, dir string, wrapper ...string) *exec.Cmd {
	t.Helper()
	self := testenv.Of(os.Executable()).Must(t)
	arguments := append(wrapper, self, dir)
	command := exec.CommandContext(t.Context(), arguments[0], arguments[1:]...)
	command.Env = append(os.Environ(), commitVariable+"=1")
	return command
}
