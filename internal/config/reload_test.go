package config_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"merchantorders/internal/config"
	"merchantorders/internal/testenv"
)

// TestReadEnvironmentFile reads what systemd 252 reads in the same way; see
// e2e/release.TestAdmin.
func TestReadEnvironmentFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "environment")
	for text, want := range map[string][]string{
		"":                        nil,
		"\n # a\n; b\\\nC=1\nD=2": {"D=2"},
		"A=b":                     {"A=b"},
		"A=b\r\nC=d\r\n":          {"A=b", "C=d"},
		" A = b c \nB=":           {"A=b c", "B="},
		"A=\"b \\\"c\\\" \\x $d \\$e\"\nB='\\ \"'": {`A=b "c" \x $d $e`, `B=\ "`},
		"A=\"two\nlines\\\n\"\nB=x":                {"A=two\nlines", "B=x"},
		"A='#x' \nB=x # no comment\n":              {"A=#x", "B=x # no comment"},
		"A=a=\"b c\" 'd\n\nB=":                     {`A=a="b c" 'd`, "B="},
		"A=1\nA=2":                                 {"A=1", "A=2"},
	} {
		testenv.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		testenv.Of(config.ReadEnvironmentFile(path)).Want(t, fmt.Sprintf("%q", text), want)
	}
	for text, want := range map[string]string{
		"A=1\nsecret\n":         ":2: ",
		"A=1\nexport B=secret":  ":2: ",
		"A='x'\n\nB=\"secret\n": ":3: ",
		"# a\nA=secret\\ ":      ":2: ",
		"A='secret' b":          ":1: ",
	} {
		testenv.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := config.ReadEnvironmentFile(path)
		fault, ok := errors.AsType[*config.Error](err)
		if !ok || fault.Flag != "environment-file" || fault.Problem != path+want+`must be NAME=VALUE, NAME="VALUE" or NAME='VALUE'; a backslash must be in quotes` {
			t.Errorf("%q: %v", text, err)
		}
	}
	testenv.Of(config.ReadEnvironmentFile(path+"x")).Want(t, "no file", nil)
}

func TestEnvironment(t *testing.T) {
	t.Parallel()
	got := config.Environment([]string{"A=unit", "B=1", "C=2", "PATH=/bin"}, []string{"B=1", "C=2"}, []string{"B=3", "D=4"})
	testenv.Equal(t, "variables", []string{"A=unit", "PATH=/bin", "B=3", "D=4"}, got)
}

func TestChanged(t *testing.T) {
	t.Parallel()
	before := goodServe()
	after := before
	after.SMTP, after.OIDCClientSecret, after.CancelExpired, after.Drain = "smtp://localhost", "x", true, "1s"
	testenv.Equal(t, "changed", []string{"drain", "cancel-expired", "oidc-client-secret", "smtp"}, config.Changed(before, after))
	variables := func(key string) *config.Sources {
		return config.NewSources([]string{"AWS_ACCESS_KEY_ID=x", "AWS_SECRET_ACCESS_KEY=" + key}, nil)
	}
	testenv.Equal(t, "changed keys", []string{"AWS_SECRET_ACCESS_KEY"}, variables("1").ChangedKeys(variables("2")))
}
