// Package clients_test runs the clients of this folder against a service: all their
// calls, through a proxy that breaks connections, and the sync programs of the guide,
// while these and the server are killed.
package clients_test

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/certtest"
	"merchantorders/internal/delivery"
	"merchantorders/internal/delivery/webhook"
	"merchantorders/internal/testenv"
)

func TestMain(m *testing.M) {
	code := apptest.Main(m)
	if packedFolder != "" {
		_ = os.RemoveAll(packedFolder)
	}
	os.Exit(code)
}

// language is one whose client this folder or the folder client has.
type language struct {
	name    string // as in the blocks of code of its page
	variant string // of the program that runs it
	page    string // in docs/guide
	// prepare makes the command of a program in a folder, which is the working directory
	// of the program. source is its path, with the name of the language as extension.
	prepare func(t *testing.T, folder, source string) *exec.Cmd
	// copied reads the orders that the sync program has in a folder.
	copied func(t *testing.T, folder string) orders
}

var languages = []language{
	{name: "go", page: "client.md", prepare: prepareGo, copied: filesCopied},
	{name: "python", page: "python.md", prepare: preparePython, copied: databaseCopied},
	{name: "typescript", page: "typescript.md", prepare: prepareTypeScript, copied: filesCopied},
	{name: "php", page: "php.md", prepare: phpWith(), copied: filesCopied},
}

func prepareGo(t *testing.T, folder, source string) *exec.Cmd {
	testenv.Need(t, "a program to build")
	renamed := filepath.Join(folder, "main.go")
	testenv.NoError(t, os.Rename(source, renamed))
	run(t, "..", "go", "build", "-ldflags=-w", "-o", folder, renamed)
	return exec.Command("./main")
}

func preparePython(t *testing.T, folder, source string) *exec.Cmd {
	testenv.Program(t, "python3", "python3")
	absolute := testenv.Of(filepath.Abs("python")).Must(t)
	if testenv.IsRelease() {
		testenv.Program(t, "mypy", "mypy")
		run(t, folder, "env", "MYPYPATH="+absolute, "mypy", "--strict", "--python-version", "3.9", "--cache-dir", t.TempDir(), source, filepath.Join(absolute, "merchant_orders"))
	}
	command := exec.Command("python3", source)
	command.Env = []string{"PYTHONPATH=" + absolute, "PYTHONDONTWRITEBYTECODE=1"}
	return command
}

// prepareTypeScript installs the package into an empty project and compiles a program as
// its page says, with the types of Node.js of the package's own development.
func prepareTypeScript(t *testing.T, folder, source string) *exec.Cmd {
	testenv.Program(t, "node", "nodejs")
	testenv.Program(t, "npm", "npm")
	made := testenv.Of(packed()).Must(t)
	write(t, filepath.Join(folder, "package.json"), []byte(`{"type":"module"}`))
	run(t, folder, "npm", "install", "--offline", "--no-audit", "--no-fund", filepath.Join(made, "merchant-orders-1.1.0.tgz"))
	testenv.NoError(t, os.Symlink(filepath.Join(made, "node_modules", "@types"), filepath.Join(folder, "node_modules", "@types")))
	testenv.NoError(t, os.Rename(source, filepath.Join(folder, "sync.ts")))
	run(t, folder, filepath.Join(made, "node_modules", ".bin", "tsc"), "--strict", "--exactOptionalPropertyTypes", "--skipLibCheck", "--target", "es2022", "--module", "nodenext", "sync.ts")
	run(t, folder, "node", "--input-type=commonjs", "-e", `new (require("merchant-orders").Client)("https://orders.example.com", "token")`)
	return exec.Command("node", "sync.js")
}

var (
	// packedFolder is that of packed; TestMain removes it.
	packedFolder string
	// packed builds and packs the package of TypeScript, once for all tests, and returns its
	// folder.
	packed = sync.OnceValues(pack)
)

