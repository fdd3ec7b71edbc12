package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"merchantorders/internal/config"
	"merchantorders/internal/testenv"
)

var flags = []config.Flag{
	{Name: "listen"}, {Name: "demo", Bool: true}, {Name: "data"}, {Name: "database", Secret: true}, {Name: "config"}, {Name: "rate-limit"},
}

// write writes a file of a test and returns its path.
func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	testenv.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// lookup returns the value of a flag, its place, and the error.
func lookup(s *config.Sources, name string) (value, from string, err error) {
	for _, flag := range flags {
		if flag.Name == name {
			value, _, err = s.Lookup(flag)
		}
	}
	return value, s.From(name), err
}

func TestSecrets(t *testing.T) {
	t.Parallel()
	const secret = "postgres://u:secret@h/d"
	file, empty, large := write(t, "a", secret+"\n"), write(t, "b", "\n"), write(t, "c", strings.Repeat("x", 1<<17))
	credentials := filepath.Dir(write(t, "database", secret+"\r\n"))
	fifo := filepath.Join(t.TempDir(), "fifo")
	testenv.NoError(t, syscall.Mkfifo(fifo, 0o600))
	go func() { _ = os.WriteFile(fifo, []byte(secret), 0o600) }()
	const variable, fileVariable = "MERCHANT_ORDERS_DATABASE", "MERCHANT_ORDERS_DATABASE_FILE"
	for name, c := range map[string]struct {
		environ           []string
		want, from, error string
	}{
		"none":              {nil, "", "", ""},
		"variable":          {[]string{variable + "=" + secret}, secret, variable, ""},
		"file":              {[]string{fileVariable + "=" + file}, secret, fileVariable, ""},
		"pipe":              {[]string{fileVariable + "=" + fifo}, secret, fileVariable, ""},
		"credential":        {[]string{"CREDENTIALS_DIRECTORY=" + credentials}, secret, "credential database", ""},
		"other credentials": {[]string{"CREDENTIALS_DIRECTORY=" + t.TempDir(), variable + "=x"}, "x", variable, ""},
		"two":               {[]string{variable + "=" + secret, fileVariable + "=" + file}, "", "", variable + " and " + fileVariable + " are both set; set one of them"},
		"two, one empty":    {[]string{variable + "=", fileVariable + "=" + file}, secret, fileVariable, ""},
		"two places":        {[]string{fileVariable + "=" + file, "CREDENTIALS_DIRECTORY=" + credentials}, "", "", fileVariable + " and the credential database are both set; set one of them"},
		"no file":           {[]string{fileVariable + "=" + secret}, "", "", fileVariable + ": cannot read the file: no such file or directory"},
		"folder":            {[]string{fileVariable + "=" + credentials}, "", "", fileVariable + ": cannot read the file: is a directory"},
		"empty":             {[]string{fileVariable + "=" + empty}, "", "", fileVariable + ": the file is empty"},
		"large":             {[]string{fileVariable + "=" + large}, "", "", fileVariable + ": the file is larger than 64 KiB"},
	} {
		s := config.NewSources(c.environ, flags)
		value, from, err := lookup(s, "database")
		text := ""
		if err != nil {
			text = err.Error()
		}
		if value != c.want || from != c.from || text != c.error {
			t.Errorf("%s: got %q from %q, error %q; want %q from %q, error %q", name, value, from, text, c.want, c.from, c.error)
		}
		testenv.Equal(t, name, nil, s.UnknownVariables())
	}
	// Only secrets can be in files.
	s := config.NewSources([]string{"MERCHANT_ORDERS_DATA_FILE=" + file}, flags)
	const want = "the environment variable MERCHANT_ORDERS_DATA_FILE is not a setting; did you mean MERCHANT_ORDERS_DATABASE?"
	if err := s.UnknownVariables(); err == nil || err.Error() != want {
		t.Errorf("error %v, want %q", err, want)
	}
}

func TestS3Credentials(t *testing.T) {
	t.Parallel()
	file := write(t, "secret", "s\n")
	folder := filepath.Dir(write(t, "aws-secret-access-key", "c"))
	const key, secret, secretFile = "AWS_ACCESS_KEY_ID=k", "AWS_SECRET_ACCESS_KEY=e", "MERCHANT_ORDERS_AWS_SECRET_ACCESS_KEY_FILE="
	for name, c := range map[string]struct {
		environ []string
		want    config.S3Credentials
		error   string
	}{
		"none":       {nil, config.S3Credentials{}, ""},
		"variables":  {[]string{key, secret}, config.S3Credentials{}, ""}, // read by the library of the storage
		"file":       {[]string{key, secretFile + file}, config.S3Credentials{AccessKeyID: "k", SecretAccessKey: "s"}, ""},
		"credential": {[]string{key, "AWS_SESSION_TOKEN=t", "CREDENTIALS_DIRECTORY=" + folder}, config.S3Credentials{AccessKeyID: "k", SecretAccessKey: "c", SessionToken: "t"}, ""},
		"half":       {[]string{secretFile + file}, config.S3Credentials{}, "AWS_ACCESS_KEY_ID is required: set it or MERCHANT_ORDERS_AWS_ACCESS_KEY_ID_FILE"},
		"both":       {[]string{key, secret, secretFile + file}, config.S3Credentials{}, "AWS_SECRET_ACCESS_KEY and MERCHANT_ORDERS_AWS_SECRET_ACCESS_KEY_FILE are both set; set one of them"},
		"unreadable": {[]string{key, secretFile + "/dev/null/x"}, config.S3Credentials{}, "MERCHANT_ORDERS_AWS_SECRET_ACCESS_KEY_FILE: cannot read the file: not a directory"},
	} {
		s := config.NewSources(c.environ, flags)
		got, err := s.S3Credentials()
		text := ""
		if err != nil {
			text = err.Error()
		}
		if got != c.want || text != c.error {
			t.Errorf("%s: %+v, error %q; want %+v, %q", name, got, text, c.want, c.error)
		}
		testenv.Equal(t, name, nil, s.UnknownVariables())
	}
}

