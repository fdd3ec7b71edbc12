package postgres

import (
	"context"
	"crypto/tls"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// SQLSTATE codes.
const (
	serializationFailure = "40001"
	deadlockDetected     = "40P01"
	lockNotAvailable     = "55P03"
	readOnlyTransaction  = "25006"
	untranslatable       = "22P05"
	tooManyConnections   = "53300"
	diskFull             = "53100"
)

// unavailableCodes are the prefixes of SQLSTATE codes that mean that the server
// cannot do now what it could do at another time.
var unavailableCodes = []string{
	"08",    // connection
	"53",    // resources
	"57P",   // shutdown and start
	"57014", // canceled by the server's own timeout
	lockNotAvailable,
	"58",                // system error
	readOnlyTransaction, // a standby, which cannot write
	"55000",             // the same, which has no timeline of its own
	"25P03",             // idle transaction timeout
}

// internalError is the code of errors of Citus that have none of their own, and nodeFailures are
// the beginnings of those where a node has failed, or the coordinator itself.
const internalError = "XX000"

var nodeFailures = []string{
	"postmaster was shut down",
	"failure on connection marked as essential",
	"failed to prepare transaction",
	"could not commit transaction for shard",
	"execution cannot recover from multiple",
}

// hasCode reports whether err is an error of the server with one of the codes.
func hasCode(err error, codes ...string) bool {
	var pgError *pgconn.PgError
	return errors.As(err, &pgError) && slices.Contains(codes, pgError.Code)
}

// Retryable implements sqldb.DB. The connection of a read-only transaction is closed, and the
// next one is asked whether it takes changes.
func (db *DB) Retryable(err error) bool {
	return hasCode(err, serializationFailure, deadlockDetected, readOnlyTransaction)
}

// utf8Advice says what to do with a database of another encoding.
const utf8Advice = "copy the orders into a database that was created with ENCODING 'UTF8'"

// explain adds what to do to the error of a text that the database cannot hold, of which the
// server names bytes.
func explain(err error) error {
	if hasCode(err, untranslatable) {
		return fmt.Errorf("the encoding of the database lacks a character of a text: %s: %w", utf8Advice, err)
	}
	return err
}

// Unavailable implements sqldb.DB. The database is unavailable while the server
// does not respond, starts, stops or has too many connections, and if a
// connection breaks.
func (db *DB) Unavailable(err error) bool {
	var connectError *pgconn.ConnectError
	var netError net.Error
	if errors.As(err, &connectError) || errors.As(err, &netError) ||
		errors.Is(err, driver.ErrBadConn) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	var pgError *pgconn.PgError
	if !errors.As(err, &pgError) {
		return pgconn.SafeToRetry(err)
	}
	return isUnavailable(pgError)
}

// isNotReady reports whether a database that could not be opened may be opened later,
// without a change of the settings.
func isNotReady(err error) bool {
	var certificateError *tls.CertificateVerificationError
	var pgError *pgconn.PgError
	var netError net.Error
	switch {
	case errors.Is(err, errReadOnly):
		return true
	case errors.As(err, &certificateError), strings.Contains(err.Error(), tlsRefused):
		return false
	case errors.As(err, &pgError):
		return isUnavailable(pgError)
	}
	return errors.As(err, &netError) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

func isUnavailable(err *pgconn.PgError) bool {
	return slices.ContainsFunc(unavailableCodes, func(prefix string) bool { return strings.HasPrefix(err.Code, prefix) }) ||
		err.Code == internalError && slices.ContainsFunc(nodeFailures, func(text string) bool { return strings.HasPrefix(err.Message, text) })
}

const (
	// tlsRefused is the text of the driver's error, which has no type.
	tlsRefused  = "server refused TLS connection"
	defaultMode = "the default for other machines is sslmode=verify-full"
)

// shortError returns the reason why a database could not be opened, short enough
// for one line: the driver's error lists every address that it tried, each with
// several wrapped errors.
func shortError(err error) error {
	var pgError *pgconn.PgError
	var dnsError *net.DNSError
	var opError *net.OpError
	var certificateError *tls.CertificateVerificationError
	switch {
	case errors.Is(err, errReadOnly):
		return errReadOnly
	case errors.As(err, &certificateError):
		return fmt.Errorf("the certificate of the server is not valid (%w): name that of its issuer with sslrootcert=FILE in the URL, or choose another sslmode; %s",
			certificateError.Err, defaultMode)
	case errors.As(err, &pgError):
		// With sslmode=prefer the connection without TLS has got further.
		return fmt.Errorf("%s (SQLSTATE %s)", pgError.Message, pgError.Code)
	case strings.Contains(err.Error(), tlsRefused):
		return errors.New("the server refuses TLS: enable it there, or set sslmode=disable in the URL if the network is trusted; " + defaultMode)
	case errors.As(err, &dnsError) && dnsError.IsNotFound:
		return errors.New("no such host")
	case errors.Is(err, context.DeadlineExceeded):
		return errors.New("no response in time")
	case errors.As(err, &opError):
		return opError.Err
	}
	return err
}