func pack() (string, error) {
	var err error
	if packedFolder, err = os.MkdirTemp("", "merchant-orders-"); err != nil {
		return "", err
	}
	script := `cp -r typescript/src typescript/dist typescript/[A-Z]* typescript/*.json "$0" && cd "$0" &&
		npm ci --engine-strict --prefer-offline --no-audit --no-fund --ignore-scripts && mv dist committed && mkdir -p dist/cjs &&
		cp committed/cjs/package.json dist/cjs && npm run build && diff -r committed dist && npm pack`
	if output, err := exec.Command("sh", "-c", script, packedFolder).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: run npm run build in clients/typescript\n%s", err, output)
	}
	return packedFolder, nil
}

// phpWith returns a prepare of PHP with arguments.
func phpWith(args ...string) func(*testing.T, string, string) *exec.Cmd {
	return func(t *testing.T, folder, source string) *exec.Cmd {
		testenv.Program(t, "php", "php-cli")
		text := testenv.Of(os.ReadFile("php/MerchantOrders.php")).Must(t)
		write(t, filepath.Join(folder, "MerchantOrders.php"), text)
		if testenv.IsRelease() && args == nil { // of Debian's php-curl
			run(t, folder, "php", "-r", "exit(extension_loaded('curl') ? 0 : 1);")
		}
		return exec.Command("php", append(args, source)...)
	}
}

// TestPHPWithoutNetwork runs the program of the page where PHP can reach no address: it
// ends, because no later attempt can succeed.
func TestPHPWithoutNetwork(t *testing.T) {
	t.Parallel()
	l := language{name: "php", page: "php.md", prepare: phpWith("-n", "-d", "allow_url_fopen=0")}
	command, output := l.program(t, t.TempDir(), programOf(t, l))("ORDERS_URL=http://127.0.0.1:1", "ORDERS_TOKEN=mo_x")
	timer := time.AfterFunc(testenv.WaitTimeout, func() { _ = command.Process.Kill() })
	defer timer.Stop()
	testenv.NoError(t, command.Start())
	if err := command.Wait(); err == nil || !command.ProcessState.Exited() || !strings.Contains(output.String(), "it needs the extension curl") {
		t.Errorf("it ends with %v, and prints %s", err, output)
	}
}

// TestConnections calls a service that closes the connection after the third response, with
// one attempt for each call: the calls share a connection, and one that was closed costs
// no attempt.
func TestConnections(t *testing.T) {
	t.Parallel()
	for name, program := range map[string]string{
		"python": "import os\nfrom merchant_orders import Client\nclient = Client(os.environ['ORDERS_URL'], 'mo_x', tries=1)\nfor _ in range(5):\n    client.reject('SF-1', 'damaged')\n",
		"php":    "<?php\nrequire 'MerchantOrders.php';\n$client = new MerchantOrders\\Client(getenv('ORDERS_URL'), 'mo_x', 60, 1);\nfor ($i = 0; $i < 5; $i++) {\n    $client->reject('SF-1', 'damaged');\n}\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var requests atomic.Int64
			s := startTLS(t, "127.0.0.1", later, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.Header().Set("Content-Length", "16")
				_, _ = w.Write([]byte(`{"success":true}`))
				if requests.Add(1) == 3 {
					_ = http.NewResponseController(w).Flush()
					panic(http.ErrAbortHandler)
				}
			})
			if output, err := s.run(startable(t, name, program), s.cert); err != nil {
				t.Fatalf("%v\n%s", err, output)
			}
			testenv.Equal(t, "requests", 5, requests.Load())
			testenv.Equal(t, "connections", 2, s.connections.Load())
		})
	}
}

// TestCertificates calls services whose certificate is not good: no client tries again, and
// each says so.
func TestCertificates(t *testing.T) {
	t.Parallel()
	programs := map[string]string{
		"python":     "import os\nfrom merchant_orders import Client\nClient(os.environ['ORDERS_URL'], 'mo_x').order('SF-1')\n",
		"php":        "<?php\nrequire 'MerchantOrders.php';\n(new MerchantOrders\\Client(getenv('ORDERS_URL'), 'mo_x'))->order('SF-1');\n",
		"typescript": "import { Client } from 'merchant-orders';\nawait new Client(process.env.ORDERS_URL!, 'mo_x').order('SF-1');\n",
	}
	programs["php -n"] = programs["php"]
	cases := map[string]struct {
		host    string
		until   time.Time
		trusted bool
	}{
		"unknown":         {"127.0.0.1", later, false},
		"expired":         {"127.0.0.1", time.Date(2021, 1, 1, 0, 0, 0, 0, time.UTC), true},
		"of another host": {"127.0.0.2", later, true},
	}
	for name, program := range programs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start := startable(t, name, program)
			for what, c := range cases {
				s := startTLS(t, c.host, c.until, http.NotFound)
				authority := certtest.New(t, later).Cert
				if c.trusted {
					authority = s.cert
				}
				output, err := s.run(start, authority)
				if err == nil || !strings.Contains(output, "certificate") {
					t.Errorf("%s: %v, %s", what, err, output)
				}
				testenv.Equal(t, "connections, "+what, 1, s.connections.Load())
			}
		})
	}
}

