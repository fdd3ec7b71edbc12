package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestRun reports two runs: one in which tests are left out, and one that fails.
func TestRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "left-out")
	report := func(leftOut, input string) (string, bool) {
		t.Helper()
		var out strings.Builder
		failed, err := run(strings.NewReader(input), &out, leftOut)
		if err != nil {
			t.Fatal(err)
		}
		return out.String(), failed
	}
	skipped := `{"Action":"output","Package":"m/a","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"output","Package":"m/a","Test":"TestA","Output":"    a_test.go:9: needs the program php; set MERCHANT_ORDERS_TEST=all to run it\n"}
{"Action":"output","Package":"m/a","Test":"TestA","Output":"--- SKIP: TestA (0.00s)\n"}
{"Action":"skip","Package":"m/a","Test":"TestA"}
{"Action":"output","Package":"m/a","Output":"ok  \tm/a\t0.1s\n"}
{"Action":"pass","Package":"m/a"}
`
	for range 2 {
		if out, failed := report(file, skipped); failed || out != "ok  \tm/a\t0.1s\n" {
			t.Errorf("%v: %s", failed, out)
		}
	}
	if out, failed := report(file, ""); failed || out != "\nleft out:\n   2 needs the program php\n" {
		t.Errorf("%v: %s", failed, out)
	}
	out, failed := report("", skipped+`{"Action":"build-output","ImportPath":"m/b [m/b.test]","Output":"# m/b\n"}
{"Action":"build-output","ImportPath":"m/b [m/b.test]","Output":"b.go:3:1: syntax error\n"}
{"Action":"build-fail","ImportPath":"m/b [m/b.test]"}
{"Action":"output","Package":"m/c","Test":"TestC","Output":"=== RUN   TestC\n"}
{"Action":"output","Package":"m/c","Test":"TestC/one","Output":"    c_test.go:9: got 1, want 2\n"}
{"Action":"output","Package":"m/c","Test":"TestC/one","Output":"--- FAIL: TestC/one (0.00s)\n"}
{"Action":"fail","Package":"m/c","Test":"TestC/one"}
{"Action":"output","Package":"m/c","Test":"TestC","Output":"--- FAIL: TestC (0.00s)\n"}
{"Action":"fail","Package":"m/c","Test":"TestC"}
{"Action":"output","Package":"m/c","Output":"FAIL\tm/c\t0.1s\n"}
{"Action":"fail","Package":"m/c"}
`)
	want := "\nfailed:\n  m/b [m/b.test] build: b.go:3:1: syntax error\n  m/c TestC/one: c_test.go:9: got 1, want 2\n"
	if !failed || !strings.HasSuffix(out, want) || !strings.Contains(out, "FAIL\tm/c\t0.1s\n") {
		t.Errorf("%v: %s", failed, out)
	}
}
