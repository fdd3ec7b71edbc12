package browser

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	chromium "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/testenv"
)

// engine is what a test needs of a browser that it can run in each of them.
type engine interface {
	visit(url string) error
	// script returns the text that an expression gives. It runs where scripts of pages do
	// not, too.
	script(expression string) (string, error)
	// strike presses keys one after the other, "\r" for Enter, with or without Ctrl held.
	strike(ctrl bool, keys string) error
	// point moves the pointer to a place of the window, and clicks there or not.
	point(x, y int, click bool) error
	// downloads returns the folder of downloads from now on.
	downloads(t *testing.T) string
	// forgive forgets the faults so far that contain a text, of which only Chromium knows.
	forgive(text string)
}

// engines start the browsers for a person, with scripts of pages or without. A browser ends with
// its test.
var engines = map[string]func(t *testing.T, s *apptest.Server, scripts bool) *user{"chromium": startChromium, "firefox": startFirefox, "webkit": startWebKit}

func startChromium(t *testing.T, s *apptest.Server, scripts bool) *user {
	p := newPerson(t, s, s.BaseURL)
	p.speak(t, "en")
	p.runScripts(t, scripts)
	return p.user
}

// runScripts makes pages run scripts or not.
func (w *tab) runScripts(t *testing.T, scripts bool) {
	t.Helper()
	command(t, w, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !scripts})
}

func (w *tab) visit(url string) error { return chromedp.Do(w.ctx, chromedp.Navigate(url)) }

func (w *tab) script(expression string) (string, error) {
	return chromedp.Run(w.ctx, chromedp.Evaluate[string](expression))
}

// strike sends no character of a key that the page has taken, which chromedp.KeyEvent does.
func (w *tab) strike(ctrl bool, keys string) error {
	for _, key := range keys {
		events := kb.Encode(key)
		down, up := *events[0], *events[len(events)-1]
		if ctrl {
			down.Modifiers |= int64(chromedp.ModifierCtrl)
			up.Modifiers |= int64(chromedp.ModifierCtrl)
		} else if len(events) == 3 {
			down.Text, down.UnmodifiedText = events[1].Text, events[1].UnmodifiedText
		}
		for _, event := range []input.DispatchKeyEventParams{down, up} {
			if _, err := chromedp.Call(w.ctx, input.DispatchKeyEvent, event); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *tab) point(x, y int, click bool) error {
	if click {
		return chromedp.Do(w.ctx, chromedp.MouseClickXY(float64(x), float64(y)))
	}
	return chromedp.Do(w.ctx, chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, float64(x), float64(y)))
}

func (w *tab) downloads(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	testenv.Of(chromedp.CallBrowser(w.ctx, chromium.SetDownloadBehavior, chromium.SetDownloadBehaviorParams{
		Behavior: chromium.SetDownloadBehaviorBehaviorAllow, DownloadPath: folder,
	})).Must(t)
	return folder
}

// webDriver is a browser that takes the actions of WebDriver, which both protocols write alike.
type webDriver struct {
	navigate func(url string) error
	evaluate func(expression string) (string, error)
	perform  func(sources ...map[string]any) error
	files    string // folder of downloads
}

func (d webDriver) visit(url string) error                   { return d.navigate(url) }
func (d webDriver) script(expression string) (string, error) { return d.evaluate(expression) }
func (d webDriver) downloads(*testing.T) string              { return d.files }
func (d webDriver) forgive(string)                           {}

// The keys of WebDriver.
const (
	webDriverCtrl  = "\ue009"
	webDriverEnter = "\ue007"
)

func (d webDriver) strike(ctrl bool, keys string) error {
	var actions []map[string]any
	act := func(kind, key string) { actions = append(actions, map[string]any{"type": kind, "value": key}) }
	if ctrl {
		act("keyDown", webDriverCtrl)
	}
	for _, key := range strings.ReplaceAll(keys, "\r", webDriverEnter) {
		act("keyDown", string(key))
		act("keyUp", string(key))
	}
	if ctrl {
		act("keyUp", webDriverCtrl)
	}
	return d.perform(map[string]any{"type": "key", "id": "keyboard", "actions": actions})
}

func (d webDriver) point(x, y int, click bool) error {
	actions := []map[string]any{{"type": "pointerMove", "x": x, "y": y, "duration": 0}}
	if click {
		actions = append(actions, map[string]any{"type": "pointerDown", "button": 0}, map[string]any{"type": "pointerUp", "button": 0})
	}
	return d.perform(map[string]any{"type": "pointer", "id": "mouse", "actions": actions})
}

// startProgram starts a program that ends with the test, and returns the first match of a
// pattern in what it writes.
func startProgram(t *testing.T, pattern, display, program string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), "DISPLAY=:"+display, "LANGUAGE=en")
	cmd.WaitDelay = time.Second // its own programs may still write
	reader, writer := io.Pipe()
	cmd.Stdout, cmd.Stderr = writer, writer
	testenv.NoError(t, cmd.Start())
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait()
	})
	written, matches := "", regexp.MustCompile(pattern)
	for lines := bufio.NewScanner(reader); !matches.MatchString(written); {
		if !lines.Scan() {
			t.Fatalf("%s ends: %s", program, written)
		}
		written += lines.Text() + "\n"
	}
	go func() { _, _ = io.Copy(io.Discard, reader) }()
	return matches.FindString(written)
}

