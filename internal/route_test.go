package internal_test

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

// TestWriteRouteNeedsWriteHandler compiles declarations of routes and of calls of the
// service. A change needs a caller and options, which a handler gets from its request.
func TestWriteRouteNeedsWriteHandler(t *testing.T) {
	t.Parallel()
	compile := newCompiler(t)
	for _, test := range []struct {
		name, declaration string
		wantErr           string // part of the compiler's error; empty: it compiles
	}{
		{"a write route", `var _ = web.WriteRoute("PUT", "/x", everybody, func(r *web.Request) (web.Response, error) {
			respond := func(order.WriteResult) web.Response { return web.Response{} }
			result, err := service.Accept(r.Context(), r.Caller, id, web.Options(r, respond))
			return respond(result), err
		})`, ""},
		{"a form", `var _ = web.FormRoute("/x", everybody, 1, func(w http.ResponseWriter, r *web.Request, _ url.Values) error {
			_, err := service.Accept(r.Context(), r.Caller, id, web.FormOptions[order.WriteResult](r))
			return err
		})`, ""},
		{"a read route", `var _ = web.ReadRoute("/x", everybody, func(*web.Request) (web.Representation, error) { return web.Representation{}, nil })`, ""},

		{"a write route with the handler of a file", `var _ = web.WriteRoute("PUT", "/x", everybody, func(http.ResponseWriter, *web.Request) error { return nil })`, "as web.WriteHandler value"},
		{"a write route with a read handler", `var read web.ReadHandler; var _ = web.WriteRoute("PUT", "/x", everybody, read)`, "as web.WriteHandler value"},
		{"a form that does not take its fields", `var _ = web.FormRoute("/x", everybody, 1, func(http.ResponseWriter, *web.Request) error { return nil })`, "as web.FormHandler value"},
		{"a handler without a caller", `var _ = web.GetRoute("/x", everybody, func(http.ResponseWriter, *http.Request) error { return nil })`, "as web.Handler value"},
		{"a change without a caller", `var _, _ = service.Accept(context.Background(), id, order.Options[order.WriteResult]{})`, "not enough arguments"},
		{"a change without options", `var _, _ = service.Accept(context.Background(), order.CommandFor(1), id)`, "not enough arguments"},
		{"a change with the options of another", `var _, _ = service.Accept(context.Background(), order.CommandFor(1), id, order.Options[order.Merchant]{})`, "cannot use"},
		{"a read route with another method", `var read web.ReadHandler; var _ = web.ReadRoute("PUT", "/x", everybody, read)`, "too many arguments"},
		{"a route without a constructor", `var _ = web.Route{method: "PUT"}`, "unexported field method"},
		{"access without a constructor", `var _ = web.Access{merchants: true}`, "unexported field merchants"},
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
	list := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", "./web")
	list.Stderr = os.Stderr
	output := testenv.Of(list.Output()).Must(t)
	exports := make(map[string]string)
	for line := range strings.Lines(string(output)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		exports[path] = file
	}
	files := token.NewFileSet()
	imports := importer.ForCompiler(files, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	return func(declaration string) error {
		const head = `package x
import ("context"; "net/http"; "net/url"; "merchantorders/internal/order"; "merchantorders/internal/web")
var (_ context.Context; _ http.Handler; _ url.Values; _ web.Route; service *order.Service; id order.Identifier)
var everybody = web.Authenticated()
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
