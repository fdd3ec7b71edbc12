// Package check_test checks the OpenAPI documents with third-party validators, and
// calls a running service through clients from third-party generators. It needs
// node and npm. It installs the packages of package.json into a temporary folder,
// and fails if it cannot.
package check_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
	"merchantorders/openapi"
)

// programTimeout bounds the run of one program.
const programTimeout = 10 * time.Minute

// inputs are the input files of the programs.
var inputs = []string{"package.json", "package-lock.json", "redocly.yaml", "spectral.yaml", "check.js", "client.ts", "prism.js"}

// TestDocumentsWithThirdPartyTools validates the served documents, generates
// TypeScript from them, and calls the service through it and through Prism, a proxy
// that validates requests and responses.
func TestDocumentsWithThirdPartyTools(t *testing.T) {
	t.Parallel()
	testenv.Release(t)
	testenv.Program(t, "node", "nodejs")
	testenv.Program(t, "npm", "npm")
	s := apptest.Start(t, "--demo", "--webhook-allow-private", "--security-contact", "mailto:security@example.com")
	folder := t.TempDir()
	for _, name := range inputs {
		text := testenv.Of(os.ReadFile(name)).Must(t)
		write(t, filepath.Join(folder, name), text)
	}
	for _, document := range openapi.Documents() {
		write(t, filepath.Join(folder, document.Name+".json"), fetch(t, s.BaseURL+"/openapi/"+document.Name+".json"))
	}
	run(t, folder, s, "npm", "ci", "--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts")
	run(t, folder, s, "node", "check.js")

	var got map[string]any
	if text := run(t, folder, s, "node", "client.js"); json.Unmarshal(text, &got) != nil {
		t.Fatalf("the client prints %s", text)
	}
	want := map[string]any{
		"states": []any{"registered", "registered"}, "total": got["total"], "linesMatch": true, "uploaded": "success", "accepted": true,
		"again": "10304", "oldStatus": "G",
	}
	testenv.Equal(t, "through the client", want, got)
	if total, ok := got["total"].(float64); !ok || total < 2 {
		t.Errorf("the total is %v", got["total"])
	}
	run(t, folder, s, "node", "prism.js")
}

// run runs a program in a folder and returns its output.
func run(t *testing.T, folder string, s *apptest.Server, name string, args ...string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), programTimeout)
	defer cancel()
	command := exec.CommandContext(ctx, name, args...)
	command.Dir = folder
	command.Env = append(os.Environ(), "BASE="+s.BaseURL, "ADMIN="+s.AdminURL(), "TOKEN="+s.Folder.Token(t, "--merchant", "355", "--scopes", order.MerchantScopes.String()), "OPERATOR="+s.Folder.Token(t, "--operator"))
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		t.Fatalf("%s %v: %v\n%s%s", name, args, err, stdout.String(), stderr.String())
	}
	return stdout.Bytes()
}

func write(t *testing.T, path string, text []byte) {
	t.Helper()
	testenv.NoError(t, os.WriteFile(path, text, 0o600))
}

func fetch(t *testing.T, address string) []byte {
	t.Helper()
	request := testenv.Of(http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)).Must(t)
	response, err := http.DefaultClient.Do(request)
	testenv.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: status %d, %v", address, response.StatusCode, err)
	}
	return text
}
