package pagetemplate_test

import (
	"bytes"
	"fmt"
	"html/template"
	"strings"
	"sync"
	"testing"
	"time"

	"merchantorders/internal/pagetemplate"
)

// state is a text by its method, as states of orders are.
type state uint8

func (s state) String() string { return fmt.Sprintf("<%d>", uint8(s)) }

// item and page are data with all kinds of members.
type item struct {
	Name  string
	Phone *string
	Count int64
	State state
	At    time.Time
}

func (i item) Upper() string              { return strings.ToUpper(i.Name) }
func (i *item) Tagged(tag string) string  { return tag + i.Name }
func (i item) Few(limit int64) bool       { return i.Count < limit }
func (i item) Fail() (string, error)      { return "", fmt.Errorf("item %s", i.Name) }
func (i item) Plus(other item) item       { return item{Name: i.Name + other.Name} }
func (i item) Values(all ...string) []any { return []any{i.Name, all} }

type page struct {
	item  // promoted
	Items []item
	First *item
	None  *item
	Any   any
	Map   map[int64]string
	Flag  bool
	Ratio float64
	Empty []string
}

var functions = pagetemplate.Functions{
	"upper":  pagetemplate.Func1(strings.ToUpper),
	"repeat": pagetemplate.Func2(func(text string, n int64) string { return strings.Repeat(text, int(n)) }),
	"bold": pagetemplate.Func1(func(text string) template.HTML {
		return template.HTML("<b>" + template.HTMLEscapeString(text) + "</b>")
	}),
	"url":    pagetemplate.Func1(func(text string) template.URL { return template.URL(text) }),
	"format": pagetemplate.FuncText(func(text string, values ...any) string { return fmt.Sprintf(text, values...) }),
	"name":   pagetemplate.Func1(func(i item) string { return i.Name }),
	"year":   pagetemplate.Func1(func(t time.Time) string { return t.Format("2006") }),
	"three":  pagetemplate.Func(func() []string { return []string{"a", "b", "c"} }),
	"checked": pagetemplate.Func(func(i *item) (string, error) {
		if i == nil {
			return "", fmt.Errorf("no item")
		}
		return i.Name, nil
	}),
}

func data() *page {
	phone := "+30 210 <1>"
	at := time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)
	first := item{Name: `A & "b"`, Phone: &phone, Count: 3, State: 2, At: at}
	return &page{
		item: item{Name: "own"}, Items: []item{first, {Name: "Ω+'\x00"}, {Name: "javascript:alert(1)", Count: -4}},
		First: &first, Any: item{Name: "any"}, Map: map[int64]string{3: "three"}, Flag: true, Ratio: 1.5,
	}
}

// execute returns the output of a template by this package and by html/template.
func execute(text string, value any) (got, want string, err, wantErr error) {
	set, err := template.New("page").Funcs(functions.Map()).Parse(text)
	if err != nil {
		return "", "", err, err
	}
	compiled, err := pagetemplate.Compile(set, functions, "page")
	if err != nil {
		return "", "", err, nil
	}
	var buffer bytes.Buffer
	wantErr = set.Execute(&buffer, value)
	out, err := compiled.Append([]byte("before "), "page", value)
	return strings.TrimPrefix(string(out), "before "), buffer.String(), err, wantErr
}

// TestSameOutput compares the output with that of html/template.
func TestSameOutput(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`plain {{/* comment */}} text`,
		`{{.Name}} {{.First.Name}} {{.First.Phone}} {{.None}} {{.Any}} {{.Ratio}} {{.Flag}} {{.First.At}} {{.Empty}}`,
		`{{range .Items}}<a href="{{.Name}}">{{.Name}}</a><a href="/x/{{.Name}}?q={{.Name}}&n={{.Count}}" title="{{.Name}} {{.State}}">{{.Count}}</a>{{else}}none{{end}}`,
		`<title>{{.First.Name}}</title><textarea>{{.Name}}</textarea><p data-a="{{bold .First.Name}}">{{bold .First.Name}}</p><a href="{{url "javascript:x()"}}">x</a>`,
		`{{range $i, $x := .Items}}{{$i}}: {{$x.Name}} {{$.Name}};{{end}}{{range $x := .Items}}{{$x.Count}}{{end}}{{range .Empty}}x{{else}}empty{{end}}`,
		`{{with .First}}{{.Upper}} {{.Tagged "t"}}{{else}}none{{end}}{{with .None}}x{{else}}none{{end}}{{with $a := .Any}}{{$a.Upper}}{{end}}`,
		`{{if and .Flag (eq .Name "own" "other") (ne .Name "x")}}yes{{end}}{{if or .None .Empty}}x{{else if not .Flag}}y{{else}}z{{end}}{{and .Name .Empty}}{{or .Empty .Name}}`,
		`{{if lt .First.Count 4}}lt{{end}}{{if le 3 3}}le{{end}}{{if gt .Ratio 1.0}}gt{{end}}{{if ge "b" "a"}}ge{{end}}{{if eq true .Flag}}eq{{end}}{{if ne true false}}ne{{end}}`,
		`{{$x := 1}}{{if .Flag}}{{$x = 2}}{{$y := "in"}}{{$y}}{{end}}{{$x}}{{$x := "again"}}{{$x}}`,
		`{{upper .Name}} {{upper .Any.Name}} {{repeat "ab" 3}} {{repeat .Name .First.Count}} {{format "%s-%d" .Name .First.Count}} {{format "%v"  nil}}`,
		`{{name .First}} {{name .Any}} {{year .First.At}} {{checked .First}} {{checked (index .Items 0)}} {{print .Name 1 2 .Flag}} {{printf "%.1f|%s" .Ratio .First.State}}`,
		`{{index .Map .First.Count}} {{index .Map 9}} {{(index .Items 1).Name}} {{len .Items}} {{len .Name}} {{range three}}{{.}}{{end}}`,
		`{{define "row"}}{{$n := .Name}}[{{$n}} {{$.Count}}]{{end}}{{range .Items}}{{template "row" .}}{{end}}{{template "row" .First}}{{define "none"}}n{{end}}{{template "none"}}`,
		`{{define "tree"}}{{range .}}<{{.}}{{end}}{{end}}{{template "tree" three}}`,
		`{{.First.Few 4}} {{.First.Few .First.Count}} {{(.First.Plus .Any).Name}} {{(index .Items 0).Values "a" "b"}} {{.Name | upper | printf "%s!"}} {{true}} {{1}} {{1.5}} {{"<"}}`,
	} {
		got, want, err, wantErr := execute(text, data())
		if err != nil || wantErr != nil || got != want {
			t.Errorf("%s:\ngot  %s (%v)\nwant %s (%v)", text, got, err, want, wantErr)
		}
	}
}

