package store

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"merchantorders/internal/token"
)

// hashA and hashB are the hashes of two tokens.
var hashA, hashB = token.Hash{1}, token.Hash{2}

// TestCoalescer calls do several times during a read: the callers share the next
// read, which begins after all of their calls.
func TestCoalescer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var s coalescer
		var reads atomic.Int64
		hold := make(chan struct{})
		read := func(context.Context) (token.Grant, error) {
			<-hold
			return token.Grant{Token: token.Token{ID: reads.Add(1)}}, nil
		}
		var calling sync.WaitGroup
		got := make([]token.Grant, 8)
		for i := range got {
			calling.Go(func() { got[i], _ = s.do(t.Context(), hashA, read) })
			synctest.Wait()
		}
		hold <- struct{}{}
		synctest.Wait()
		// The second read is in progress: this call is too late for it.
		var late token.Grant
		calling.Go(func() { late, _ = s.do(t.Context(), hashA, read) })
		if other, err := s.do(t.Context(), hashB, func(context.Context) (token.Grant, error) { return token.Grant{Token: token.Token{ID: 77}}, nil }); other.ID != 77 || err != nil {
			t.Errorf("another key: %d, %v", other.ID, err)
		}
		synctest.Wait()
		close(hold)
		calling.Wait()
		for i, grant := range got {
			if want := min(int64(i)+1, 2); grant.ID != want {
				t.Errorf("caller %d got read %d, want %d", i, grant.ID, want)
			}
		}
		if late.ID != 3 {
			t.Errorf("the last caller got read %d, want 3", late.ID)
		}
	})
}

// TestCoalescerCanceled ends the contexts of the leaders: all callers get the
// result.
func TestCoalescerCanceled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var s coalescer
		ctx, cancel := context.WithCancel(t.Context())
		hold := make(chan struct{})
		read := func(ctx context.Context) (token.Grant, error) {
			<-hold
			return token.Grant{}, ctx.Err()
		}
		var calling sync.WaitGroup
		failed := make([]error, 4)
		for i := range failed {
			calling.Go(func() {
				callCtx := t.Context()
				if i < 2 {
					callCtx = ctx // the first caller, and the leader of the others
				}
				_, failed[i] = s.do(callCtx, hashA, read)
			})
			synctest.Wait()
		}
		cancel()
		close(hold)
		calling.Wait()
		for i, err := range failed {
			if err != nil {
				t.Errorf("caller %d: %v", i, err)
			}
		}
	})
}

// TestCoalescerPanic has the read of a leader panic: the callers that share it
// panic too, and the next read is a new one.
func TestCoalescerPanic(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var s coalescer
		hold := make(chan struct{})
		var calling sync.WaitGroup
		calling.Go(func() {
			_, _ = s.do(t.Context(), hashA, func(context.Context) (token.Grant, error) { <-hold; return token.Grant{}, nil })
		})
		synctest.Wait()
		for range 2 {
			calling.Go(func() {
				defer func() {
					if recover() == nil {
						t.Error("the panic is lost")
					}
				}()
				_, _ = s.do(t.Context(), hashA, func(context.Context) (token.Grant, error) { panic("broken") })
			})
			synctest.Wait()
		}
		close(hold)
		calling.Wait()
		five := func(context.Context) (token.Grant, error) { return token.Grant{Token: token.Token{ID: 5}}, nil }
		if grant, err := s.do(t.Context(), hashA, five); grant.ID != 5 || err != nil {
			t.Errorf("afterwards: %+v, %v", grant, err)
		}
	})
}
