package commands

import (
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the table of all settings")

// TestSettingsTable compares the table of all settings with the command line. To
// write it again: go test ./internal/app/commands -run TestSettingsTable -update.
func TestSettingsTable(t *testing.T) {
	t.Parallel()
	const file, heading = "../../../docs/settings.md", "## All settings\n"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, table, found := strings.Cut(string(text), heading)
	if !found {
		t.Fatalf("%s has no %q", file, heading)
	}
	want := settingsTable(t)
	if *update {
		if err := os.WriteFile(file, []byte(before+heading+want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(table, "\n")); diff != "" {
		t.Errorf("write the table again with -update (-want +got):\n%s", diff)
	}
}

// settingsTable returns a table of the flags of every command, in Markdown.
func settingsTable(t *testing.T) string {
	t.Helper()
	var line commandLine
	parser, err := newParser(&line, &process{stdout: io.Discard, stderr: io.Discard}, func(int) {}, new(resolver))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("\nEvery command:\n")
	writeRows(&b, parser.Model.Flags)
	// Commands with the same flags share a table.
	var headings []string
	shared := make(map[string][]*kong.Flag)
	commands := make(map[string][]string)
	for _, leaf := range parser.Model.Leaves(true) {
		for _, flag := range leaf.Flags {
			key := flag.Name + "\x00" + flag.Help
			if commands[key] == nil {
				shared[key] = []*kong.Flag{flag}
				headings = append(headings, key)
			}
			commands[key] = append(commands[key], "`"+leaf.Path()+"`")
		}
	}
	tables := make(map[string][]*kong.Flag)
	var order []string
	for _, key := range headings {
		names := strings.Join(commands[key], ", ")
		if !slices.Contains(order, names) {
			order = append(order, names)
		}
		tables[names] = append(tables[names], shared[key]...)
	}
	for _, names := range order {
		b.WriteString("\n" + names + ":\n")
		writeRows(&b, tables[names])
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
