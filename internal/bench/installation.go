package bench

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"merchantorders/internal/store/pgtest"
)

// installation is the service on one of the databases.
type installation struct {
	*bench
	database string
	data     string   // its folder
	settings []string // flags of every command
	url      string   // of PostgreSQL; empty: SQLite
	tokens   map[*merchant]string
}

// newInstallation prepares an empty one, and returns what removes it.
func (b *bench) newInstallation(database string) (*installation, func(), error) {
	i := &installation{bench: b, database: database, data: filepath.Join(b.dir, database), tokens: make(map[*merchant]string)}
	i.settings = []string{"--data", i.data}
	remove := func() { _ = os.RemoveAll(i.data) }
	if database != Postgres {
		return i, remove, nil
	}
	server, err := pgtest.Start()
	if err != nil {
		return nil, nil, err
	}
	if i.url, err = server.NewDatabase(); err != nil {
		server.Remove()
		return nil, nil, err
	}
	i.settings = append(i.settings, "--database", i.url)
	return i, func() { remove(); server.Remove() }, nil
}

// add adds a figure of this database, and tells those who wait of it.
func (i *installation) add(what, figure, target, detail string) {
	_, _ = fmt.Fprintf(i.progress, "    %s: %s\n", what, figure)
	i.figures.add(i.database, what, figure, target, detail)
}

// asked returns what is asked of a database: the one text or the other.
func (i *installation) asked(ofSQLite, ofPostgres string) string {
	if i.database == SQLite {
		return ofSQLite
	}
	return ofPostgres
}

// command returns the program with arguments, on this installation, without
// settings from the environment.
func (i *installation) command(ctx context.Context, args ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, i.program, append(append([]string(nil), i.settings...), args...)...)
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "MERCHANT_ORDERS_") {
			command.Env = append(command.Env, variable)
		}
	}
	return command
}

// run runs a command and returns what it wrote to standard output.
func (i *installation) run(ctx context.Context, args ...string) (string, error) {
	command := i.command(ctx, args...)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w:\n%s", args[0], err, &stderr)
	}
	return strings.TrimSpace(string(out)), nil
}

// start starts a server with its default settings, but for a limit on requests,
// on a free port. Its log goes to a file, as it would.
func (i *installation) start(ctx context.Context) (*process, error) {
	args := []string{"serve", "--listen", "127.0.0.1:0"}
	help, err := i.run(ctx, "serve", "--help")
	if err != nil {
		return nil, err
	}
	if limit := "--rate-limit"; strings.Contains(help, limit) {
		args = append(args, limit, "0")
	}
	log, err := os.OpenFile(filepath.Join(i.dir, "server.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }() // the server has its own
	command := i.command(ctx, args...)
	command.Stderr = log
	return startProcess(command)
}

// with runs do on a server that was just started.
func (i *installation) with(ctx context.Context, do func(*process) error) error {
	server, err := i.start(ctx)
	if err != nil {
		return err
	}
	if err := do(server); err != nil {
		_ = server.stop()
		return err
	}
	return server.stop()
}

// addMerchants adds the merchants and makes their tokens.
func (i *installation) addMerchants(ctx context.Context) error {
	for _, m := range i.all() {
		id := strconv.FormatInt(m.id, 10)
		if _, err := i.run(ctx, "merchant", "add", "--id", id, "--name", "Store "+m.name); err != nil {
			return err
		}
		var err error
		if i.tokens[m], err = i.run(ctx, "token", "create", "--merchant", id); err != nil {
			return err
		}
	}
	return nil
}
