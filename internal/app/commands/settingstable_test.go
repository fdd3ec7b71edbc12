package commands

import (
	"flag"
	"fmt"
	"io"
	"os"
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
	text, err := os.ReadFile(file)
	testenv.NoError(t, err)
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
	var line commandLine
	parser, err := newParser(&line, &process{stdout: io.Discard, stderr: io.Discard}, func(int) {}, new(resolver))
	testenv.NoError(t, err)
	var b strings.Builder
	b.WriteString("\nEvery command:\n")
	writeRows(&b, parser.Model.Flags)
	for _, leaf := range parser.Model.Leaves(true) {
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
