package ingest

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// endless repeats a text for ever, n bytes at a time.
type endless struct {
	text string
	n    int
}

// Read implements io.Reader.
func (e endless) Read(p []byte) (int, error) {
	n := min(len(p), e.n) / len(e.text) * len(e.text)
	return copy(p, strings.Repeat(e.text, n/len(e.text))), nil
}

// TestReadAhead gives endless inputs to a run whose results nobody takes: it holds few
// lines and few bytes, whatever the lines are.
func TestReadAhead(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{"short": "x\n", "long": strings.Repeat("x", maxAnswer-1) + "\n"} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var lines, size atomic.Int64
			run := changeLines(nil, order.Caller{}, "", maxAnswer, func(text []byte) (order.BatchChange, error) {
				lines.Add(1)
				size.Add(int64(len(text)))
				return order.BatchChange{}, errors.New("invalid")
			})
			ended := make(chan error)
			go func() {
				_, err := run.Run(ctx, endless{line, minReadSize}, func([]Line, int64) error {
					<-ctx.Done()
					return ctx.Err()
				})
				ended <- err
			}()
			synctest.Wait()
			if got := lines.Load(); got > (readAhead+2)*maxBlock+batchSize || got == 0 {
				t.Errorf("%s lines: %d are held", name, got)
			}
			if got := size.Load(); got > 2*minReadAhead {
				t.Errorf("%s lines: %d bytes are held", name, got)
			}
			cancel()
			testenv.Equal(t, "error", context.Canceled, <-ended)
		})
	}
}

// TestBlankLines has blank lines between others, as many as there may be and more in a row.
func TestBlankLines(t *testing.T) {
	t.Parallel()
	for blank, want := range map[int]error{0: nil, maxBlank - maxBlock: nil, maxBlank + 2*maxBlock: ErrBlank} {
		input := "R-1\n" + strings.Repeat(" \r\n", blank) + "R-2\n" + strings.Repeat("\n", blank)
		answered := 0
		run := References(func(references []string) ([]Result, error) {
			answered += len(references)
			return make([]Result, len(references)), nil
		})
		if _, err := run.Run(t.Context(), io.MultiReader(strings.NewReader(input)), func([]Line, int64) error { return nil }); !errors.Is(err, want) || want == nil && (err != nil || answered != 2) || answered == 0 {
			t.Errorf("%d blank lines: error %v, %d answered", blank, err, answered)
		}
	}
}
