// Package internal_test checks that packages import only what the architecture
// allows.
package internal_test

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"merchantorders/internal/testenv"
)

const module = "merchantorders/"

// everything allows a package every import.
const everything = "*"

// mayImport lists the packages of this module that each package may import. A row
// also applies to the packages in the folder that have no row. Packages for tests
// have none. Imports point downward only, because no row names a package above it.
var mayImport = map[string][]string{
	"cmd":                   {"internal/app/commands"},
	"client":                {},
	"internal/app":          {everything},
	"internal/app/commands": {everything},

	"internal/assistant":      {"client"},
	"internal/api":            {"internal/metrics", "internal/web", "internal/strict", "internal/etag", "internal/order", "internal/token", "internal/ingest", "internal/delivery", "internal/delivery/webhook", "internal/api/bulkapi", "internal/api/invoiceapi", "internal/api/orderapi", "internal/api/tokenapi", "internal/api/webhookapi"},
	"internal/api/orderapi":   {"internal/etag", "internal/web", "internal/strict", "internal/order"},
	"internal/api/invoiceapi": {"internal/metrics", "internal/web", "internal/strict", "internal/order", "internal/token"},
	"internal/api/tokenapi":   {"internal/web", "internal/strict", "internal/order", "internal/token"},
	"internal/server":         {"internal/web", "internal/metrics", "internal/order"},
	"internal/metrics":        {},
	"internal/web": {
		"internal/etag", "internal/metrics", "internal/order", "internal/strict", "internal/token",
		"internal/web/idempotency", "internal/web/ratelimit", "internal/web/respcache",
	},
	"internal/web/idempotency": {},
	"internal/web/ratelimit":   {"internal/lru", "internal/order"},
	"internal/web/respcache":   {"internal/lru", "internal/order"},

	"internal/order":            {},
	"internal/strict":           {"internal/order"},
	"internal/etag":             {"internal/order", "internal/strict"},
	"internal/orderpb":          {"internal/order"},
	"internal/token":            {"internal/order"},
	"internal/delivery":         {"internal/order"},
	"internal/delivery/webhook": {"internal/delivery", "internal/order"},
	"internal/delivery/digest":  {"internal/delivery", "internal/order"},
	"internal/mail":             {"internal/strict", "internal/delivery", "internal/delivery/digest"},
	"internal/identity":         {"internal/order", "internal/strict", "internal/token"},
	"internal/ingest":           {"internal/etag", "internal/order", "internal/strict", "internal/orderpb"},
	"internal/config":           {"internal/identity", "internal/order", "internal/strict"},
	"internal/tracing":          {"internal/order", "internal/store/sqldb", "internal/delivery", "internal/delivery/webhook"},
	"internal/demo":             {"internal/order", "internal/ingest"},
	"internal/lru":              {},
	"internal/store": {
		"internal/lru", "internal/order", "internal/token", "internal/delivery", "internal/delivery/digest", "internal/delivery/webhook", "internal/orderpb", "internal/store/migrations",
		"internal/store/search", "internal/store/sqldb", "internal/store/sqldb/postgres", "internal/store/sqldb/sqlite",
	},
	"internal/store/migrations":     {},
	"internal/store/search":         {"internal/order", "internal/store/sqldb"},
	"internal/store/sqldb":          {},
	"internal/store/sqldb/postgres": {"internal/store/migrations", "internal/store/sqldb"},
	"internal/store/sqldb/sqlite":   {"internal/store/migrations", "internal/store/sqldb"},
	"internal/filestore":            {"internal/order", "internal/filestore", "internal/filestore/disk"},
	"internal/maintenance": {
		"internal/maintenance", "internal/maintenance/check", "internal/filestore", "internal/filestore/disk", "internal/order",
		"internal/orderpb", "internal/store", "internal/store/migrations", "internal/store/search", "internal/store/sqldb", "internal/store/sqldb/sqlite",
	},

	"internal/console":  {"internal/identity", "internal/metrics", "internal/web", "internal/strict", "internal/web/ratelimit", "internal/order", "internal/token", "internal/delivery", "internal/delivery/digest", "internal/delivery/webhook", "internal/ingest", "internal/lru"},
	"internal/docpages": {"internal/etag", "internal/web", "openapi", "docs", "clients"},
	"clients":           {"client"},
	"openapi":           {},
	"docs":              {},
}