var later = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)

// tlsService is a service with a certificate.
type tlsService struct {
	url, cert   string
	connections atomic.Int64
}

func startTLS(t *testing.T, host string, until time.Time, handle http.HandlerFunc) *tlsService {
	t.Helper()
	pair := certtest.New(t, until)
	s := &tlsService{cert: pair.Cert}
	server := &http.Server{Handler: handle, TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){}, ErrorLog: log.New(io.Discard, "", 0), ConnState: func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.connections.Add(1)
		}
	}}
	listener := testenv.Of(net.Listen("tcp", host+":0")).Must(t)
	s.url = "https://" + listener.Addr().String()
	ended := make(chan error, 1)
	go func() { ended <- server.ServeTLS(listener, pair.Cert, pair.Key) }()
	t.Cleanup(func() {
		testenv.NoError(t, server.Close())
		<-ended
	})
	return s
}

// startable returns the start of a program of a language, for PHP with its arguments.
func startable(t *testing.T, name, program string) func(environment ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	name, arguments, _ := strings.Cut(name, " ")
	l := languages[slices.IndexFunc(languages, func(l language) bool { return l.name == name })]
	if name == "php" {
		l.prepare = phpWith(append(strings.Fields(arguments), "-d", "curl.cainfo=${SSL_CERT_FILE}", "-d", "openssl.cafile=${SSL_CERT_FILE}")...)
	}
	return l.program(t, t.TempDir(), []byte(program))
}

// run runs a program that trusts an authority.
func (s *tlsService) run(start func(environment ...string) (*exec.Cmd, *bytes.Buffer), authority string) (output string, err error) {
	command, printed := start("ORDERS_URL="+s.url, "SSL_CERT_FILE="+authority, "NODE_EXTRA_CA_CERTS="+authority)
	err = command.Run()
	return printed.String(), err
}

// TestExportAsItArrives accepts each order of an export before the service sends the next.
func TestExportAsItArrives(t *testing.T) {
	t.Parallel()
	php := "<?php\nrequire 'MerchantOrders.php';\n$client = new MerchantOrders\\Client(getenv('ORDERS_URL'), 'mo_x', 60, 1);\nforeach ($client->export()->orders() as $order) {\n    $client->accept($order->id);\n}\n"
	for variant, l := range map[string]struct {
		language
		program string
	}{
		"python":           {languages[1], "import os\nfrom merchant_orders import Client\nclient = Client(os.environ['ORDERS_URL'], 'mo_x', tries=1)\nfor order in client.export().orders():\n    client.accept(order['id'])\n"},
		"php":              {languages[3], php},
		"php without curl": {language{name: "php", prepare: phpWith("-n")}, php},
	} {
		t.Run(variant, func(t *testing.T) {
			t.Parallel()
			accepted := make(chan string)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPatch {
					accepted <- r.URL.Path
					w.Header().Set("Content-Type", "application/json")
					_, _ = w.Write([]byte(`{"success":true}`))
					return
				}
				w.Header().Set("Content-Type", "application/x-ndjson")
				for n := range 3 {
					_, _ = fmt.Fprintf(w, `{"id":"SF-%d"}`+"\n", n)
					_ = http.NewResponseController(w).Flush()
					select {
					case path := <-accepted:
						testenv.Equal(t, "accepted", fmt.Sprintf("/v2/orders/SF-%d/accept", n), path)
					case <-r.Context().Done(): // the client gave up
						return
					}
				}
				_, _ = w.Write([]byte(`{"summary":{"orders":3},"complete":true,"after":5,"history":"h"}` + "\n"))
			}))
			defer server.Close()
			runAt(t, l.language, l.program, server.URL)
		})
	}
}

