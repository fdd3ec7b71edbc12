package console

import "testing"

func TestNotFormula(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "-12.50": "-12.50", "-1+1": "'-1+1", "Γ & Υιοί": "Γ & Υιοί", "a-b=c": "a-b=c", "a;b": "a;b", "a; -b": "a; '-b",
		"a;\"=b": "a;\"'=b", "a\t=b": "a\t'=b", "a\r\n@b": "a\r\n'@b", "\n=b": "'\n'=b", " =b": " '=b", ";=a;+b": ";'=a;'+b",
	} {
		if got := notFormula(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
