package docpages

import (
	"fmt"
	"strings"
	"testing"

	"merchantorders/docs"
	"merchantorders/internal/testenv"
)

func TestMarkdownLinks(t *testing.T) {
	t.Parallel()
	s := site{root: "/shop", documents: []docs.Page{{Path: "guide/errors.md"}, {Path: "interface.md"}}}
	for text, want := range map[string]string{
		"[a](errors.md), [`b`](../interface.md#x) [c [d]](#e)": "[a](/shop/docs/guide/errors.md), [`b`](/shop/docs/guide/interface.md#x) [c [d]](#e)",
		"[a](https://example.com/x.md)":                        "[a](https://example.com/x.md)",
		"[a](../../openapi/v2.yaml)":                           "[a](/shop/openapi/v2.yaml)",
		"![a](states.svg)":                                     "![a](/shop/docs/assets/states.svg)",
		"see [the `setup`](../scaling.md).":                    "see *the `setup`*.",
		"`[a](errors.md)` [b](errors.md)":                      "`[a](errors.md)` [b](/shop/docs/guide/errors.md)",
		"```\n[a](errors.md) `\n```\n[b](errors.md)":           "```\n[a](errors.md) `\n```\n[b](/shop/docs/guide/errors.md)",
	} {
		testenv.Equal(t, fmt.Sprintf("%q becomes", text), want, string(s.markdown(docs.Page{Path: "guide/paging.md", Markdown: []byte(text)}, ".md")))
	}
}

// TestTable has a table whose first heading is empty.
func TestTable(t *testing.T) {
	t.Parallel()
	got := string(render("| | v1 |\n|---|---|\n| path | `/api` |\n"))
	if !strings.Contains(got, "<td></td>\n<th>v1</th>") || !strings.HasPrefix(got, `<div class="wide" tabindex="0"><table>`) {
		t.Errorf("the table is %s", got)
	}
}
