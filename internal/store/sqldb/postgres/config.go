package postgres

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
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
	// may take pingTimeout. A quiet service pays a round trip for that. After a failover to
	// another machine a request would wait statementTimeout for such a connection, and fail.
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
	if err == nil && !choosesTLS(address) && prefersTLS(pool.ConnConfig) && isRemote(pool.ConnConfig) {
		pool, err = pgxpool.ParseConfig(withOption(address, "sslmode=verify-full"))
	}
	if pathError := new(fs.PathError); errors.As(err, &pathError) {
		return nil, fmt.Errorf("a file that the URL names, or the environment: %w", pathError)
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
	pool.ShouldPing = func(_ context.Context, idle pgxpool.ShouldPingParams) bool {
		return idle.IdleDuration >= pingAfter || hasNews(idle.Conn.PgConn().Conn())
	}
	config := pool.ConnConfig
	if err := dropLibpqParameters(config.RuntimeParams); err != nil {
		return nil, err
	}
	if wantsWritable(address) {
		config.ValidateConnect = checkWritable
	}
	if config.ConnectTimeout == 0 || config.ConnectTimeout > statementTimeout {
		config.ConnectTimeout = connectTimeout
	}
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "merchant-orders"
	}
	if config.RuntimeParams["client_encoding"] != "" {
		config.RuntimeParams["client_encoding"] = "UTF8" // the driver knows no other
	}
	config.DialFunc = (&net.Dialer{KeepAliveConfig: keepAlive}).DialContext
	config.AfterConnect = setDefaults(config.RuntimeParams)
	return pool, nil
}

// hasNews reports whether something has come on a connection that waits for nothing: its end, as
// after pg_terminate_backend or a restart of a pooler, or a changed setting. The first statement on
// a connection that has ended would fail, and nobody could tell whether it has run.
func hasNews(conn net.Conn) bool {
	if encrypted, ok := conn.(*tls.Conn); ok {
		conn = encrypted.NetConn()
	}
	socket, ok := conn.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return true
	}
	news := true
	err = raw.Control(func(fd uintptr) {
		_, _, err := syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		news = !errors.Is(err, syscall.EAGAIN)
	})
	return news || err != nil
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

// libpqOnly are parameters of libpq that the driver does not have, and the values with
// which the service connects as libpq would; nil: any.
var libpqOnly = map[string][]string{
	"keepalives": nil, "keepalives_idle": nil, "keepalives_interval": nil, "keepalives_count": nil, "tcp_user_timeout": nil,
	"sslcompression": nil, "gsslib": nil, "gssdelegation": nil, "load_balance_hosts": nil,
	"gssencmode":               {"disable", "prefer"},
	"replication":              {"false", "off", "no", "0"},
	"ssl_min_protocol_version": {"", "TLSv1", "TLSv1.1", "TLSv1.2"},
	"ssl_max_protocol_version": {"", "TLSv1.3"},
	"requiressl":               {"", "0"},
	"hostaddr":                 {""}, "requirepeer": {""}, "sslcrl": {""}, "sslcrldir": {""},
}

// dropLibpqParameters removes parameters of libpq from the startup parameters, among which
// the driver sends all that it does not know. It returns an error for a value that asks for
// what the driver cannot do: without it a connection may be less safe than it should be.
func dropLibpqParameters(startup map[string]string) error {
	for name, can := range libpqOnly {
		value, given := startup[name]
		if given && can != nil && !slices.Contains(can, value) {
			return fmt.Errorf("%s=%s in the URL is not possible here: leave it out", name, value)
		}
		delete(startup, name)
	}
	const fallback = "fallback_application_name"
	if startup["application_name"] == "" && startup[fallback] != "" {
		startup["application_name"] = startup[fallback]
	}
	delete(startup, fallback)
	return nil
}

// checkWritable returns errReadOnly for a new connection that takes no changes: the name of
// the database may lead to a standby for a moment, and the connection would be kept for
// maxConnLifetime.
func checkWritable(ctx context.Context, conn *pgconn.PgConn) error {
	err := pgconn.ValidateConnectTargetSessionAttrsReadWrite(ctx, conn)
	if errors.Is(err, pgconn.ErrReadOnlyConnection) {
		return errReadOnly
	}
	return err
}

