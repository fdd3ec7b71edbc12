package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
)

// Limits of PostgreSQL connections. A server that hangs, or is cut off without
// a word, costs a request no more than these, and holds nothing up for longer
// once it is back.
const (
	// connectTimeout bounds the making of a connection to one address.
	connectTimeout = 3 * time.Second
	// statementLimit bounds a statement, with the wait for a connection.
	statementLimit = 4 * time.Second
	// postgresChangeLimit bounds a transaction that writes, from the wait for a
	// connection to the commit; each order of a batch adds postgresOrderLimit.
	postgresChangeLimit = 8 * time.Second
	postgresOrderLimit  = time.Second / 2

	// trustIdle is how long a connection is believed to be alive that nothing
	// was heard of; then it is asked, and has pingLimit to answer.
	trustIdle = time.Second
	pingLimit = time.Second / 2
	// connectionLife is how long a connection is used before a new one takes
	// its place, so that instances spread anew after a failover, and
	// connectionIdle how long it is kept when there is no use for it.
	connectionLife = 30 * time.Minute
	connectionIdle = 5 * time.Minute

	// abandonedAfter is when the server ends a transaction of an instance that
	// is frozen, or gone without a word: it would keep its locks for ever. One
	// that goes on does so at once.
	abandonedAfter = "5s"
)

// keepAlive finds out that the other end of an idle connection is gone.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 3}

// postgresDialect locks the rows that a check precedes a write on. The ids of
// invoice files come from a sequence: a counter's row would stay locked until
// the commit, so that no two uploads of the whole service went side by side,
// and it would be on another node than the merchant's orders.
var postgresDialect = dialect{
	forUpdate:   ` FOR UPDATE`,
	numbered:    true,
	nextInvoice: `SELECT nextval('invoice_ids')`,
	lastInvoice: `SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM invoice_ids`,
	setInvoice:  `SELECT setval('invoice_ids', GREATEST(CAST($1 AS BIGINT), 1), CAST($1 AS BIGINT) > 0)`,
	exclude:     excludePostgres,
	clustered:   true,
	distant:     true,
	unavailable: postgresUnavailable,
	again: func(err error) bool {
		var fault *pgconn.PgError
		// serialization_failure, deadlock_detected
		return errors.As(err, &fault) && (fault.Code == "40001" || fault.Code == "40P01")
	},
	changeLimit: postgresChangeLimit,
	orderLimit:  postgresOrderLimit,
}

// OpenPostgres opens, and where needed migrates, a PostgreSQL database by its
// URL. Any number of instances may have it open at once. Beside the parameters
// that PostgreSQL's own tools take, the URL may have pool_max_conns, the most
// connections of this instance. No error tells the password.
func OpenPostgres(ctx context.Context, url string, options Options) (*DB, error) {
	config, most, err := postgresConfig(url)
	if err != nil {
		return nil, err
	}
	seldom := stdlib.OpenDB(*config)
	if err = preparePostgres(ctx, seldom); err == nil {
		seldom.SetMaxIdleConns(0) // it kept one while there was much to ask
		var pool *pgxpool.Pool
		if pool, err = openPool(ctx, url, config, most); err == nil {
			return newDB(newServer(pool, seldom), postgresDialect, options), nil
		}
	}
	// What closing says of a server that cannot be reached is of no interest.
	_ = seldom.Close()
	return nil, fmt.Errorf("open database %s on %s: %w", config.Database, address(config), postgresReason(err))
}

// openPool returns the connections for requests, of which none is made yet.
func openPool(ctx context.Context, url string, config *pgx.ConnConfig, most int) (*pgxpool.Pool, error) {
	pool, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	pool.ConnConfig = config
	pool.MaxConns = int32(min(most, math.MaxInt32))
	pool.MaxConnLifetime = connectionLife
	pool.MaxConnLifetimeJitter = connectionLife / 10 // so that not all are made anew at once
	pool.MaxConnIdleTime = connectionIdle
	// After a failover to another machine a connection that was idle may not
	// answer. Asked without a limit, a request would spend all its time on it.
	pool.PingTimeout = pingLimit
	pool.ShouldPing = func(_ context.Context, idle pgxpool.ShouldPingParams) bool { return idle.IdleDuration >= trustIdle }
	return pgxpool.NewWithConfig(ctx, pool)
}

