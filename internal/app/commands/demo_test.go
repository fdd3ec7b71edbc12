package commands_test

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/testenv"
)

// printed returns the demo's token and the three commands from the standard
// output of a server.
func printed(t *testing.T, output string) (token string, curls []string) {
	t.Helper()
	token = regexp.MustCompile(`(?m)^  (mo_\w+)$`).FindString(output)
	for line := range strings.Lines(output) {
		if strings.HasPrefix(line, "  curl ") {
			curls = append(curls, strings.TrimSpace(line))
		}
	}
	if token == "" || len(curls) != 3 {
		t.Fatalf("no token or not three commands in:\n%s", output)
	}
	return strings.TrimSpace(token), curls
}

// try runs the printed commands in a shell.
func try(t *testing.T, curls []string) {
	t.Helper()
	testenv.Program(t, "curl", "curl")
	for i, want := range []string{`"totalItems":60`, `"state":"registered"`, `"success":true`} {
		out, err := exec.CommandContext(t.Context(), "sh", "-c", curls[i]).Output()
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: %v, %s, want %s", curls[i], err, out, want)
		}
	}
}

func TestDemo(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	first := apptest.StartOn(t, data, "--demo")
	token, curls := printed(t, first.Stdout())
	try(t, curls)
	testenv.Contains(t, "standard output", first.Stdout(), "\nOperators open "+first.AdminURL()+"/ on this machine; no other machine can reach it.\n")
	if !strings.HasSuffix(first.Stdout(), "\nMerchant Orders listens on "+first.BaseURL+"\n") {
		t.Errorf("standard output:\n%s", first.Stdout())
	}
	before := testenv.Send(t, token, "GET", first.BaseURL+"/v2/orders?itemsPerPage=100", "").Body
	first.Stop(t)

	second := apptest.StartOn(t, data, "--demo")
	other, curls := printed(t, second.Stdout())
	if other == token {
		t.Error("the second start has not created another token")
	}
	try(t, curls)
	testenv.Lacks(t, "the example", curls[1], "DEMO-0060")
	testenv.Send(t, token, "GET", second.BaseURL+"/v2/orders", "").WantStatus(t, 200)
	// The third command has accepted an order.
	after := testenv.Send(t, token, "GET", second.BaseURL+"/v2/orders?itemsPerPage=100", "").Body
	if a, b := strings.Count(before, `"id":`), strings.Count(after, `"id":`); a != 60 || b != 60 {
		t.Errorf("%d orders, then %d", a, b)
	}
	table := rows(t, second.Run(t, "", "token", "list").Stdout)
	if len(table) != 2 {
		t.Fatalf("tokens: %v", table)
	}
	for _, row := range table {
		created, err := time.Parse(time.RFC3339, row[4])
		expires, expiresErr := time.Parse(time.RFC3339, row[5])
		if err != nil || expiresErr != nil || expires.Sub(created) != 24*time.Hour {
			t.Errorf("a token of %s that is valid until %s, want 24 hours", row[4], row[5])
		}
	}
}

func TestDemoBesideOtherMerchants(t *testing.T) {
	t.Parallel()
	f := folder(t)
	f.Merchant(t, 1)
	s := apptest.StartOn(t, f.Data, "--demo")
	want := "The data folder already contains merchants: no demo was created.\n" + s.Listening()
	testenv.Equal(t, "standard output", want, s.Stdout())
	testenv.Equal(t, "merchants", 1, len(rows(t, s.Run(t, "", "merchant", "list").Stdout)))
}

func TestDemoPrintsTheBaseURL(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, "--demo", "--base-url", "https://orders.example.com/it's/")
	testenv.Contains(t, "standard output", s.Stdout(), `'https://orders.example.com/it'\''s/v2/orders?itemsPerPage=3'`)
}
