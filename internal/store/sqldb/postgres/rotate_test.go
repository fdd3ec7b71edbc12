package postgres

import (
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"merchantorders/internal/testenv"
)

// TestRotatedPassword changes the password of a database, in its URL and in the file that
// the URL names: new connections have it.
func TestRotatedPassword(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "passwords")
	write := func(password string) {
		t.Helper()
		testenv.NoError(t, os.WriteFile(file, []byte("*:*:*:*:"+password+"\n"), 0o600))
	}
	connect := func(address string, reread func() (string, error)) func() string {
		t.Helper()
		pool := testenv.Of(parseURL(address)).Must(t)
		rotate(pool, address, reread)
		return func() string {
			t.Helper()
			config := pool.ConnConfig.Copy()
			testenv.NoError(t, pool.BeforeConnect(t.Context(), config))
			return config.Password
		}
	}
	write("first")
	password := connect("postgres://orders@localhost/orders?pool_max_conns=4&passfile="+url.QueryEscape(file), nil)
	for _, want := range []string{"first", "second"} {
		write(want)
		testenv.Equal(t, "from the file", want, password())
	}
	address, broken := "postgres://orders:first@localhost/orders?pool_max_conns=4", error(nil)
	password = connect(address, func() (string, error) { return address, broken })
	address = "postgres://orders:second@localhost/orders?pool_max_conns=4"
	testenv.Equal(t, "from the URL", "second", password())
	broken = errors.New("no such file")
	testenv.Equal(t, "while the URL cannot be read", "first", password())
}
