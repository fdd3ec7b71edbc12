package guide_test

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"merchantorders/internal/delivery"
	"merchantorders/internal/delivery/webhook"
	"merchantorders/internal/testenv"
)

// TestWebhookReceivers runs the receivers of the page and sends them deliveries: a good
// one twice, batches that repeat events, one with two signatures, one that another secret has
// signed, one that was changed, and an old one.
func TestWebhookReceivers(t *testing.T) {
	t.Parallel()
	text := testenv.Of(os.ReadFile("webhooks.md")).Must(t)
	clients := testenv.Of(filepath.Abs("../../clients")).Must(t)
	for language, commands := range map[string][]string{
		"go": {"go", "build", "-o", "receiver", "main.go"}, "php": {"php", "-S", "ADDRESS", "main.php"}, "python": {"python3", "main.python"},
	} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			if language != "go" {
				testenv.Need(t, "the program "+commands[0])
			}
			program, err := exec.LookPath(commands[0])
			if err != nil {
				t.Skip(err) // the language is not there
			}
			code := regexp.MustCompile("(?s)```" + language + "\n(.*?)```").FindSubmatch(text)
			if code == nil {
				t.Fatal("the page has no receiver")
			}
			dir := t.TempDir()
			source := filepath.Join(dir, "main."+language)
			testenv.NoError(t, os.WriteFile(source, code[1], 0o600))
			testenv.NoError(t, os.Symlink(clients+"/php/MerchantOrders.php", filepath.Join(dir, "MerchantOrders.php")))
			testenv.NoError(t, os.Symlink(clients+"/python/merchant_orders", filepath.Join(dir, "merchant_orders")))
			if language == "go" {
				program = buildReceiver(t, source, filepath.Join(dir, "receiver"))
				commands = []string{"receiver"}
			}
			testReceiver(t, program, commands[1:], dir)
		})
	}
}

// buildReceiver builds a program that uses the client.
func buildReceiver(t *testing.T, source, output string) string {
	t.Helper()
	build := exec.CommandContext(t.Context(), "go", "build", "-o", output, source)
	build.Dir = "../.."
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return output
}

// testReceiver starts a receiver and sends it deliveries.
func testReceiver(t *testing.T, program string, args []string, dir string) {
	t.Helper()
	address := testenv.FreeAddress(t)
	_, port, _ := net.SplitHostPort(address)
	for i, arg := range args {
		args[i] = strings.Replace(arg, "ADDRESS", address, 1)
	}
	secret, other := webhook.NewSecret(), webhook.NewSecret()
	receiver := exec.CommandContext(t.Context(), program, args...)
	receiver.Dir = dir
	receiver.Env = append(os.Environ(), "WEBHOOK_SECRET="+string(secret), "PORT="+port, "SEEN_FOLDER="+dir, "PYTHONUNBUFFERED=1", "PYTHONDONTWRITEBYTECODE=1")
	output := testenv.Of(receiver.StderrPipe()).Must(t)
	receiver.Stdout = receiver.Stderr
	testenv.NoError(t, receiver.Start())
	t.Cleanup(func() {
		_ = receiver.Process.Kill()
		_ = receiver.Wait() // the error says that it was killed
	})
	lines := make(chan string, 100)
	go func() {
		for scanner := bufio.NewScanner(output); scanner.Scan(); {
			lines <- scanner.Text()
		}
		close(lines)
	}()
	waitForPort(t, address)
	now := time.Now()
	const body = `{"seq":17,"type":"order.created","orderReference":"R-17","orderId":5,"at":"2026-11-20T09:15:00Z","actor":"operator","tokenId":null,"requestId":null,"data":{"state":"registered"}}`
	batch := func(numbers ...int) string {
		events := make([]string, len(numbers))
		for i, n := range numbers {
			events[i] = strings.ReplaceAll(body, "17", strconv.Itoa(n))
		}
		return `{"events":[` + strings.Join(events, ",") + `]}`
	}
	for _, d := range []struct {
		what    string
		id      string
		at      time.Time
		secrets []delivery.Secret
		sent    string
		status  int
	}{
		{"good", "msg_1_17_x", now, []delivery.Secret{secret}, body, http.StatusNoContent},
		{"the same again", "msg_1_17_x", now, []delivery.Secret{secret}, body, http.StatusNoContent},
		{"a batch with the same one", "msg_2", now, []delivery.Secret{secret}, batch(17, 18, 19), http.StatusNoContent},
		{"the same batch again", "msg_2", now, []delivery.Secret{secret}, batch(17, 18, 19), http.StatusNoContent},
		{"of another batch", "msg_3", now, []delivery.Secret{secret}, batch(19, 20), http.StatusNoContent},
		{"a number again, later", "msg_4", now, []delivery.Secret{secret}, strings.ReplaceAll(batch(20), "09:15:00", "10:15:00"), http.StatusNoContent},
		{"a changed batch", "msg_5", now, []delivery.Secret{secret}, batch(21), http.StatusUnauthorized},
		{"two signatures", "msg_1_18_x", now, []delivery.Secret{other, secret}, strings.ReplaceAll(body, "17", "21"), http.StatusNoContent},
		{"another secret", "msg_1_19_x", now, []delivery.Secret{other}, body, http.StatusUnauthorized},
		{"changed", "msg_1_19_x", now, []delivery.Secret{secret}, strings.ReplaceAll(body, "17", "19"), http.StatusUnauthorized},
		{"old", "msg_1_19_x", now.Add(-time.Hour), []delivery.Secret{secret}, body, http.StatusUnauthorized},
	} {
		signed := body
		if d.status == http.StatusNoContent {
			signed = d.sent
		}
		signature := testenv.Of(webhook.Sign(d.id, d.at, []byte(signed), d.secrets...)).Must(t)
		client := webhook.NewClient(true)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		got := client.Post(ctx, webhook.Message{ID: d.id, URL: "http://" + address + "/hook", At: d.at, Signature: signature, Body: []byte(d.sent)})
		cancel()
		testenv.Equal(t, d.what, d.status, got.Status)
	}
	_ = receiver.Process.Kill()
	var processed []string
	for line := range lines {
		if i := strings.Index(line, "order.created R-"); i >= 3 {
			processed = append(processed, line[i-3:])
		}
	}
	testenv.Equal(t, "what the receiver has processed", "17 order.created R-17; 18 order.created R-18; 19 order.created R-19; 20 order.created R-20; 20 order.created R-20; 21 order.created R-21", strings.Join(processed, "; "))
}

// waitForPort waits until a program listens.
func waitForPort(t *testing.T, address string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if c, err := net.Dial("tcp", address); err == nil {
			_ = c.Close()
			return
		}
	}
	t.Fatal("the receiver does not listen")
}
