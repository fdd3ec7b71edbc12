package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"merchantorders/internal/store/pgtest"
)

// installation is the service on one of the databases.
type installation struct {
	*benchmark
	database    string
	dataDir     string
	flags       []string       // of every command
	postgres    *pgtest.Server // nil: SQLite
	postgresURL string         // empty: SQLite
	tokens      map[*merchant]string
}

// newInstallation prepares an empty installation in a folder. The caller calls remove
// when it is done.
func (b *benchmark) newInstallation(database, folder string) (i *installation, remove func(), err error) {
	i = &installation{benchmark: b, database: database, dataDir: filepath.Join(b.workDir, folder), tokens: make(map[*merchant]string)}
	i.flags = []string{"--data", i.dataDir}
	removeData := func() { _ = os.RemoveAll(i.dataDir) }
	if database != postgres {
		return i, removeData, nil
	}
	server, err := pgtest.Start(b.postgresSettings()...)
	if err != nil {
		return nil, nil, fmt.Errorf("start PostgreSQL (Debian: apt-get install postgresql): %w", err)
	}
	i.postgres, i.postgresURL = server, server.URL("postgres")
	i.flags = append(i.flags, "--database", i.postgresURL, "--storage", "file://"+filepath.Join(i.dataDir, "files"))
	return i, func() { removeData(); server.Remove() }, nil
}

// postgresSettings returns the settings of the PostgreSQL server beside its defaults.
// Scale is measured with a part of the memory that docs/postgresql.md recommends.
func (o options) postgresSettings() []string {
	if o.stores > 0 {
		return []string{"-c", "shared_buffers=1GB", "-c", "max_wal_size=4GB"}
	}
	return nil
}

// add adds a result of this database to the report, and writes it as progress.
func (i *installation) add(row, value, target, details string) {
	_, _ = fmt.Fprintf(i.progress, "    %s: %s; goal %s; %s\n", row, value, cmp.Or(target, "none"), details)
	i.report.add(i.database, row, result{value, target, details})
}

// target returns the target of this database.
func (i *installation) target(ofSQLite, ofPostgres string) string {
	if i.database == sqlite {
		return ofSQLite
	}
	return ofPostgres
}

// command returns a command of the program on this installation. The program
// gets no settings from the environment.
func (i *installation) command(ctx context.Context, args ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, i.programPath, append(append([]string(nil), i.flags...), args...)...)
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "MERCHANT_ORDERS_") {
			command.Env = append(command.Env, variable)
		}
	}
	return command
}

// run runs a command and returns its standard output.
func (i *installation) run(ctx context.Context, args ...string) (string, error) {
	return i.runWith(ctx, nil, args...)
}

// runWith runs a command with standard input, and returns its standard output.
func (i *installation) runWith(ctx context.Context, stdin io.Reader, args ...string) (string, error) {
	command := i.command(ctx, args...)
	command.Stdin = stdin
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w:\n%s", args[0], err, &stderr)
	}
	return strings.TrimSpace(string(out)), nil
}

// start starts a server on a free port. It has its default settings but for flags, no
// rate limit, and writes its log to a file.
func (i *installation) start(ctx context.Context, flags ...string) (*process, error) {
	args := append([]string{"serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--rate-limit", "0"}, flags...)
	log, err := os.OpenFile(filepath.Join(i.workDir, "server.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }() // the server has its own descriptor
	command := i.command(ctx, args...)
	command.Stderr = log
	return startProcess(command)
}

// withServer starts a server, calls fn, and stops the server.
func (i *installation) withServer(ctx context.Context, fn func(*process) error, flags ...string) error {
	server, err := i.start(ctx, flags...)
	if err != nil {
		return err
	}
	if err := fn(server); err != nil {
		_ = server.stop()
		return err
	}
	return server.stop()
}

// addMerchants adds merchants and creates their tokens.
func (i *installation) addMerchants(ctx context.Context, merchants ...*merchant) error {
	for _, m := range merchants {
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