// startFirefox speaks WebDriver BiDi with Firefox.
func startFirefox(t *testing.T, s *apptest.Server, scripts bool) *user {
	profile, files := t.TempDir(), t.TempDir()
	settings := fmt.Sprintf("user_pref(\"javascript.enabled\", %t);\nuser_pref(\"intl.accept_languages\", \"en\");\nuser_pref(\"browser.download.alwaysOpenPanel\", false);\n", scripts)
	testenv.NoError(t, os.WriteFile(filepath.Join(profile, "user.js"), []byte(settings), 0o600))
	address := startProgram(t, `ws://\S+`, "", testenv.Program(t, "firefox-esr", "firefox-esr"), "--headless", "--remote-debugging-port", "0", "--profile", profile)
	conn, response, err := websocket.Dial(t.Context(), address+"/session", nil)
	testenv.NoError(t, err)
	if response.Body != nil {
		_ = response.Body.Close()
	}
	conn.SetReadLimit(-1)
	id := 0
	call := func(method string, params map[string]any, result any) error {
		id++
		if err := wsjson.Write(t.Context(), conn, map[string]any{"id": id, "method": method, "params": params}); err != nil {
			return err
		}
		for {
			var answer struct {
				ID      int
				Error   string
				Message string
				Result  json.RawMessage
			}
			if err := wsjson.Read(t.Context(), conn, &answer); err != nil {
				return err
			}
			switch {
			case answer.ID != id: // an event
			case answer.Error != "":
				return errors.New(method + ": " + answer.Message)
			default:
				return json.Unmarshal(answer.Result, result)
			}
		}
	}
	var ignored any
	testenv.NoError(t, call("session.new", map[string]any{"capabilities": map[string]any{"alwaysMatch": map[string]any{"unhandledPromptBehavior": map[string]any{"beforeUnload": "accept"}}}}, &ignored))
	t.Cleanup(func() { _ = conn.CloseNow() })
	var tab struct{ Context string }
	testenv.NoError(t, call("browsingContext.create", map[string]any{"type": "tab"}, &tab))
	testenv.NoError(t, call("browsingContext.setViewport", map[string]any{"context": tab.Context, "viewport": map[string]any{"width": 1440, "height": 900}}, &ignored))
	testenv.NoError(t, call("browser.setDownloadBehavior", map[string]any{"downloadBehavior": map[string]any{"type": "allowed", "destinationFolder": files}}, &ignored))
	testenv.NoError(t, call("script.addPreloadScript", map[string]any{"functionDeclaration": "() => { " + printed + " }"}, &ignored))
	return &user{Server: s, BaseURL: s.BaseURL, engine: webDriver{
		files: files,
		navigate: func(url string) error {
			return call("browsingContext.navigate", map[string]any{"context": tab.Context, "url": url, "wait": "complete"}, &ignored)
		},
		evaluate: func(expression string) (string, error) {
			var answer struct{ Result struct{ Value string } }
			err := call("script.evaluate", map[string]any{"expression": expression, "target": map[string]any{"context": tab.Context}, "awaitPromise": false}, &answer)
			return answer.Result.Value, err
		},
		perform: func(sources ...map[string]any) error {
			return call("input.performActions", map[string]any{"context": tab.Context, "actions": sources}, &ignored)
		},
	}}
}