// runAt runs a program with a service, to its end.
func runAt(t *testing.T, l language, program, service string) {
	t.Helper()
	command, output := l.program(t, t.TempDir(), []byte(program))("ORDERS_URL=" + service)
	if err := command.Run(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
}

// run runs a program of preparations.
func run(t *testing.T, folder, name string, args ...string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), name, args...)
	command.Dir = folder
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, output)
	}
}

func write(t *testing.T, path string, text []byte) {
	t.Helper()
	testenv.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	testenv.NoError(t, os.WriteFile(path, text, 0o600))
}

// program returns a function that makes a command of a program, with an environment and
// its output.
func (l language) program(t *testing.T, folder string, text []byte) func(environment ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	source := filepath.Join(folder, "program."+l.name)
	write(t, source, text)
	prepared := l.prepare(t, folder, source)
	return func(environment ...string) (*exec.Cmd, *bytes.Buffer) {
		command := exec.Command(prepared.Args[0], prepared.Args[1:]...)
		command.Dir = folder
		command.Env = slices.Concat(os.Environ(), prepared.Env, environment)
		output := new(bytes.Buffer)
		command.Stdout, command.Stderr = output, output
		return command, output
	}
}

// callOrders is the number of orders: three pages.
const callOrders = 250

// calls are what the programs calls.* print.
var calls = map[string]any{
	"listed": float64(callOrders), "unanswered": true, "exportedInTurn": true, "end": 6.0,
	"state": "in-processing", "again": []any{400.0, "10304", false, true}, "stale": 412.0, "missing": 404.0, "limited": []any{429.0, 3600.0, "429"},
	"answers": []any{"changed", "changed", "refused", "not_found"}, "many": 501.0, "invoices": 1.0, "merchantReference": "20/17", "other": true,
	"withoutInvoice": 62.0, "found": []any{true}, "document": []any{"receipt", "R 7", "40", "https://x.example/7"},
	"events": []any{
		[]any{"order.state_changed", "in-processing"}, []any{"order.state_changed", "rejected-by-merchant"},
		[]any{"order.state_changed", "in-processing"}, []any{"order.state_changed", "rejected-by-merchant"},
		[]any{"invoice.uploaded", "rejected-by-merchant"}, []any{"order.updated", "rejected-by-merchant"},
	},
	"followed": true, "history": "changed",
	"named": 4.0, "requestId": true, "broken": []any{"r1", "r1", "r1"}, "downloaded": "%PDF-1.4", "linked": "%PDF-1.4", "deleted": 0.0,
	"proxied": "a proxy or another server responded: Not Found Bearer [token] nginx (status 404)", "missed": false,
	"gateway": []any{false, true}, "foreign": []any{true, true}, "huge": 502.0,
	"key": true, "moved": true, "cut": true, "webhook": "till", "rotated": true, "webhooks": 0.0, "tokens": []any{"till", "till"},
}

// TestCalls makes all calls of a client, and the first attempt of each fails.
func TestCalls(t *testing.T) {
	t.Parallel()
	streams := language{name: "php", variant: " without curl", prepare: phpWith("-n")}
	for _, l := range append(languages, streams) {
		if l.name == "go" {
			continue // the tests of the client itself do this
		}
		t.Run(l.name+l.variant, func(t *testing.T) {
			t.Parallel()
			text := testenv.Of(os.ReadFile(filepath.Join("testdata", "calls."+map[string]string{"python": "py", "typescript": "ts", "php": "php"}[l.name]))).Must(t)
			program := l.program(t, t.TempDir(), text)
			s := apptest.Start(t)
			s.Import(t, apptest.Registered(apptest.MerchantID, 1, callOrders))
			token := s.Folder.Token(t, "--merchant", "355", "--scopes", "orders:read,orders:write,invoices:write,webhooks,tokens")
			secret := webhook.NewSecret()
			sent := testenv.Of(json.Marshal(testDeliveries(t, secret))).Must(t)
			command, output := program("ORDERS_URL="+flaky(t, s.BaseURL), "ORDERS_TOKEN="+token, "WEBHOOK_SECRET="+string(secret), "DELIVERIES="+string(sent))
			if err := command.Run(); err != nil {
				t.Fatalf("%v\n%s", err, output)
			}
			var got map[string]any
			if json.Unmarshal(output.Bytes(), &got) != nil {
				t.Fatalf("it prints %s", output)
			}
			results, _ := got["deliveries"].(map[string]any)
			for name, d := range deliveries {
				testenv.Equal(t, name, fmt.Sprint(d.want), fmt.Sprint(results[name]))
			}
			delete(got, "deliveries")
			testenv.Equal(t, "results", calls, got)
		})
	}
}

