package sqlite

import (
	"context"
	"sync"

	"merchantorders/internal/store/sqldb"
)

// observer reads `PRAGMA data_version`, which changes with every commit of
// another connection, in this process or in another. Its connection never
// writes, so no commit goes unnoticed.
type observer struct {
	mu   sync.Mutex
	conn *conn
}

// version returns the data version. ok is false after any error.
func (o *observer) version() (version sqldb.CommitVersion, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.conn == nil {
		return 0, false
	}
	var n int64
	err := o.conn.QueryRow(context.Background(), `PRAGMA data_version`, nil, &n)
	return sqldb.CommitVersion(n), err == nil
}

func (o *observer) close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.conn == nil {
		return nil
	}
	err := o.conn.sqlite.Close()
	o.conn = nil
	return err
}