func TestReadFile(t *testing.T) {
	t.Parallel()
	secret := write(t, "secret", "postgres://h/d\n")
	for name, c := range map[string]struct {
		text string
		want string // the error, without the path of the file
	}{
		"empty":         {"", ""},
		"comments":      {"# nothing\n\n---\n", ""},
		"values":        {"listen: ':80' # a comment\ndemo: true\nrate-limit: 100\ndata: ~\ndatabase: ''\n", ""},
		"secret":        {"database-file: " + secret, ""},
		"unknown":       {"listen: ':80'\nlistn: x\n", `:2: "listn" is not a setting; did you mean "listen"?`},
		"long":          {strings.Repeat("x", 100) + ": 1", `:1: "` + strings.Repeat("x", 60) + `" is not a setting; did you mean "listen"?`},
		"underscores":   {"rate_limit: 1", `:1: "rate_limit" is not a setting; did you mean "rate-limit"?`},
		"itself":        {"config: x", `:1: "config" is not a setting; did you mean "listen"?`},
		"twice":         {"data: a\nlisten: x\ndata: secret", ":3: data is set twice, first in line 1"},
		"list":          {"data:\n  - secret\n", ":1: data must be text, not a list"},
		"mapping":       {"data: {secret: 1}", ":1: data must be text, not a mapping"},
		"alias":         {"data: &secret x\nlisten: *secret\n", ":2: listen must be text, not an alias"},
		"tag":           {"data: !!binary c2VjcmV0", ":1: data must be text, without a tag"},
		"several":       {"dat: 1\ndata: [1]", ":1: \"dat\" is not a setting; did you mean \"data\"?\n:2: data must be text, not a list"},
		"number as key": {"1: x", ":1: a key must be the name of a setting"},
		"no mapping":    {"- listen", `:1: must have lines such as "listen: 127.0.0.1:8080"`},
		"text":          {"secret", `:1: must have lines such as "listen: 127.0.0.1:8080"`},
		"no YAML":       {"data: a\nlisten: \"secret", ":2: " + notYAML},
		"no anchor":     {"data: *secret", ": " + notYAML},
		"two documents": {"data: a\n---\ndata: secret", ": must be one YAML document"},
		"large":         {"# " + strings.Repeat("x", 1<<20), ": the file is larger than 1024 KiB"},
	} {
		path := write(t, "settings.yaml", c.text)
		err := config.NewSources(nil, flags).ReadFile(path)
		got := ""
		if err != nil {
			got = strings.ReplaceAll(strings.TrimPrefix(err.Error(), "--config (MERCHANT_ORDERS_CONFIG): "), path, "")
		}
		testenv.Equal(t, name, c.want, got)
	}
}

const notYAML = "is not valid YAML: put values with special characters into quotes, and begin each line with a key"

func TestPrecedence(t *testing.T) {
	t.Parallel()
	secret := write(t, "secret", "postgres://h/d\n")
	path := write(t, "settings.yaml", "listen: ':80'\ndemo: true\ndata: true\nrate-limit: 0100\ndatabase-file: "+secret+"\n")
	s := config.NewSources([]string{"MERCHANT_ORDERS_LISTEN=:81"}, flags)
	testenv.NoError(t, s.ReadFile(path))
	for name, want := range map[string][3]string{
		"listen":     {":81", "MERCHANT_ORDERS_LISTEN", ""},
		"demo":       {"true", path + ":2", ""},
		"data":       {"", "", path + ":3: data must be text: put the value into quotes"},
		"rate-limit": {"0100", path + ":4", ""}, // as it is written, so that it is refused as in a variable
		"database":   {"postgres://h/d", path + ":5", ""},
	} {
		value, from, err := lookup(s, name)
		got := [3]string{value, from, ""}
		if err != nil {
			got[2] = err.Error()
		}
		testenv.Equal(t, name, want, got)
	}
	err := config.Invalid("rate-limit", "must be smaller")
	s.Annotate(err)
	testenv.Equal(t, "error", "--rate-limit ("+path+":4): must be smaller", err.Error())
	s = config.NewSources(nil, flags)
	both := write(t, "settings.yaml", "database: x\ndatabase-file: "+secret)
	testenv.NoError(t, s.ReadFile(both))
	if _, _, err := lookup(s, "database"); err == nil || err.Error() != both+":2: set database or database-file, not both" {
		t.Errorf("two values: error %v", err)
	}
	word := config.NewSources([]string{"MERCHANT_ORDERS_DEMO=perhaps"}, flags)
	if _, _, err := lookup(word, "demo"); err == nil || err.Error() != "--demo (MERCHANT_ORDERS_DEMO): must be true or false" {
		t.Errorf("a flag without a truth value: error %v", err)
	}
}
