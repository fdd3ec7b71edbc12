package commands_test

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/testenv"
)

// TestSimulate runs a simulator beside a server.
func TestSimulate(t *testing.T) {
	t.Parallel()
	server := apptest.Start(t)
	args := []string{"simulate", "--merchant=355", "--rate=600", "--speed=1000", "--duration=1s", "--yes"}
	first := server.Folder.Run(t, "", args...)
	line := regexp.MustCompile(`(?m)^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ  SIM1-00000\d  registered$`)
	if first.Code != 0 || first.Stderr != "" || !line.MatchString(first.Stdout) {
		t.Fatalf("%+v", first)
	}
	placed := strings.Count(first.Stdout, "registered")
	second := server.Folder.Run(t, "", args...)
	if second.Code != 0 || strings.Contains(second.Stdout, "SIM1-000001  registered") {
		t.Errorf("the second does not continue: %+v", second)
	}
	placed += strings.Count(second.Stdout, "registered")
	remote := remote{server.BaseURL, server.Token}
	listed := remote.run(t, "", "orders", "list", "--limit", "100000")
	testenv.Equal(t, "listed orders", placed, strings.Count(listed.Stdout, "SIM1-"))
	server.Folder.Run(t, "", "simulate", "--merchant=1").WantText(t, 1, "there is no merchant 1")
	server.Folder.Run(t, "yes\n", args[:len(args)-1]...).WantText(t, 2, "creates orders of merchant 355")
	sandbox := server.Folder
	sandbox.Environ = append(os.Environ(), "MERCHANT_ORDERS_SANDBOX=true")
	sandbox.Run(t, "", args[:len(args)-1]...).WantText(t, 0)
}

// TestQuestion answers the question of a command on a terminal.
func TestQuestion(t *testing.T) {
	t.Parallel()
	f := folder(t)
	f.Merchant(t, 355)
	command := strings.Join(apptest.Command(t, "simulate", "--merchant=355", "--rate=600", "--duration=1s", "--data", f.Data).Args, " ")
	for typed, want := range map[string]string{"yes\n": "  registered", "no\n": "not confirmed: nothing was done", "\x03": "not confirmed: nothing was done"} {
		terminal := exec.Command(testenv.Program(t, "script", "bsdutils"), "--quiet", "--return", "--command", command, "/dev/null")
		keyboard, screen := testenv.Of(terminal.StdinPipe()).Must(t), testenv.Of(terminal.StdoutPipe()).Must(t)
		testenv.NoError(t, terminal.Start())
		shown := bufio.NewReader(screen)
		_ = testenv.Of(shown.ReadString(':')).Must(t) // the question
		testenv.Of(io.WriteString(keyboard, typed)).Must(t)
		testenv.Contains(t, typed, string(testenv.Of(io.ReadAll(shown)).Must(t)), want)
		if err := terminal.Wait(); (err == nil) != (typed == "yes\n") {
			t.Errorf("%q: %v", typed, err)
		}
	}
}

// TestSandbox checks that requests choose a fault in a sandbox, and nowhere else.
func TestSandbox(t *testing.T) {
	t.Parallel()
	for flag, want := range map[string]int{"--hide-addresses": http.StatusUnauthorized, "--sandbox": http.StatusServiceUnavailable} {
		server := apptest.StartOn(t, filepath.Join(t.TempDir(), "data"), flag)
		if status, _, err := faulty(t, http.MethodGet, server.BaseURL+"/v2/orders", "", "503"); err != nil || status != want {
			t.Errorf("%s: %d, %v, want %d", flag, status, err, want)
		}
	}
}

// TestLostResponse accepts a demo order as the guide does.
func TestLostResponse(t *testing.T) {
	t.Parallel()
	server := apptest.StartOn(t, filepath.Join(t.TempDir(), "data"), "--demo")
	token, _ := printed(t, server.Stdout())
	accept := server.BaseURL + "/v2/orders/DEMO-0060/accept"
	if status, _, err := faulty(t, http.MethodPatch, accept, token, "lost"); err == nil {
		t.Errorf("the lost response arrived: %d", status)
	}
	status, header, err := faulty(t, http.MethodPatch, accept, token, "")
	if err != nil || status != http.StatusOK || header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("again: %d, %v, %v", status, header, err)
	}
}

// faulty sends a request that asks for a fault.
func faulty(t *testing.T, method, url, token, fault string) (int, http.Header, error) {
	t.Helper()
	r := testenv.NewRequest(t, token, method, url, http.NoBody, "X-Sandbox-Fault", fault, "Idempotency-Key", "rehearsal-1")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, nil, err
	}
	return response.StatusCode, response.Header, response.Body.Close()
}

func TestSimulateFlags(t *testing.T) {
	t.Parallel()
	for flag, values := range map[string][]string{
		"merchant": {"", "0", "-1", "x", "1.5"},
		"rate":     {"", "0", "-1", "x", "NaN", "Inf", "60001"},
		"seed":     {"", "-1", "1.5", "x", "4294967296"},
		"speed":    {"", "0", "NaN", "1e9"},
		"accept":   {"", "-1", "101", "1.5", "all"},
		"count":    {"", "-1", "1.5", "1000000001"},
		"duration": {"", "5", "-1s", "x"},
	} {
		for _, value := range values {
			args := []string{"simulate", "--data", t.TempDir(), "--" + flag + "=" + value}
			if flag != "merchant" {
				args = append(args, "--merchant=355")
			}
			if got := apptest.Run(t, "", args...); got.Code != 2 || strings.Count(got.Stderr, "\n") != 1 || !strings.Contains(got.Stderr, "--"+flag) {
				t.Errorf("%v: %+v", args, got)
			}
		}
	}
}
