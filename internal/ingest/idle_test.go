package ingest_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"

	"merchantorders/internal/ingest/ingesttest"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// The tests in this file use synctest: synctest.Wait returns when every goroutine
// of the import is blocked, and a goroutine that is left at the end fails the
// test.

// write writes lines to a pipe in one piece and waits until the import blocks.
func write(t *testing.T, w io.Writer, lines string) {
	t.Helper()
	testenv.Of(io.WriteString(w, lines)).Must(t)
	synctest.Wait()
}

func TestImportDoesNotWaitForFullBatch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		var s fakeStore
		var reported report
		ended := make(chan error)
		go func() {
			_, err := reported.run(t.Context(), t, r, s.add)
			ended <- err
		}()
		write(t, w, documents(1, 1))
		testenv.Equal(t, "after one line", [][]string{references(1, 1)}, s.batches)
		write(t, w, documents(2, 4)+`{"half":`)
		testenv.Equal(t, "after four lines and a half", references(1, 4), s.references)
		testenv.Equal(t, "refused before the line end", 0, len(reported.refused))
		write(t, w, "1}\n")
		testenv.Equal(t, "after a bad line", []string{"5: half: unknown key"}, reported.refused)
		write(t, w, string(ingesttest.Document(5)))
		testenv.Equal(t, "imported orders", 4, len(s.references))
		testenv.NoError(t, w.Close())
		testenv.NoError(t, <-ended)
		testenv.Equal(t, "after the end of the input", references(1, 5), s.references)
	})
}

// TestImportGathersDuringImport checks that the lines that arrive while a batch is
// imported form the next batch.
func TestImportGathersDuringImport(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		var s fakeStore
		proceed := make(chan struct{})
		ended := make(chan error)
		go func() {
			_, err := new(report).run(t.Context(), t, r, func(ctx context.Context, caller order.Caller, batch []order.Incoming) ([]order.ImportResult, error) {
				<-proceed
				return s.add(ctx, caller, batch)
			})
			ended <- err
		}()
		write(t, w, documents(1, 1))
		write(t, w, documents(2, 2))
		write(t, w, documents(3, 300))
		close(proceed)
		synctest.Wait()
		testenv.Equal(t, "batches", [][]string{references(1, 1), references(2, 300)}, s.batches)
		testenv.NoError(t, w.Close())
		testenv.NoError(t, <-ended)
	})
}

func TestImportCanceledWhileWaiting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		r, w := io.Pipe()
		var s fakeStore
		var got counts
		ended := make(chan error)
		go func() {
			var err error
			got, err = new(report).run(ctx, t, r, s.add)
			ended <- err
		}()
		write(t, w, documents(1, 2))
		cancel()
		// The input blocks, but the import ends.
		testenv.Equal(t, "error", context.Canceled, <-ended)
		testenv.Equal(t, "counts", counts{created: 2}, got)
		// Closing the pipe ends the pending Read and its goroutine.
		testenv.NoError(t, w.Close())
	})
}

func TestImportCanceledDuringImport(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var s fakeStore
		add := func(ctx context.Context, caller order.Caller, batch []order.Incoming) ([]order.ImportResult, error) {
			cancel()
			return s.add(ctx, caller, batch)
		}
		input, w := io.Pipe()
		go func() {
			_, err := io.WriteString(w, documents(1, 1500))
			_ = w.CloseWithError(err)
		}()
		got, err := new(report).run(ctx, t, input, add)
		if !errors.Is(err, context.Canceled) || len(s.batches) != 1 || got.created != len(s.references) {
			t.Errorf("counts %+v after %d batches, error %v", got, len(s.batches), err)
		}
		_ = input.Close()
	})
}

func TestImportCanceledBeforeStart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		r, w := io.Pipe()
		got, err := new(report).run(ctx, t, r, nil)
		if !errors.Is(err, context.Canceled) || got != (counts{}) {
			t.Errorf("counts %+v, error %v", got, err)
		}
		_ = w.Close()
	})
}

// TestImportErrorWhileWaiting checks that an error of the ImportFunc ends the
// import while the input blocks.
func TestImportErrorWhileWaiting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		full := errors.New("database is full")
		r, w := io.Pipe()
		go func() { _, _ = io.WriteString(w, documents(1, 1)) }()
		_, err := new(report).run(t.Context(), t, r, func(context.Context, order.Caller, []order.Incoming) ([]order.ImportResult, error) {
			return nil, full
		})
		testenv.Equal(t, "error", full, err)
		_ = w.Close()
	})
}