// TestErrors checks that what html/template refuses is refused, and what this package
// does not support too.
func TestErrors(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{{.Unknown}}`, `{{.None.Name}}`, `{{.item.Name}}`, `{{.First.Fail}}`, `{{.First.Tagged 1}}`, `{{.First.Upper "x"}}`, `{{index .Items 9}}`,
		`{{upper 1}}`, `{{upper .First}}`, `{{repeat "a"}}`, `{{eq .Name 1}}`, `{{len 3}}`, `{{checked .None}}`, `{{range .Name}}{{end}}`,
		`{{.Name.First}}`, `{{template "missing"}}`,
	} {
		if got, _, err, wantErr := execute(text, data()); err == nil || wantErr == nil && !strings.Contains(text, "missing") {
			t.Errorf("%s: got %q, error %v; html/template: %v", text, got, err, wantErr)
		}
	}
	for _, text := range []string{
		`{{range .Items}}{{break}}{{end}}`, `{{range .Items}}{{continue}}{{end}}`, `{{range .Map}}{{end}}`, `{{range 3}}{{end}}`, `{{js .Name}}`, `{{1 | 2}}`, `<a href="{{if .Flag}}"{{end}}`, `{{index .Name 1}}`,
		`<script>{{.Name}}</script>`, `<p {{.Name}}></p>`, `{{define "a"}}{{.}}{{end}}<p title="{{template "a" .Name}}">{{template "a" .Name}}</p>`,
	} {
		if got, _, err, _ := execute(text, data()); err == nil {
			t.Errorf("%s is not refused: %q", text, got)
		}
	}
}

// TestConcurrent executes a set that sees values of two types, in several goroutines.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	set := template.Must(template.New("page").Parse(`{{.Name}} {{with .Name}}{{.}}{{end}}`))
	compiled, err := pagetemplate.Compile(set, nil, "page")
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for n := range 8 {
		group.Go(func() {
			var value any = item{Name: "item"}
			want := "item item"
			if n%2 == 0 {
				value, want = &struct{ A, Name string }{"a", "other"}, "other other"
			}
			for range 200 {
				if got, err := compiled.Append(nil, "page", value); err != nil || string(got) != want {
					t.Errorf("got %q (%v), want %q", got, err, want)
					return
				}
			}
		})
	}
	group.Wait()
	if _, err := compiled.Append(nil, "other", nil); err == nil {
		t.Error("a template that is not compiled is executed")
	}
}

// FuzzEscaping compares how a text is written in each place with html/template.
func FuzzEscaping(f *testing.F) {
	for _, text := range []string{
		"", "a b", `<script>alert("1")</script>`, "'-+&\x00", "javascript:alert(1)", "JAVASCRIPT:x", "https://a.example:80/b?c=d&e=%41%zz#f", "http:x", "mailto:a@b", "//host/ä",
		"\xff\xfe", "\ufdd0\uffff", "{{7*7}}", "\u202egnp", "%", "a/b:c", "https://https://a",
	} {
		f.Add(text)
	}
	const places = `{{.}}|<title>{{.}}</title>|<p title="{{.}}">|<p title='{{.}}'>|<a href="{{.}}">|<a href="/{{.}}">|<a href="?{{.}}">|<a href="/x?a={{.}}&b={{.}}#{{.}}">|<p data-url="{{.}}">`
	set := template.Must(template.New("page").Parse(places))
	compiled, err := pagetemplate.Compile(set, nil, "page")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, value := range []any{text, &text, template.HTML(text), template.URL(text), fmt.Errorf("%s", text)} {
			var want bytes.Buffer
			if err := set.Execute(&want, value); err != nil {
				t.Fatal(err)
			}
			got, err := compiled.Append(nil, "page", value)
			if err != nil || string(got) != want.String() {
				t.Errorf("%T: got  %s (%v)\nwant %s", value, got, err, &want)
			}
		}
	})
}
