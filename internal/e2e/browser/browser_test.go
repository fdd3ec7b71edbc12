package browser

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	browserlog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/store/pgtest"
	"merchantorders/internal/testenv"
)

// timeout is how long a page may take. Only a test that fails waits that long.
const timeout = 15 * time.Minute

// flags disable all requests of the browser to other hosts than the service.
var flags = []string{
	"headless", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "disable-background-networking", "disable-component-update",
	"disable-sync", "disable-dev-shm-usage",
}

// browser is the browser that all tests share. Each test has its own tabs.
var browser struct {
	once sync.Once
	ctx  context.Context
	stop func() // nil: not started
	err  error
}

func TestMain(m *testing.M) {
	os.Exit(pgtest.Run(func() int {
		code := m.Run()
		if browser.stop != nil {
			browser.stop()
		}
		return code
	}, apptest.SetUp))
}

// startBrowser starts the shared browser once and returns its context.
func startBrowser(t *testing.T) context.Context {
	t.Helper()
	path := testenv.Program(t, "chromium", "chromium")
	browser.once.Do(func() { browser.ctx, browser.stop, browser.err = start(path) })
	if browser.err != nil {
		t.Fatalf("start chromium: %v", browser.err)
	}
	return browser.ctx
}

// start starts a browser.
func start(path string) (context.Context, func(), error) {
	profile, err := os.MkdirTemp("", "browser-")
	if err != nil {
		return nil, nil, err
	}
	options := []chromedp.ExecAllocatorOption{chromedp.ExecPath(path), chromedp.UserDataDir(profile), chromedp.WindowSize(1280, 900), chromedp.WSURLReadTimeout(timeout)}
	for _, flag := range flags {
		options = append(options, chromedp.Flag(flag, true))
	}
	allocator, endAll := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, closeBrowser := chromedp.NewContext(allocator)
	end := func() {
		closeBrowser()
		endAll()
		_ = os.RemoveAll(profile)
	}
	if err := chromedp.Do(ctx); err != nil {
		end()
		return nil, nil, err
	}
	return ctx, end, nil
}

// tab is a page under watch.
type tab struct {
	ctx context.Context

	mu     sync.Mutex
	faults []string
}

// open opens a tab that makes the test fail over an error in its console, and
// over a request to anyone but the service.
func open(t *testing.T, base string) *tab {
	t.Helper()
	tabContext, closeTab := chromedp.NewContext(startBrowser(t))
	// The time counts for what is done on the tab, not for the tab.
	testenv.NoError(t, chromedp.Do(tabContext))
	ctx, cancel := context.WithTimeout(tabContext, timeout)
	watched := &tab{ctx: ctx}
	own := testenv.Of(url.Parse(base)).Must(t)
	testenv.NoError(t, chromedp.Listen(ctx, func(event any) { watched.note(own.Host, event) }))
	t.Cleanup(func() {
		cancel()
		closeTab()
		watched.mu.Lock()
		defer watched.mu.Unlock()
		for _, fault := range watched.faults {
			t.Error(fault)
		}
	})
	command(t, watched, network.Enable, network.EnableParams{})
	command(t, watched, browserlog.Enable, cdp.Empty{})
	command(t, watched, runtime.Enable, cdp.Empty{})
	return watched
}

// note keeps what must not happen on a page.
func (w *tab) note(host string, event any) {
	fault := ""
	switch event := event.(type) {
	case *network.EventRequestWillBeSent:
		target, err := url.Parse(event.Request.URL)
		if err != nil || target.Host != host && target.Scheme != "data" && target.Scheme != "blob" && target.Scheme != "about" {
			fault = "a request to " + event.Request.URL
		}
	case *browserlog.EventEntryAdded:
		if event.Entry.Level == browserlog.EntryLevelError || event.Entry.Level == browserlog.EntryLevelWarning {
			fault = fmt.Sprintf("in the log: %s %s", event.Entry.Text, event.Entry.URL)
		}
	case *runtime.EventExceptionThrown:
		fault = "an exception: " + event.ExceptionDetails.Text
	case *runtime.EventConsoleAPICalled:
		if event.Type == runtime.ConsoleAPICalledTypeError {
			fault = "an error in the console"
			for _, value := range event.Args {
				fault += " " + string(value.Value) + value.Description
			}
		}
	}
	if fault != "" {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.faults = append(w.faults, fault)
	}
}

// run does something on the page.
func (w *tab) run(t *testing.T, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	for i, step := range steps {
		if err := chromedp.Do(w.ctx, step); err != nil {
			t.Fatalf("step %d: %v; faults so far: %q", i, err, w.seen())
		}
	}
}

// forgive forgets the faults so far that contain a text.
func (w *tab) forgive(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults = slices.DeleteFunc(w.faults, func(fault string) bool { return strings.Contains(fault, text) })
}

func (w *tab) seen() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.faults)
}

// value does something on the page that gives a value.
func value[T any](t *testing.T, w *tab, action chromedp.Action[T]) T {
	t.Helper()
	v, err := chromedp.Run(w.ctx, action)
	if err != nil {
		t.Fatalf("%v; faults so far: %q", err, w.seen())
	}
	return v
}

// command sends a command of the browser's protocol.
func command[P, R any](t *testing.T, w *tab, c cdp.Command[P, R], params P) {
	t.Helper()
	testenv.Of(chromedp.Call(w.ctx, c, params)).Must(t)
}
