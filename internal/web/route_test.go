package web_test

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"merchantorders/internal/testenv"
)

// TestWriteRouteNeedsWriteHandler compiles declarations of routes. A merchant's
// route for anything but GET compiles with a WriteHandler only, whose Write gets
// order.WriteOptions: a write route cannot ignore If-Match and Idempotency-Key.
func TestWriteRouteNeedsWriteHandler(t *testing.T) {
	t.Parallel()
	compile := newCompiler(t)
	for _, test := range []struct {
		name, declaration string
		wantErr           string // part of the compiler's error; empty: it compiles
	}{
		{"a write route", `var _ = web.WriteRoute("PUT", "/x", 0, func(*web.Request) (web.Write, error) {
			return web.Write{Apply: func(ctx context.Context, o order.WriteOptions) (order.WriteResult, error) { return service.Accept(ctx, 1, id, o) }}, nil
		})`, ""},
		{"a read route", `var _ = web.ReadRoute("/x", 0, func(*web.Request) (web.Representation, error) { return web.Representation{}, nil })`, ""},

		{"a write route with a plain handler", `var _ = web.WriteRoute("PUT", "/x", 0, func(http.ResponseWriter, *http.Request) error { return nil })`, "as web.WriteHandler value"},
		{"a write route with the handler of a file", `var _ = web.WriteRoute("PUT", "/x", 0, func(http.ResponseWriter, *web.Request) error { return nil })`, "as web.WriteHandler value"},
		{"a write route with a read handler", `var read web.ReadHandler; var _ = web.WriteRoute("PUT", "/x", 0, read)`, "as web.WriteHandler value"},
		{"a write without the options", `var _ = web.Write{Apply: func(ctx context.Context) (order.WriteResult, error) { return order.WriteResult{}, nil }}`, "value in struct literal"},
		{"a change without the options", `var _, _ = service.Accept(context.Background(), 1, id)`, "not enough arguments"},
		{"a read route with another method", `var read web.ReadHandler; var _ = web.ReadRoute("PUT", "/x", 0, read)`, "too many arguments"},
		{"a file route with another method", `var _ = web.GetRoute("PUT", "/x", 0, func(http.ResponseWriter, *web.Request) error { return nil })`, "too many arguments"},
		{"a route without a constructor", `var _ = web.Route{method: "PUT"}`, "unexported field method"},
		{"a public handler that knows the merchant", `var _ = web.PublicRoute("PUT", "/x", func(http.ResponseWriter, *web.Request) error { return nil })`, "as web.Handler value"},
	} {
		err := compile(test.declaration)
		switch {
		case test.wantErr == "" && err != nil:
			t.Errorf("%s: %v", test.name, err)
		case test.wantErr != "" && (err == nil || !strings.Contains(err.Error(), test.wantErr)):
			t.Errorf("%s: error %v, want %q", test.name, err, test.wantErr)
		}
	}
}

// newCompiler returns a function that type-checks a declaration outside package
// web.
func newCompiler(t *testing.T) func(declaration string) error {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", ".")
	list.Stderr = os.Stderr
	output, err := list.Output()
	testenv.NoError(t, err)
	exports := make(map[string]string)
	for line := range strings.Lines(string(output)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		exports[path] = file
	}
	files := token.NewFileSet()
	imports := importer.ForCompiler(files, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	return func(declaration string) error {
		const head = `package x
import ("context"; "net/http"; "merchantorders/internal/order"; "merchantorders/internal/web")
var (_ context.Context; _ http.Handler; _ web.Route; service *order.Service; id order.Identifier)
`
		file, err := parser.ParseFile(files, "x.go", head+declaration, 0)
		if err != nil {
			return err
		}
		config := types.Config{Importer: imports}
		_, err = config.Check("x", files, []*ast.File{file}, nil)
		return err
	}
}