// startWebKit speaks WebDriver with the small browser of WebKitGTK, on a screen of its own.
func startWebKit(t *testing.T, s *apptest.Server, scripts bool) *user {
	files := t.TempDir()
	t.Setenv("HOME", files) // has no folder of downloads in it, and is it
	testenv.Program(t, "Xvfb", "xvfb")
	driver := testenv.Program(t, "WebKitWebDriver", "webkit2gtk-driver")
	browsers, err := filepath.Glob("/usr/lib/*/webkit2gtk-*/MiniBrowser")
	if err != nil || len(browsers) == 0 {
		t.Fatalf("WebKitGTK has no MiniBrowser: %v", err)
	}
	display := startProgram(t, `\d+`, "", "Xvfb", "-displayfd", "1", "-screen", "0", "1500x1100x24", "-nolisten", "tcp")
	port := testenv.Of(testenv.FreePort()).Must(t)
	startProgram(t, "", display, driver, fmt.Sprintf("--port=%d", port))
	session := fmt.Sprintf("http://127.0.0.1:%d/session", port)
	// The driver forgets a script whose page ends; one is tried again.
	client := http.Client{Timeout: testenv.WaitTimeout / 6}
	call := func(path string, body map[string]any, value any) error {
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		response, err := client.Post(session+path, "application/json", bytes.NewReader(text))
		if err != nil {
			return err
		}
		defer response.Body.Close()
		if text, err = io.ReadAll(response.Body); err != nil || response.StatusCode != http.StatusOK {
			return errors.Join(fmt.Errorf("%s: %s", path, text), err)
		}
		return json.Unmarshal(text, &struct{ Value any }{value})
	}
	var opened struct{ SessionID string }
	testenv.Eventually(t, "the driver", func() bool {
		response, err := http.Get(strings.TrimSuffix(session, "session") + "status")
		return err == nil && response.Body.Close() == nil
	})
	testenv.NoError(t, call("", map[string]any{"capabilities": map[string]any{"alwaysMatch": map[string]any{"webkitgtk:browserOptions": map[string]any{
		"binary": browsers[0], "args": []string{"--automation", fmt.Sprintf("--enable-javascript=%t", scripts)},
	}}}}, &opened))
	session += "/" + opened.SessionID
	t.Cleanup(func() {
		if end, err := http.NewRequest(http.MethodDelete, session, nil); err == nil {
			if response, err := http.DefaultClient.Do(end); err == nil {
				_ = response.Body.Close()
			}
		}
	})
	var ignored any
	testenv.NoError(t, call("/window/rect", map[string]any{"width": 1440, "height": 1000}, &ignored))
	return &user{Server: s, BaseURL: s.BaseURL, engine: webDriver{
		files:    files,
		navigate: func(url string) error { return call("/url", map[string]any{"url": url}, &ignored) },
		evaluate: func(expression string) (text string, err error) {
			err = call("/execute/sync", map[string]any{"script": "return " + expression, "args": []any{}}, &text)
			return text, err
		},
		perform: func(sources ...map[string]any) error {
			return call("/actions", map[string]any{"actions": sources}, &ignored)
		},
	}}
}
