package commands_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/testenv"
)

// TestComplete asks for what may follow on a command line.
func TestComplete(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"merch":                       "merchant",
		"token re":                    "revoke",
		"token revoke x":              "",
		"--data ser":                  "",
		"--data DIR ser":              "serve",
		"--data=DIR ser":              "serve",
		"orders list --state --":      "",
		"orders list --js":            "--json",
		"orders list --json --state ": "",
		"orders list --dat":           "",
		"check --dat":                 "--data --database",
		"comp":                        "",
		"nothing --base":              "--base-url",
	} {
		got := apptest.Run(t, "", append([]string{"complete", "--"}, strings.Split(line, " ")...)...)
		var words []string
		for candidate := range strings.Lines(got.Stdout) {
			word, help, _ := strings.Cut(candidate, "\t")
			if strings.TrimSpace(help) == "" {
				t.Errorf("%q: %s has no help", line, word)
			}
			words = append(words, word)
		}
		if diff := cmp.Diff(want, strings.Join(words, " ")); diff != "" || got.Code != 0 || got.Stderr != "" {
			t.Errorf("%q: exit code %d %s(-want +got):\n%s", line, got.Code, got.Stderr, diff)
		}
	}
	apptest.Run(t, "", "complete").WantOut(t, 0, "")
}

// TestManual checks that the manual page has every command and every flag, and
// that an example keeps its lines.
func TestManual(t *testing.T) {
	t.Parallel()
	got := apptest.Run(t, "", "manual")
	if got.Code != 0 || got.Stderr != "" {
		t.Fatalf("%+v", got)
	}
	page := strings.ReplaceAll(got.Stdout, `\-`, "-")
	for name, flags := range flagsOf(t) {
		_, rest, found := strings.Cut(page, "\n.SS "+name)
		if !found && name != "every" {
			t.Errorf("the page has no command %s", name)
		}
		part, _, _ := strings.Cut(rest, "\n.SS ")
		for _, flag := range flags {
			if found && !strings.Contains(part, "\n\\fB--"+flag) {
				t.Errorf("%s has no flag %s", name, flag)
			}
		}
	}
	testenv.Contains(t, "page", page,
		".SH SETTINGS\n",
		"\n\\fB--data=DIR\\fR\n",
		".nf\nmerchant-orders token create --merchant 355\nmerchant-orders token create --merchant 355 --scopes",
	)
	testenv.Lacks(t, "page", page, ".SS complete", ".SS manual")
}
