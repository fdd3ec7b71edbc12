package order

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// DeadlinePassed is the reason of a cancellation because the merchant did not answer
// in time.
const DeadlinePassed Reason = "deadline-passed"

// Due is a registered order with a deadline.
type Due struct {
	MerchantID int64
	LegacyID   int64
	Reference  string // empty: not read
	ExpiresAt  time.Time
}

// dueBatch is how many orders CancelExpired reads at a time.
const dueBatch = 100

// CancelExpired cancels the registered orders whose deadline has passed, on behalf of
// the service itself. It returns how many it has canceled. Any number of instances may
// run it: each order is canceled once, unless its merchant was faster.
func (s *Service) CancelExpired(ctx context.Context) (int, error) {
	canceled := 0
	var failures error
	for after := (Due{}); ; {
		due, err := s.store.DueOrders(ctx, s.Now(), after, dueBatch)
		if err != nil {
			return canceled, errors.Join(failures, err)
		}
		for _, after = range due {
			if err := ctx.Err(); err != nil {
				return canceled, err
			}
			did, err := s.cancelExpired(ctx, after)
			if err != nil {
				failures = errors.Join(failures, fmt.Errorf("cancel order %d of merchant %d: %w", after.LegacyID, after.MerchantID, err))
			}
			if did {
				canceled++
				s.canceled.Add(1)
			}
		}
		if len(due) < dueBatch {
			return canceled, failures
		}
	}
}

// cancelExpired cancels an order and reports whether it has. It changes nothing if the
// order is not registered any more, or has a later deadline now.
func (s *Service) cancelExpired(ctx context.Context, due Due) (bool, error) {
	expired := Options[WriteResult]{IfMatch: func(o LockedOrder) bool { return !o.ExpiresAt.IsZero() && !s.Now().Before(o.ExpiresAt) }}
	change := Update{To: Canceled, Reason: DeadlinePassed}
	_, err := s.ChangeOrder(ctx, System(), due.MerchantID, ByLegacyID(due.LegacyID), change, expired)
	if errors.Is(err, ErrPreconditionFailed) || errors.Is(err, ErrInvalidTransition) {
		return false, nil
	}
	return err == nil, err
}

// CanceledByDeadline returns how many orders this service has canceled because of their
// deadline.
func (s *Service) CanceledByDeadline() uint64 { return s.canceled.Load() }

// WarnOfDeadlines writes the DeadlineNear event of the registered orders whose deadline is
// at most left away and has not passed. It returns how many it has written. Any number of
// instances may run it: each deadline has one event, and another deadline of an order
// another one.
func (s *Service) WarnOfDeadlines(ctx context.Context, left time.Duration) (int, error) {
	now := s.Now()
	near := Options[bool]{IfMatch: func(o LockedOrder) bool {
		return o.State == Registered && o.ExpiresAt.After(now) && !o.ExpiresAt.After(now.Add(left))
	}}
	warned := 0
	var failures error
	for after := (Due{ExpiresAt: now, LegacyID: math.MaxInt64}); ; {
		due, err := s.store.NearDeadlines(ctx, now.Add(left), after, maxBatchTx)
		if err != nil || len(due) == 0 {
			return warned, errors.Join(failures, err)
		}
		after = due[len(due)-1]
		slices.SortFunc(due, func(a, b Due) int { // as ChangeOrders locks orders
			return cmp.Or(cmp.Compare(a.MerchantID, b.MerchantID), strings.Compare(a.Reference, b.Reference))
		})
		outcomes, err := ChangeMany(ctx, s.changes, System(), slices.Repeat([]Options[bool]{near}, len(due)), func(tx Tx, i int) (bool, error) {
			locked, err := near.lock(ctx, tx, due[i].MerchantID, ByLegacyID(due[i].LegacyID))
			if err != nil {
				return false, err
			}
			return tx.WarnOfDeadline(ctx, locked, Cause{By: System(), At: now})
		}, isRefusal)
		if err != nil {
			failures = errors.Join(failures, fmt.Errorf("warn of the deadlines of %d orders: %w", len(due), err))
		}
		for _, outcome := range outcomes {
			if outcome.Result {
				warned++
				s.warned.Add(1)
			}
		}
	}
}

// DeadlineWarnings returns how many DeadlineNear events this service has written.
func (s *Service) DeadlineWarnings() uint64 { return s.warned.Load() }