// standardOnly are the packages that depend on the standard library only, also
// indirectly.
var standardOnly = []string{"client", "internal/order", "internal/token", "internal/lru"}

// onlyIn lists the only packages that may import a package or the packages below it.
var onlyIn = map[string][]string{
	"database/sql":                       {"internal/store", "internal/maintenance", "internal/tracing"},
	"modernc.org":                        {"internal/store"},
	"github.com/jackc/pgx":               {"internal/store", "internal/maintenance/citus"},
	"github.com/pressly/goose":           {"internal/store"},
	"github.com/minio/minio-go":          {"internal/filestore"},
	"github.com/alecthomas/kong":         {"internal/app/commands"},
	"github.com/modelcontextprotocol":    {"internal/assistant", "internal/app/commands"},
	"github.com/gofrs/flock":             {"internal/app", "internal/maintenance/backup", "internal/store/sqldb/sqlite"},
	"github.com/schollz/progressbar":     {"internal/app/commands"},
	"github.com/prometheus":              {"internal/metrics"},
	"go.opentelemetry.io":                {"internal/tracing"},
	"github.com/coreos/go-oidc/v3":       {"internal/identity"},
	"github.com/coreos/go-systemd":       {"internal/app"},
	"github.com/go-webauthn/webauthn":    {"internal/identity"},
	"golang.org/x/oauth2":                {"internal/identity"},
	"github.com/wneessen/go-mail":        {"internal/mail"},
	"github.com/klauspost/compress":      {"internal/web"},
	"golang.org/x/time":                  {"internal/web"},
	"golang.org/x/text":                  {"internal/console", "internal/store/search"},
	"rsc.io/qr":                          {"internal/console"},
	"code.dny.dev/ssrf":                  {"internal/delivery/webhook"},
	"github.com/go-json-experiment/json": {"internal/strict", "internal/api", "internal/ingest", "openapi", "internal/docpages"},
	"github.com/yuin/goldmark":           {"internal/docpages"},
	"github.com/santhosh-tekuri":         {},
	"github.com/getkin/kin-openapi":      {},
	"github.com/chromedp":                {},
	"go.yaml.in/yaml":                    {"openapi", "internal/config"},
	"net/http":                           {"client", "internal/web", "internal/server", "internal/metrics", "internal/delivery/webhook", "internal/api", "internal/app", "internal/filestore", "internal/docpages", "internal/console", "internal/identity", "internal/tracing"},
	"testing":                            {},
	"github.com/google/go-cmp":           {},
	"go.uber.org/goleak":                 {},
	"github.com/hanwen/go-fuse":          {},
	"pgregory.net/rapid":                 {},
}

// goPackage is a package in the output of `go list`.
type goPackage struct {
	ImportPath string
	Standard   bool
	GoFiles    []string // without those of tests
	Imports    []string // likewise
	Deps       []string
}

// all are all packages of the module and their dependencies, by path.
var all struct {
	sync.Once
	packages map[string]goPackage
}

// listed returns all packages.
func listed(t *testing.T) map[string]goPackage {
	t.Helper()
	all.Do(func() { all.packages = list(t) })
	if all.packages == nil {
		t.Fatal("another test could not list the packages")
	}
	return all.packages
}

// list asks the go command for the packages.
func list(t *testing.T) map[string]goPackage {
	t.Helper()
	// `go test` caches a result until a file changes that the test has opened, and
	// does not see the files that go list opens.
	for _, folder := range []string{"../client", "../cmd", "../internal", "../openapi", "../docs"} {
		err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, ".go") {
				_, err = os.Stat(path)
			}
			if errors.Is(err, fs.ErrNotExist) {
				return nil // a temporary file of another test
			}
			return err
		})
		testenv.NoError(t, err)
	}
	command := exec.CommandContext(t.Context(), "go", "list", "-deps", "-json=ImportPath,Standard,GoFiles,Imports,Deps",
		"./client/...", "./cmd/...", "./internal/...", "./openapi/...", "./docs/...")
	command.Dir = ".."
	command.Stderr = os.Stderr
	output := testenv.Of(command.Output()).Must(t)
	packages := make(map[string]goPackage)
	for decoder := json.NewDecoder(strings.NewReader(string(output))); ; {
		var p goPackage
		err := decoder.Decode(&p)
		if err == io.EOF {
			return packages
		}
		testenv.NoError(t, err)
		packages[p.ImportPath] = p
	}
}

