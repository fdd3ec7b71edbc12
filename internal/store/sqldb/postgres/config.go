package postgres

import (
	"context"
	"errors"
	"net"
	"net/url"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// poolSizeParameter is a parameter of the URL as pgxpool defines it.
const poolSizeParameter = "pool_max_conns"

// keepAlive detects that the other end of an idle connection is gone.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 3}

const (
	// A connection that was idle for pingAfter is pinged before its next use, which
	// may take pingTimeout.
	pingAfter   = time.Second
	pingTimeout = time.Second / 2
	// maxConnLifetime lets instances spread over the servers again after a
	// failover.
	maxConnLifetime = 30 * time.Minute
	maxConnIdleTime = 5 * time.Minute
)

// parseURL returns the settings of the pool of a database. If the URL names another
// machine and says nothing about encryption, the certificate of the server must be
// valid: the library would also connect without encryption.
func parseURL(address string) (*pgxpool.Config, error) {
	pool, err := pgxpool.ParseConfig(address)
	if err == nil && !choosesTLS(address) && isRemote(pool.ConnConfig) {
		pool, err = pgxpool.ParseConfig(withOption(address, "sslmode=verify-full"))
	}
	if err != nil {
		// The library's error may repeat the URL, which has the password.
		return nil, errors.New("not a PostgreSQL URL: write postgres://user:password@host:port/database, with percent-encoding for special characters, and only parameters that PostgreSQL knows, or " + poolSizeParameter + "=N")
	}
	if !strings.Contains(address, poolSizeParameter) {
		// Commits wait for the disk: more connections than cores help, far more do not.
		pool.MaxConns = int32(max(16, 4*runtime.GOMAXPROCS(0)))
	} else if pool.MaxConns < 2 {
		return nil, errors.New(poolSizeParameter + " must be a number from 2")
	}
	pool.MaxConnLifetime = maxConnLifetime
	pool.MaxConnLifetimeJitter = maxConnLifetime / 10 // so that not all are replaced at once
	pool.MaxConnIdleTime = maxConnIdleTime
	// After a failover to another machine a connection that was idle may never
	// respond. Without a timeout a request would spend all its time on it.
	pool.PingTimeout = pingTimeout
	pool.ShouldPing = func(_ context.Context, idle pgxpool.ShouldPingParams) bool { return idle.IdleDuration >= pingAfter }
	config := pool.ConnConfig
	if config.ConnectTimeout == 0 || config.ConnectTimeout > statementTimeout {
		config.ConnectTimeout = connectTimeout
	}
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "merchant-orders"
	}
	config.DialFunc = (&net.Dialer{KeepAliveConfig: keepAlive}).DialContext
	config.AfterConnect = setDefaults(config.RuntimeParams)
	return pool, nil
}

// rotate has each new connection of a pool authenticate as the URL says then: the
// password in the URL, or in the file that it names, may have changed. reread returns the
// URL; nil: it stays. While the URL cannot be read, it is that of the start.
func rotate(pool *pgxpool.Config, url string, reread func() (string, error)) {
	if reread == nil {
		reread = func() (string, error) { return url, nil }
	}
	pool.BeforeConnect = func(_ context.Context, config *pgx.ConnConfig) error {
		if url, err := reread(); err == nil {
			if now, err := pgxpool.ParseConfig(url); err == nil {
				config.User, config.Password = now.ConnConfig.User, now.ConnConfig.Password
			}
		}
		return nil
	}
}

// choosesTLS reports whether a URL, or the environment, says how connections are
// encrypted.
func choosesTLS(address string) bool {
	_, options, _ := strings.Cut(address, "?")
	query, err := url.ParseQuery(options)
	return err == nil && (query.Has("sslmode") || query.Has("ssl")) || os.Getenv("PGSSLMODE") != ""
}

// withOption adds an option to a URL.
func withOption(address, option string) string {
	if strings.Contains(address, "?") {
		return address + "&" + option
	}
	return address + "?" + option
}

// isRemote reports whether one of the servers is not on this machine.
func isRemote(config *pgx.ConnConfig) bool {
	hosts := []string{config.Host}
	for _, fallback := range config.Fallbacks {
		hosts = append(hosts, fallback.Host)
	}
	return slices.ContainsFunc(hosts, func(host string) bool {
		network, _ := pgconn.NetworkAddress(host, config.Port)
		return network != "unix" && host != "localhost" && !net.ParseIP(host).IsLoopback()
	})
}

// idleTxTimeout is when the server ends an idle transaction: that of an instance
// that is frozen or gone would hold its locks forever.
const idleTxTimeout = "5s"

// idleTxParameter is the server's name for idleTxTimeout.
const idleTxParameter = "idle_in_transaction_session_timeout"

// defaults are settings of every connection that the URL may override: the name
// of the server's parameter and the statement that sets it.
var defaults = []struct{ parameter, text string }{
	{idleTxParameter, "SET " + idleTxParameter + " = '" + idleTxTimeout + "'"},
	// Just-in-time compilation takes 80 ms where the server expects many rows, as
	// for all events after a given one, of which there are three.
	{"jit", "SET jit = off"},
	// To start parallel workers takes 10 ms, also for a page of the feed, of which the
	// server expects a tenth of all events. It takes 0.6 ms without them.
	{"max_parallel_workers_per_gather", "SET max_parallel_workers_per_gather = 0"},
	// A statement is planned once for all arguments. The statements of requests have
	// one good plan, and planning took longer than running them: with 1,000,000
	// orders a page in the middle takes 0.09 ms instead of 0.19, one state 0.12
	// instead of 0.22, three states 0.19 instead of 0.45. Not on a Citus cluster,
	// which finds the merchant's node by the arguments.
	{"plan_cache_mode", `SELECT set_config('plan_cache_mode', 'force_generic_plan', false)
		WHERE NOT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')`},
}

// setDefaults returns a function that applies the defaults to a new connection,
// except those in given, the startup parameters of the URL. They are not startup
// parameters themselves because connection poolers refuse unknown ones. A pooler
// may also refuse these statements, which is no error.
func setDefaults(given map[string]string) func(context.Context, *pgconn.PgConn) error {
	var texts []string
	for _, setting := range defaults {
		if _, ok := given[setting.parameter]; !ok {
			texts = append(texts, setting.text)
		}
	}
	return func(ctx context.Context, conn *pgconn.PgConn) error {
		ctx, cancel := context.WithTimeout(ctx, connectTimeout)
		defer cancel()
		for _, text := range texts {
			_, err := conn.Exec(ctx, text).ReadAll()
			var refused *pgconn.PgError
			if err != nil && !errors.As(err, &refused) {
				return err
			}
		}
		return nil
	}
}

// addresses returns the addresses of a database, without secrets.
func addresses(config *pgx.ConnConfig) string {
	_, first := pgconn.NetworkAddress(config.Host, config.Port)
	list := []string{first}
	for _, fallback := range config.Fallbacks {
		_, next := pgconn.NetworkAddress(fallback.Host, fallback.Port)
		list = append(list, next)
	}
	// Each address occurs twice if encryption is tried first.
	return strings.Join(slices.Compact(list), ", ")
}