// deliveries are those of a webhook, with what a client prints of each: the numbers of its
// events, and that of a single one.
var deliveries = map[string]struct {
	sent, signed string // signed is empty: the same
	age          time.Duration
	want         string
}{
	"single":              {`{"seq":17,"type":"order.created"}`, "", 0, "[[17] [17]]"},
	"forged":              {`{"seq":17,"type":"order.created"} `, `{"seq":17,"type":"order.created"}`, 0, "[refused refused]"},
	"old":                 {`{"seq":17,"type":"order.created"}`, "", 6 * time.Minute, "[refused refused]"},
	"batch":               {`{"events":[{"seq":17,"type":"order.created"},{"seq":18,"type":"new","orderReference":"Ω"}]}`, "", 0, "[[17 18] unreadable]"},
	"batch of one":        {`{"events":[{"seq":17,"type":"order.created"}]}`, "", 0, "[[17] unreadable]"},
	"tampered batch":      {`{"events":[{"seq":18,"type":"b"},{"seq":17,"type":"a"}]}`, `{"events":[{"seq":17,"type":"a"},{"seq":18,"type":"b"}]}`, 0, "[refused refused]"},
	"empty batch":         {`{"events":[]}`, "", 0, "[[] unreadable]"},
	"events in the data":  {`{"seq":17,"type":"a","data":{"events":[{"seq":1,"type":"a"}]}}`, "", 0, "[[17] [17]]"},
	"null in a batch":     {`{"events":[{"seq":17,"type":"a"},null]}`, "", 0, "[unreadable unreadable]"},
	"events in an object": {`{"events":{"0":{"seq":17,"type":"a"}}}`, "", 0, "[unreadable unreadable]"},
	"cut":                 {`{"events":[{"seq":17,"type":"a"}]`, "", 0, "[unreadable unreadable]"},
	published:             {`{"test": 2432232314}`, "", 0, "[unreadable [0]]"},
}

// published is the delivery that the libraries of Standard Webhooks are tested with.
const published = "published"

var publishedDelivery = map[string]any{
	"body": deliveries[published].sent, "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "now": 1614265330,
	"headers": map[string]string{
		"webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek", "webhook-timestamp": "1614265330",
		"webhook-signature": "v1,invalid v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
	},
}

// testDeliveries returns the deliveries as the programs take them, with names of headers in
// several letter cases.
func testDeliveries(t *testing.T, secret delivery.Secret) map[string]any {
	t.Helper()
	all := make(map[string]any)
	for name, d := range deliveries {
		at := time.Now().Add(-d.age)
		signature := testenv.Of(webhook.Sign("msg_1", at, []byte(cmp.Or(d.signed, d.sent)), webhook.NewSecret(), secret)).Must(t)
		all[name] = map[string]any{"body": d.sent, "headers": map[string]string{
			"Webhook-Id": "msg_1", "webhook-timestamp": strconv.FormatInt(at.Unix(), 10), "WEBHOOK-SIGNATURE": signature,
		}}
	}
	all[published] = publishedDelivery
	return all
}

