package pgtest

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"merchantorders/internal/testenv"
)

// shardCount is the number of shards of each distributed table of a test: enough
// for several on each node. Every shard is a table, and takes time to create.
const shardCount = 4

// external is the server of Variable, which the tests did not start.
type external struct {
	address *url.URL
	nodes   []node // of the cluster, with or without the coordinator; empty: no cluster
}

// node is a server of a cluster, at the address that the other nodes use.
type node struct {
	host  string
	port  int
	group int // 0: the coordinator
}

// openExternal connects to the server of Variable and reads the nodes of its
// cluster, if it has one.
func openExternal(ctx context.Context, text string) (*external, error) {
	address, err := url.Parse(text)
	if err != nil || address.Host == "" {
		return nil, errors.New(Variable + " must be a URL such as postgres://user:password@host:5432/postgres")
	}
	e := &external{address: address}
	err = e.on(ctx, address, func(db *sql.DB) error {
		var clustered bool
		err := db.QueryRowContext(ctx, `SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')`).Scan(&clustered)
		if err != nil || !clustered {
			return err
		}
		rows, err := db.QueryContext(ctx, `SELECT nodename, nodeport, groupid FROM pg_dist_node WHERE noderole = 'primary' AND isactive`)
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var n node
			if err := rows.Scan(&n.host, &n.port, &n.group); err != nil {
				return err
			}
			e.nodes = append(e.nodes, n)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("connect to the server of %s: %w", Variable, err)
	}
	return e, nil
}

// newDatabase creates a database and returns its URL. On a cluster it creates it
// on every node and adds the nodes to the coordinator. The database is dropped
// when the test ends.
func (e *external) newDatabase(t testing.TB) (string, error) {
	ctx := context.WithoutCancel(t.Context())
	name := "test_" + strings.ToLower(rand.Text())
	for _, server := range e.servers() {
		t.Cleanup(func() {
			testenv.NoError(t, e.run(ctx, server, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)"))
		})
		if err := e.run(ctx, server, "CREATE DATABASE "+name); err != nil {
			return "", err
		}
		if e.clustered() {
			if err := e.run(ctx, databaseURL(server, name), "CREATE EXTENSION IF NOT EXISTS citus"); err != nil {
				return "", err
			}
		}
	}
	created := databaseURL(e.address, name)
	if e.clustered() {
		if err := e.addNodes(ctx, created, name); err != nil {
			return "", err
		}
	}
	return created.String(), nil
}

// addNodes adds the nodes of the cluster to the coordinator of a new database.
func (e *external) addNodes(ctx context.Context, created *url.URL, name string) error {
	statements := []string{fmt.Sprintf("ALTER DATABASE %s SET citus.shard_count = %d", name, shardCount)}
	for _, n := range e.nodes {
		call := "citus_add_node"
		if n.group == 0 {
			call = "citus_set_coordinator_host"
			// Citus wants the coordinator first.
			statements = append([]string{fmt.Sprintf("SELECT %s('%s', %d)", call, n.host, n.port)}, statements...)
			continue
		}
		statements = append(statements, fmt.Sprintf("SELECT %s('%s', %d)", call, n.host, n.port))
	}
	return e.run(ctx, created, statements...)
}

func (e *external) clustered() bool { return len(e.nodes) > 0 }

// servers returns the addresses of the coordinator and of the workers.
func (e *external) servers() []*url.URL {
	servers := []*url.URL{e.address}
	for _, n := range e.nodes {
		if n.group != 0 {
			worker := *e.address
			worker.Host = net.JoinHostPort(n.host, strconv.Itoa(n.port))
			servers = append(servers, &worker)
		}
	}
	return servers
}

// databaseURL returns the URL of a database of a server.
func databaseURL(server *url.URL, database string) *url.URL {
	address := *server
	address.Path = "/" + database
	return &address
}

// run runs statements one after the other. Citus records nodes and extensions in
// tables that it does not lock, so a statement fails if another test process
// runs one like it at the same time. It is then run again.
func (e *external) run(ctx context.Context, server *url.URL, statements ...string) error {
	return e.on(ctx, server, func(db *sql.DB) error {
		for _, text := range statements {
			_, err := db.ExecContext(ctx, text)
			for retry := 0; retry < maxRetries && isConflict(err); retry++ {
				_, err = db.ExecContext(ctx, text)
			}
			if err != nil {
				return fmt.Errorf("%s on %s: %w", text, server.Host, err)
			}
		}
		return nil
	})
}

// maxRetries is how often a statement with a conflict is run again.
const maxRetries = 50

// conflictTexts occur in the errors of statements that two processes ran at the
// same time. These errors have no SQLSTATE that tells them from others. The
// second text is the coordinator's for the first one on a worker.
var conflictTexts = []string{"tuple concurrently", "failure on connection marked as essential", "SQLSTATE 40"}

func isConflict(err error) bool {
	return err != nil && slices.ContainsFunc(conflictTexts, func(text string) bool {
		return strings.Contains(err.Error(), text)
	})
}

// on opens a server and calls fn.
func (e *external) on(ctx context.Context, server *url.URL, fn func(*sql.DB) error) error {
	db, err := sql.Open("pgx", server.String())
	if err != nil {
		return errors.New("not the URL of a database")
	}
	return errors.Join(fn(db), db.Close())
}