// postgresConfig reads a URL, and returns the most connections there may be.
func postgresConfig(url string) (config *pgx.ConnConfig, most int, err error) {
	config, err = pgx.ParseConfig(url)
	if err != nil {
		// The library's text may repeat the URL.
		return nil, 0, errors.New("not a PostgreSQL URL: postgres://user:password@host:port/database, with percent signs for what is special in a URL, and options that PostgreSQL knows")
	}
	// Commits wait for the disk, not for the processor: more connections than
	// cores are of use, far more are not.
	most = max(16, 4*runtime.GOMAXPROCS(0))
	if text, ok := config.RuntimeParams[poolSize]; ok {
		// Not one that the server knows.
		delete(config.RuntimeParams, poolSize)
		if most, err = strconv.Atoi(text); err != nil || most < 2 {
			return nil, 0, errors.New(poolSize + " must be a number from 2")
		}
	}
	if config.ConnectTimeout == 0 || config.ConnectTimeout > statementLimit {
		config.ConnectTimeout = connectTimeout
	}
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "merchant-orders"
	}
	config.DialFunc = (&net.Dialer{KeepAliveConfig: keepAlive}).DialContext
	config.AfterConnect = settings(config.RuntimeParams)
	return config, most, nil
}

// poolSize is the parameter of a URL that other users of the driver know.
const poolSize = "pool_max_conns"

// abandonedParameter is the server's name for abandonedAfter.
const abandonedParameter = "idle_in_transaction_session_timeout"

// usualSettings are those of every connection, which the URL may say otherwise:
// a parameter of the server, and the statement that sets it.
var usualSettings = []struct{ parameter, text string }{
	// A transaction that nobody goes on with ends.
	{abandonedParameter, "SET " + abandonedParameter + " = '" + abandonedAfter + "'"},
	// Statements are not compiled: that takes 80 ms where the server expects many
	// rows, as of all events after a given one, of which there are three.
	{"jit", "SET jit = off"},
	// A statement is planned once for all arguments: those of requests have one
	// good plan, and planning took longer than running them: of 1,000,000 orders a
	// middle page 0.09 ms instead of 0.19, one state 0.12 instead of 0.22, three
	// states 0.19 instead of 0.45. Not on a cluster, which finds the merchant's
	// node by the arguments.
	{"plan_cache_mode", `SELECT set_config('plan_cache_mode', 'force_generic_plan', false)
		WHERE NOT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')`},
}

// settings returns what makes the usual settings on a new connection. given are
// the startup parameters; what is among them is left as it is. They themselves
// are not the place for it: connection poolers refuse those that they do not
// know, and one of them may also refuse this.
func settings(given map[string]string) func(context.Context, *pgconn.PgConn) error {
	var texts []string
	for _, usual := range usualSettings {
		if _, set := given[usual.parameter]; !set {
			texts = append(texts, usual.text)
		}
	}
	return func(ctx context.Context, connection *pgconn.PgConn) error {
		ctx, cancel := context.WithTimeout(ctx, connectTimeout)
		defer cancel()
		for _, text := range texts {
			_, err := connection.Exec(ctx, text).ReadAll()
			var refused *pgconn.PgError
			if err != nil && !errors.As(err, &refused) {
				return err
			}
		}
		return nil
	}
}

// outOfReach are the classes of SQLSTATE, and single ones, that mean that the
// server cannot do now what it could do otherwise.
var outOfReach = []string{
	"08",    // connection
	"53",    // resources
	"57P",   // stopping and starting
	"57014", // canceled, by the server's own time limits
	"55P03", // likewise, while waiting for a lock
	"58",    // system
	"25006", // a standby that cannot write
	"25P03", // a transaction that was taken for abandoned
}

// postgresUnavailable counts as out of reach a server that does not answer, is
// starting, stopping or full, and a connection that broke.
func postgresUnavailable(err error) bool {
	var connect *pgconn.ConnectError
	var network net.Error
	if errors.As(err, &connect) || errors.As(err, &network) ||
		errors.Is(err, driver.ErrBadConn) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	var fault *pgconn.PgError
	if !errors.As(err, &fault) {
		return pgconn.SafeToRetry(err)
	}
	for _, class := range outOfReach {
		if strings.HasPrefix(fault.Code, class) {
			return true
		}
	}
	return false
}