// flaky starts a proxy for a service, and returns its address. The first attempt of each
// request fails: by turns the response is a 503, or breaks off after half of its body. A
// request with LIMITED is refused for an hour; the response of one with MOVED is a
// redirect, that of one with GONE a page, with GATEWAY one in JSON, with HUGE one without end, that
// of one with CUT, HTML or BROKEN is bad, with FOREIGN of another server. Tags are weak, as if the
// proxy compressed.
func flaky(t *testing.T, service string) string {
	t.Helper()
	target := testenv.Of(url.Parse(service)).Must(t)
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.ModifyResponse = func(r *http.Response) error {
		if tag := r.Header.Get("ETag"); tag != "" {
			r.Header.Set("ETag", "W/"+tag)
		}
		return nil
	}
	var mu sync.Mutex
	seen := make(map[string]bool)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		request := r.Method + r.URL.String()
		if r.Header.Get("Authorization") != "" && r.Header.Get("Prefer") != "handling=strict" {
			t.Errorf("%s: a misspelled parameter would have no effect", request)
		}
		if r.Method != http.MethodGet && r.Header.Get("Idempotency-Key") == "" {
			t.Errorf("%s: a second attempt would be a second write", request)
		}
		if strings.HasSuffix(request, "/answers") && !strings.Contains(r.UserAgent(), "typescript") {
			body := testenv.Of(io.ReadAll(r.Body)).Must(t)
			r.Body = io.NopCloser(bytes.NewReader(body))
			if lines := bytes.Count(body, []byte("\n")); lines > 500 {
				t.Errorf("%d answers at once: the client reads no results before it has sent all, and the service reads on when they are read", lines)
			}
		}
		mu.Lock()
		again := seen[request]
		seen[request] = true
		refuse := len(seen)%2 == 0
		mu.Unlock()
		switch {
		case strings.HasSuffix(request, "/MOVED"):
			http.Redirect(w, r, "https://orders.example.com/", http.StatusMovedPermanently)
		case strings.HasSuffix(request, "/GONE"):
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte("<html>\n<head><title>404</title></head>\n<h1>Not Found</h1>" + r.Header.Get("Authorization") + "<hr>nginx</html>"))
		case strings.HasSuffix(request, "/GATEWAY"):
			token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("X-Request-Id", token)
			w.Header().Set("Error-Detail", "The token "+token+" has no route.")
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte(`{"message":"no Route matched with those values"}`))
		case strings.Contains(request, "/FOREIGN"):
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{}`))
		case strings.HasSuffix(request, "/HUGE"):
			w.WriteHeader(http.StatusBadGateway)
			for range 32 << 4 { // more than the connection holds
				if _, err := w.Write(make([]byte, 64<<10)); err != nil {
					return
				}
			}
			t.Errorf("%s: the client reads all of a page", request)
		case strings.HasSuffix(request, "/CUT"):
			w.Header().Set("Content-Type", "Application/JSON")
			_, _ = w.Write([]byte(`{"order":{"id`))
		case strings.HasSuffix(request, "/HTML"), strings.HasSuffix(request, "BROKEN"):
			w.Header().Set("X-Request-Id", "r1")
			if strings.HasSuffix(request, "BROKEN") { // the response ends before its length
				w.Header().Set("Content-Length", "99")
				w.Header().Set("Content-Type", r.Header.Get("Accept"))
			}
			_, _ = w.Write([]byte(`{"id":"SF-1"}` + "\n"))
		case strings.HasSuffix(request, "/LIMITED"):
			w.Header().Set("Retry-After", "3600")
			w.WriteHeader(http.StatusTooManyRequests)
			_, _ = w.Write([]byte(`{"error":{"code":429,"message":["a","proxy"]}}`)) // in another form than the service's
		case again:
			proxy.ServeHTTP(w, r)
		case refuse:
			w.Header().Set("Retry-After", "-1") // not valid
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			whole := httptest.NewRecorder()
			proxy.ServeHTTP(whole, r)
			for name, values := range whole.Header() {
				w.Header()[name] = values
			}
			w.WriteHeader(whole.Code)
			_, _ = w.Write(whole.Body.Bytes()[:whole.Body.Len()/2])
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// programOf returns the program of the page of a language.
func programOf(t *testing.T, l language) []byte {
	t.Helper()
	text := testenv.Of(os.ReadFile(filepath.Join("..", "docs", "guide", l.page))).Must(t)
	program := regexp.MustCompile("(?s)# A whole sync\n.*?```" + l.name + "\n(.*?)```").FindSubmatch(text)
	if program == nil {
		t.Fatalf("%s has no program", l.page)
	}
	return program[1]
}
