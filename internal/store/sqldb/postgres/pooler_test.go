package postgres

import (
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"merchantorders/internal/store/migrations"
	"merchantorders/internal/store/pgtest"
	"merchantorders/internal/testenv"
)

// pooler is a pooler in transaction mode with one connection to the server. It passes
// simple queries only.
type pooler struct {
	mu     sync.Mutex
	server *pgproto3.Frontend
}

// serve serves a client until it ends.
func (p *pooler) serve(conn net.Conn) error {
	client := pgproto3.NewBackend(conn, conn)
	if _, err := client.ReceiveStartupMessage(); err != nil {
		return err
	}
	client.Send(&pgproto3.AuthenticationOk{})
	for _, status := range [][2]string{{"client_encoding", "UTF8"}, {"standard_conforming_strings", "on"}} {
		client.Send(&pgproto3.ParameterStatus{Name: status[0], Value: status[1]})
	}
	client.Send(&pgproto3.BackendKeyData{SecretKey: []byte{0, 0, 0, 0}})
	client.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
	for {
		if err := client.Flush(); err != nil {
			return err
		}
		message, err := client.Receive()
		if err != nil {
			return err
		}
		query, ok := message.(*pgproto3.Query)
		if !ok {
			return nil // a statement that is prepared, or the end
		}
		if err := p.pass(query, client); err != nil {
			return err
		}
	}
}

// pass runs a query and passes the response on.
func (p *pooler) pass(query *pgproto3.Query, client *pgproto3.Backend) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.server.Send(query)
	if err := p.server.Flush(); err != nil {
		return err
	}
	for {
		message, err := p.server.Receive()
		if err != nil {
			return err
		}
		client.Send(message)
		if err := client.Flush(); err != nil {
			return err
		}
		if _, last := message.(*pgproto3.ReadyForQuery); last {
			return nil
		}
	}
}

// TestTransactionPooler opens a database behind a pooler that gives every transaction any
// of its connections: it is refused with the reason.
func TestTransactionPooler(t *testing.T) {
	t.Parallel()
	address, err := url.Parse(pgtest.Database(t))
	testenv.NoError(t, err)
	direct, err := pgconn.Connect(t.Context(), address.String())
	testenv.NoError(t, err)
	server, err := direct.Hijack()
	testenv.NoError(t, err)
	defer func() { _ = server.Conn.Close() }()
	p := &pooler{server: server.Frontend}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	testenv.NoError(t, err)
	defer func() { _ = listener.Close() }()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() { _ = p.serve(conn); _ = conn.Close() }()
		}
	}()
	address.Host = listener.Addr().String()
	db, err := Open(t.Context(), address.String(), nil, migrations.Options{})
	if err == nil {
		_ = db.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "pool_mode = session") {
		t.Errorf("error %v", err)
	}
}
