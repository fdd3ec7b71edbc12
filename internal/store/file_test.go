package store

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
)

// TestSnapshotCancelled ends the context of a snapshot while it reads. The
// connection must be out of its transaction when it is used again: it would
// show the same moment ever after.
func TestSnapshotCancelled(t *testing.T) {
	t.Parallel()
	db := openTest(t, filepath.Join(t.TempDir(), "orders.db"))
	ctx, cancel := context.WithCancel(t.Context())
	err := db.Snapshot(ctx, func(s *Snapshot) error {
		var n int64
		if err := s.row(ctx, `SELECT COUNT(*) FROM merchants`, nil, &n); err != nil {
			return err
		}
		cancel()
		return s.row(ctx, `SELECT COUNT(*) FROM merchants`, nil, &n)
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
	opened := db.conns.(*file)
	for range cap(opened.free) {
		reader, err := opened.take(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer opened.give(reader)
		if !reader.conn.AutocommitEnabled() {
			t.Error("a connection is still in the transaction")
		}
	}
}