// isReadOnly reports whether the server has said on a connection that it takes no changes:
// it says so with its next response when that changes.
func isReadOnly(conn *pgconn.PgConn) bool {
	return conn.ParameterStatus("default_transaction_read_only") == "on" || conn.ParameterStatus("in_hot_standby") == "on"
}

// keepWritable lets a pool use no connection on which the server has said that it takes no
// changes, and close all after an error that says so. The caller calls the result with the
// pool.
func keepWritable(config *pgxpool.Config) (made func(*pgxpool.Pool)) {
	var pool atomic.Pointer[pgxpool.Pool]
	usual := config.ConnConfig.OnPgError
	config.ConnConfig.OnPgError = func(conn *pgconn.PgConn, err *pgconn.PgError) bool {
		if err.Code != readOnlyTransaction {
			return usual(conn, err)
		}
		if pool := pool.Load(); pool != nil {
			pool.Reset()
		}
		return false
	}
	if wantsWritable(config.ConnString()) {
		config.PrepareConn = func(_ context.Context, conn *pgx.Conn) (bool, error) { return !isReadOnly(conn.PgConn()), nil }
	}
	return pool.Store
}

// choosesTLS reports whether a URL, or the environment, says how connections are
// encrypted.
func choosesTLS(address string) bool {
	return parameter(address, "sslmode") != "" || parameter(address, "ssl") != "" || os.Getenv("PGSSLMODE") != ""
}

// prefersTLS reports whether connections are encrypted if the server can, which is the default of
// the driver. A service file may say otherwise.
func prefersTLS(config *pgx.ConnConfig) bool {
	return config.TLSConfig != nil && slices.ContainsFunc(config.Fallbacks, func(next *pgconn.FallbackConfig) bool { return next.TLSConfig == nil })
}

// wantsWritable reports whether a URL, or the environment, asks for no other server than one
// that takes changes.
func wantsWritable(address string) bool {
	kind := cmp.Or(parameter(address, "target_session_attrs"), os.Getenv("PGTARGETSESSIONATTRS"), readWrite)
	return kind == readWrite
}

// readWrite is a value of target_session_attrs.
const readWrite = "read-write"

// parameter returns a parameter of a URL.
func parameter(address, name string) string {
	_, options, _ := strings.Cut(address, "?")
	query, _ := url.ParseQuery(options)
	return query.Get(name)
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

// isolationParameter is the server's name for the isolation level of transactions that do
// not name theirs.
const isolationParameter = "default_transaction_isolation"

// idleTxParameter is the server's name for idleTxTimeout.
const idleTxParameter = "idle_in_transaction_session_timeout"

// defaults are settings of every connection that the URL may override: the name
// of the server's parameter and the statement that sets it.
var defaults = []struct{ parameter, text string }{
	// Statements outside of transactions have it too. The others fail if two change a row at
	// the same time.
	{isolationParameter, "SET " + isolationParameter + " = 'read committed'"},
	// The driver refuses statements without these.
	{"client_encoding", "SET client_encoding = 'UTF8'; SET standard_conforming_strings = on"},
	// A statement from which a policy hides rows fails, instead of not seeing them.
	{"row_security", "SET row_security = off"},
	{idleTxParameter, "SET " + idleTxParameter + " = '" + idleTxTimeout + "'"},
	// The service has time limits of its own. Those of a role would end checks, exports and
	// migrations, and connections that hold a lock.
	{"statement_timeout", "SET statement_timeout = 0"},
	{"lock_timeout", "SET lock_timeout = 0"},
	{"idle_session_timeout", "SET idle_session_timeout = 0"},
	{"transaction_timeout", "SELECT set_config(name, '0', false) FROM pg_settings WHERE name = 'transaction_timeout'"}, // from PostgreSQL 17 on
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
		if _, ok := given[setting.parameter]; !ok && !strings.Contains(given["options"], setting.parameter+"=") {
			texts = append(texts, setting.text)
		}
	}
	return func(ctx context.Context, conn *pgconn.PgConn) error {
		ctx, cancel := context.WithTimeout(ctx, connectTimeout)
		defer cancel()
		refused := func(err error) bool { return errors.As(err, new(*pgconn.PgError)) }
		_, err := conn.Exec(ctx, strings.Join(texts, "; ")).ReadAll() // one round trip
		if !refused(err) {
			return err
		}
		for _, text := range texts {
			if _, err := conn.Exec(ctx, text).ReadAll(); err != nil && !refused(err) {
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