// forTests reports whether a package of this module is for tests only.
func forTests(name string) bool {
	return strings.HasSuffix(name, "test") || name == "internal/testenv" || name == "internal/e2e" || strings.HasPrefix(name, "internal/e2e/")
}

// within reports whether a package is in one of the folders.
func within(name string, folders []string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool {
		return name == folder || strings.HasPrefix(name, folder+"/")
	})
}

// allowed returns the imports of the row with the longest matching path.
func allowed(name string) (imports []string, ok bool) {
	for folder := name; folder != "."; folder = filepath.Dir(folder) {
		if imports, ok := mayImport[folder]; ok {
			return imports, true
		}
	}
	return nil, false
}

func TestImports(t *testing.T) {
	t.Parallel()
	packages, seen := listed(t), 0
	for path, p := range packages {
		name, ours := strings.CutPrefix(path, module)
		if !ours || forTests(name) || len(p.GoFiles) == 0 {
			continue
		}
		seen++
		imports, ok := allowed(name)
		if !ok {
			t.Errorf("%s has no row in mayImport: say what it may import", name)
		}
		for _, imported := range p.Imports {
			for elsewhere, folders := range onlyIn {
				if within(imported, []string{elsewhere}) && !within(name, folders) {
					t.Errorf("%s imports %s, which only %q may", name, imported, folders)
				}
			}
			other, ours := strings.CutPrefix(imported, module)
			switch {
			case !ours:
			case forTests(other):
				t.Errorf("%s imports %s, which is for tests", name, other)
			case !slices.Contains(imports, everything) && !slices.Contains(imports, other):
				t.Errorf("%s imports %s, but may import only %q", name, other, imports)
			}
		}
	}
	if seen < len(mayImport) {
		t.Errorf("go list has only %d packages", seen)
	}
}

func TestStandardLibraryOnly(t *testing.T) {
	t.Parallel()
	packages := listed(t)
	for _, name := range standardOnly {
		p, ok := packages[module+name]
		if !ok {
			t.Errorf("%s is missing", name)
		}
		for _, needed := range p.Deps {
			if !packages[needed].Standard && !slices.Contains(standardOnly, strings.TrimPrefix(needed, module)) {
				t.Errorf("%s needs %s, which is not of the standard library", name, needed)
			}
		}
	}
}

// TestVersionsIndependent checks that no version depends on another one or on the
// storage, also indirectly.
func TestVersionsIndependent(t *testing.T) {
	t.Parallel()
	packages := listed(t)
	for name, strangers := range map[string][]string{
		"internal/api/v1":       {"internal/api/v2", "internal/api/operator", "internal/store", "internal/filestore"},
		"internal/api/v2":       {"internal/api/v1", "internal/api/operator", "internal/store", "internal/filestore"},
		"internal/api/operator": {"internal/api/v1", "internal/api/v2", "internal/store", "internal/filestore"},
	} {
		p, ok := packages[module+name]
		if !ok {
			t.Errorf("%s is missing", name)
		}
		for _, needed := range p.Deps {
			if needed = strings.TrimPrefix(needed, module); within(needed, strangers) {
				t.Errorf("%s needs %s", name, needed)
			}
		}
	}
}

// TestChangesAreRecorded checks that the packages with rules begin every transaction of
// changes with order.Changes, so that no change is made without its key and its caller.
func TestChangesAreRecorded(t *testing.T) {
	t.Parallel()
	for folder, begin := range map[string]string{"order": "InTx", "token": "ChangeTokens", "delivery/webhook": "InWebhookTx", "delivery/digest": "InAddressTx"} {
		given := 0 // to NewChanges
		files := testenv.Of(filepath.Glob(folder + "/*.go")).Must(t)
		for _, path := range files {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			positions := token.NewFileSet()
			file := testenv.Of(parser.ParseFile(positions, path, nil, parser.SkipObjectResolution)).Must(t)
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CallExpr:
					if name := types.ExprString(n.Fun); name == "NewChanges" || name == "order.NewChanges" || name == "delivery.NewChanges" {
						given++
						return false
					}
				case *ast.SelectorExpr:
					if n.Sel.Name == begin {
						t.Errorf("%s: %s is only for NewChanges; make the change with order.Change", positions.Position(n.Pos()), types.ExprString(n))
					}
				}
				return true
			})
		}
		if given == 0 {
			t.Errorf("nothing in %s calls NewChanges", folder)
		}
	}
}
