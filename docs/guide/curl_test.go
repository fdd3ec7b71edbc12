package guide_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/testenv"
)

// refusedCommands are the commands of the guide that show a failure, with the exit code
// of curl.
var refusedCommands = map[string]int{
	`-H "If-Match: $TAG" "$BASE/v2/orders/DEMO-0052/accept"`: 22, // the second time
	`X-Sandbox-Fault: lost`:                                  52,
}

// printedToken finds the token that a demo prints.
var printedToken = regexp.MustCompile(`\bmo_\w+`)

// TestCommandsOfTheGuide types every curl command of each page, from top to bottom, with
// a new demo service for the page.
func TestCommandsOfTheGuide(t *testing.T) {
	t.Parallel()
	testenv.Program(t, "curl", "curl")
	pages := testenv.Of(filepath.Glob("*.md")).Must(t)
	typed := 0
	for _, page := range pages {
		text := testenv.Of(os.ReadFile(page)).Must(t)
		commands := commandsOf(string(text))
		if typed += len(commands); len(commands) > 0 {
			t.Run(page, func(t *testing.T) { typeCommands(t, commands) })
		}
	}
	if typed < 20 {
		t.Errorf("%d commands, which cannot be all", typed)
	}
}

// commandsOf returns the indented lines of a page that call curl.
func commandsOf(page string) []string {
	var commands []string
	for line := range strings.Lines(strings.ReplaceAll(page, "\\\n", " ")) {
		if command, indented := strings.CutPrefix(strings.TrimSpace(line), "curl "); indented && strings.HasPrefix(line, "    ") {
			commands = append(commands, "curl "+command)
		} else if strings.HasPrefix(line, "    TAG=$(curl ") {
			commands = append(commands, strings.TrimSpace(line))
		}
	}
	return commands
}

// typeCommands types commands at a demo service. A command that sets TAG is for those
// after it.
func typeCommands(t *testing.T, commands []string) {
	s := apptest.Start(t, "--demo", "--webhook-allow-private")
	folder, tag, seen := t.TempDir(), "", make(map[string]bool)
	testenv.NoError(t, os.WriteFile(filepath.Join(folder, "invoice.pdf"), []byte("%PDF-1.4"), 0o600))
	token := printedToken.FindString(s.Stdout())
	for _, command := range commands {
		want := 0
		for part, code := range refusedCommands {
			if strings.Contains(command, part) && (code != 22 || seen[command]) {
				want = code
			}
		}
		seen[command] = true
		setsTag := strings.HasPrefix(command, "TAG=")
		if setsTag {
			command += "; echo -n $TAG"
		}
		shell := exec.CommandContext(t.Context(), "bash", "-c", "curl() { command curl --silent --show-error --fail-with-body \"$@\"; }\n"+command)
		shell.Dir, shell.Env = folder, append(os.Environ(), "BASE="+s.BaseURL, "TOKEN="+token, "TAG="+tag)
		output, _ := shell.CombinedOutput()
		testenv.Equal(t, "exit code of "+command, want, shell.ProcessState.ExitCode())
		if want == 22 && !strings.Contains(string(output), "precondition_failed") {
			t.Errorf("%s\nis refused otherwise: %s", command, output)
		}
		if setsTag {
			tag = string(output)
		}
	}
}
