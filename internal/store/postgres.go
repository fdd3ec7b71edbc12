package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

// Limits of PostgreSQL connections.
const (
	// connectTimeout bounds the making of a connection.
	connectTimeout = 5 * time.Second
	// connectionLife is how long a connection is used before a new one takes
	// its place, so that instances spread anew after a failover.
	connectionLife = 30 * time.Minute
)

// postgresDialect locks the rows that a check precedes a write on.
var postgresDialect = dialect{
	snapshot:    sql.LevelRepeatableRead,
	forUpdate:   ` FOR UPDATE`,
	unavailable: postgresUnavailable,
	again: func(err error) bool {
		var fault *pgconn.PgError
		// serialization_failure, deadlock_detected
		return errors.As(err, &fault) && (fault.Code == "40001" || fault.Code == "40P01")
	},
}

// OpenPostgres opens, and where needed migrates, a PostgreSQL database by its
// URL. Any number of instances may have it open at once. No error tells the
// password.
func OpenPostgres(ctx context.Context, url string, options Options) (*DB, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		// The library's text may repeat the URL.
		return nil, errors.New("not a PostgreSQL URL: postgres://user:password@host:port/database")
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = connectTimeout
	}
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "merchant-orders"
	}
	connections := stdlib.OpenDB(*config)
	// Commits wait for the disk, not for the processor: more connections than
	// cores are of use, far more are not.
	most := max(16, 4*runtime.GOMAXPROCS(0))
	connections.SetMaxOpenConns(most)
	connections.SetMaxIdleConns(most)
	connections.SetConnMaxLifetime(connectionLife)
	if err := preparePostgres(ctx, connections); err != nil {
		return nil, errors.Join(fmt.Errorf("open database %s on %s: %w", config.Database, config.Host, err), connections.Close())
	}
	pool := plainPool(connections)
	return newDB(pool, pool, postgresDialect, options), nil
}

// preparePostgres brings the schema up to date under an advisory lock, so that
// of instances that start at the same moment one does it.
func preparePostgres(ctx context.Context, db *sql.DB) error {
	if err := db.PingContext(ctx); err != nil {
		return err
	}
	locker, err := lock.NewPostgresSessionLocker()
	if err != nil {
		return err
	}
	return migrate(ctx, db, goose.DialectPostgres, "migration/postgres", goose.WithSessionLocker(locker))
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
	// 08 connection, 53 resources, 57P stopping and starting, 58 system, and
	// 25006: a standby that cannot write.
	for _, class := range []string{"08", "53", "57P", "58", "25006"} {
		if strings.HasPrefix(fault.Code, class) {
			return true
		}
	}
	return false
}
