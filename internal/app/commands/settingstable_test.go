package commands

import (
	"flag"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"merchantorders/internal/testenv"
)

var update = flag.Bool("update", false, "rewrite the table of all settings")

// TestSettingsTable compares the table of all settings with the command line. To
// write it again: go test ./internal/app/commands -run TestSettingsTable -update.
func TestSettingsTable(t *testing.T) {
	t.Parallel()
	const file, heading = "../../../docs/settings.md", "## Settings of the service\n"
	text := testenv.Of(os.ReadFile(file)).Must(t)
	before, table, found := strings.Cut(string(text), heading)
	if !found {
		t.Fatalf("%s has no %q", file, heading)
	}
	want := settingsTable(t)
	if *update {
		testenv.NoError(t, os.WriteFile(file, []byte(before+heading+want), 0o644))
		return
	}
	testenv.Equal(t, "write the table again with -update", strings.Split(want, "\n"), strings.Split(table, "\n"))
}

// settingsTable returns a table of the flags of every command and those of serve, in
// Markdown. Flags of other commands are options of one run; their help shows them.
func settingsTable(t *testing.T) string {
	t.Helper()
	model := newModel(t)
	var b strings.Builder
	b.WriteString("\nEvery command:\n")
	writeRows(&b, model.Flags)
	for _, leaf := range model.Leaves(true) {
		if leaf.Path() == "serve" {
			b.WriteString("\n`serve`, and `doctor`, which tests them:\n")
			writeRows(&b, leaf.Flags)
		}
	}
	return b.String()
}

func writeRows(b *strings.Builder, flags []*kong.Flag) {
	b.WriteString("\n| flag | default | meaning |\n|---|---|---|\n")
	for _, flag := range flags {
		if flag.Name == "help" {
			continue
		}
		name, fallback := "--"+flag.Name, ""
		if flag.PlaceHolder != "" && !flag.IsBool() {
			name += " " + flag.PlaceHolder
		}
		if flag.HasDefault {
			fallback = "`" + flag.Default + "`"
		}
		cell := strings.NewReplacer("|", `\|`)
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", cell.Replace(name), fallback, cell.Replace(flag.Help))
	}
}

// Updating reports whether the flag -update is set.
func Updating() bool { return *update }

// PublishedFlags returns the commands with what they require, and the flags with their
// defaults, one a line.
func PublishedFlags(t *testing.T) []string {
	t.Helper()
	model := newModel(t)
	var lines []string
	add := func(command string, flags []*kong.Flag, positional []*kong.Positional) {
		required := ""
		for _, argument := range positional {
			if argument.Required {
				required += " <" + argument.Name + ">"
			}
		}
		for _, flag := range flags {
			if flag.Required {
				required += " --" + flag.Name
			}
			kind := flag.Target.Kind()
			if kind == reflect.Pointer { // it is known whether the flag was given
				kind = flag.Target.Type().Elem().Kind()
			}
			lines = append(lines, strings.TrimSpace(fmt.Sprintf("flag %s --%s %s %s", command, flag.Name, kind, flag.Default)))
		}
		lines = append(lines, "command "+command+" requires:"+required)
	}
	add("every", model.Flags, nil)
	for _, leaf := range model.Leaves(true) {
		add(leaf.Path(), leaf.Flags, leaf.Positional)
	}
	return lines
}

// TestEveryCommandRuns checks that each command is either a runner or a backendRunner.
func TestEveryCommandRuns(t *testing.T) {
	t.Parallel()
	for _, leaf := range newModel(t).Leaves(false) {
		target := leaf.Target.Addr().Interface()
		_, alone := target.(runner)
		_, onBackend := target.(backendRunner)
		testenv.Equal(t, leaf.Path(), true, alone != onBackend)
	}
}

// JSONCommands returns the commands with the flag --json.
func JSONCommands(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, leaf := range newModel(t).Leaves(true) {
		if slices.ContainsFunc(leaf.Flags, func(f *kong.Flag) bool { return f.Name == "json" }) {
			names = append(names, leaf.Path())
		}
	}
	return names
}

// newModel returns the model of the command line.
func newModel(t *testing.T) *kong.Application {
	t.Helper()
	var line commandLine
	parser := testenv.Of(newParser(&line, &process{stdout: io.Discard, stderr: io.Discard}, func(int) {}, new(resolver))).Must(t)
	return parser.Model
}
