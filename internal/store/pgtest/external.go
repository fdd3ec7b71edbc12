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
)

// shardsOfTest is into how many pieces the tables of a test are cut: enough for
// several on each node. Each is a table of its own, and takes its time to make.
const shardsOfTest = 4

// external is a server that the tests did not start: that of Variable.
type external struct {
	address *url.URL
	nodes   []node // of the cluster, the coordinator among them or not; none: no cluster
}

// node is a server of a cluster as the others reach it.
type node struct {
	host  string
	port  int
	group int // 0: the coordinator
}

// openExternal looks at the server that Variable names.
func openExternal(ctx context.Context, text string) (*external, error) {
	address, err := url.Parse(text)
	if err != nil || address.Host == "" {
		return nil, errors.New(Variable + " must be an address such as postgres://user:password@host:5432/postgres")
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
		return nil, fmt.Errorf("look at the server of %s: %w", Variable, err)
	}
	return e, nil
}

// newDatabase makes a database, on every node of a cluster and with the others
// known to the coordinator, and returns its URL. It is removed when the test
// ends.
func (e *external) newDatabase(t testing.TB) (string, error) {
	ctx := context.WithoutCancel(t.Context())
	name := "test_" + strings.ToLower(rand.Text())
	for _, server := range e.servers() {
		t.Cleanup(func() {
			if err := e.run(ctx, server, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)"); err != nil {
				t.Errorf("remove the test's database: %v", err)
			}
		})
		if err := e.run(ctx, server, "CREATE DATABASE "+name); err != nil {
			return "", err
		}
		if e.clustered() {
			if err := e.run(ctx, in(server, name), "CREATE EXTENSION citus"); err != nil {
				return "", err
			}
		}
	}
	made := in(e.address, name)
	if e.clustered() {
		if err := e.join(ctx, made, name); err != nil {
			return "", err
		}
	}
	return made.String(), nil
}

// join tells the coordinator of a new database its nodes.
func (e *external) join(ctx context.Context, made *url.URL, name string) error {
	statements := []string{fmt.Sprintf("ALTER DATABASE %s SET citus.shard_count = %d", name, shardsOfTest)}
	for _, n := range e.nodes {
		call := "citus_add_node"
		if n.group == 0 {
			call = "citus_set_coordinator_host"
			// The coordinator has to be the first.
			statements = append([]string{fmt.Sprintf("SELECT %s('%s', %d)", call, n.host, n.port)}, statements...)
			continue
		}
		statements = append(statements, fmt.Sprintf("SELECT %s('%s', %d)", call, n.host, n.port))
	}
	return e.run(ctx, made, statements...)
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

// in returns the address of a database of a server.
func in(server *url.URL, database string) *url.URL {
	address := *server
	address.Path = "/" + database
	return &address
}

// run runs statements one after the other. Citus notes nodes and extensions in
// tables that it does not lock: of several test processes that do so at the
// same moment one fails, and does it again.
func (e *external) run(ctx context.Context, server *url.URL, statements ...string) error {
	return e.on(ctx, server, func(db *sql.DB) error {
		for _, text := range statements {
			_, err := db.ExecContext(ctx, text)
			for again := 0; again < mostAgain && metAnother(err); again++ {
				_, err = db.ExecContext(ctx, text)
			}
			if err != nil {
				return fmt.Errorf("%s on %s: %w", text, server.Host, err)
			}
		}
		return nil
	})
}

// mostAgain is how often a statement is run again that met another process's.
const mostAgain = 50

// signsOfAnother are in the text of errors of a statement that another process
// ran at the same moment. They have no SQLSTATE of their own. The second is how
// the coordinator tells of the first on a worker.
var signsOfAnother = []string{"tuple concurrently", "failure on connection marked as essential", "SQLSTATE 40"}

func metAnother(err error) bool {
	return err != nil && slices.ContainsFunc(signsOfAnother, func(sign string) bool {
		return strings.Contains(err.Error(), sign)
	})
}

func (e *external) on(ctx context.Context, server *url.URL, fn func(*sql.DB) error) error {
	db, err := sql.Open("pgx", server.String())
	if err != nil {
		return errors.New("not an address of a database")
	}
	return errors.Join(fn(db), db.Close())
}
