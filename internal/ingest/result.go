package ingest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"merchantorders/internal/order"
)

// Result is what became of a line, as interfaces, console and commands show it.
// Idempotency records have it as JSON: its names never change.
type Result struct {
	Number     int              `json:"line"`                 // the first line is 1
	MerchantID int64            `json:"merchantId,omitempty"` // of a change that is valid
	Reference  string           `json:"reference,omitempty"`  // absent: the line is invalid
	Status     order.LineStatus `json:"status"`
	OrderID    int64            `json:"orderId,omitempty"` // of a document whose order is or was stored
	State      string           `json:"state,omitempty"`   // of a changed order that was found
	Corrected  []string         `json:"corrected,omitempty"`
	TokenID    int64            `json:"tokenId,omitempty"` // of a token that was or is there
	Token      string           `json:"token,omitempty"`   // the text of a new token
	// Problem is why the line did not do what it should; empty: it did, or did not need to.
	Problem  string   `json:"problem,omitempty"`
	Allowed  []string `json:"allowed,omitempty"`  // states to which a refused order can move
	Replayed bool     `json:"replayed,omitempty"` // it is the recorded result for the Idempotency-Key
}

// The statuses of the lines of each kind of input, in the order in which people read
// them.
var (
	documentStatuses = []order.LineStatus{order.Created, order.Unchanged, order.Deleted, order.Conflict, order.Invalid}
	changeStatuses   = []order.LineStatus{order.Changed, order.Unchanged, order.Refused, order.NotFound, order.Invalid}
)

// changeResult returns the result of a change, or the one that was recorded when the
// line was sent first.
func changeResult(change order.BatchChange, done order.BatchResult) (Result, error) {
	var replay *order.ReplayError
	if !errors.As(done.Err, &replay) {
		return newChangeResult(change, done), nil
	}
	result := Result{Replayed: true}
	if err := json.Unmarshal(replay.Response, &result); err != nil {
		return Result{}, fmt.Errorf("decode the recorded result of a line: %w", err)
	}
	return result, nil
}

// recordChange encodes the result of a change for its idempotency record.
func recordChange(change order.BatchChange, done order.BatchResult) ([]byte, error) {
	return json.Marshal(newChangeResult(change, done))
}

func newChangeResult(change order.BatchChange, done order.BatchResult) Result {
	result := Result{MerchantID: change.MerchantID, Reference: change.Reference, Status: order.Invalid}
	var transition *order.TransitionError
	switch {
	case done.Err == nil:
		result.Status, result.State, result.Corrected = order.Unchanged, done.State.String(), done.Corrected
		if done.Changed {
			result.Status = order.Changed
		}
	case errors.As(done.Err, &transition):
		result.Status, result.State, result.Allowed = order.Refused, transition.From.String(), transition.Allowed()
		result.Problem = TransitionProblem(transition)
	case errors.Is(done.Err, order.ErrPreconditionFailed):
		result.Status, result.State = order.Refused, done.State.String()
		result.Problem = "The order has changed: its entity tag is not ifMatch any more."
	case errors.Is(done.Err, order.ErrErased):
		result.Status, result.State, result.Problem = order.Refused, done.State.String(), Erased
	case errors.Is(done.Err, order.ErrNotFound):
		result.Status, result.Problem = order.NotFound, fmt.Sprintf("The merchant %d has no such order.", change.MerchantID)
	case errors.Is(done.Err, order.ErrIdempotencyKeyReused):
		result.Problem = "The Idempotency-Key was used for another body, with another line here."
	default:
		result.Problem = InvalidReason
	}
	return result
}

// TransitionProblem returns a sentence that says which transitions are allowed.
func TransitionProblem(err *order.TransitionError) string {
	text := err.Error()
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// Erased says why order.ErrErased refuses a correction.
const Erased = "The personal data of the order is erased and cannot be set again."

// InvalidReason says what is wrong with the reason of a change, for
// order.ErrInvalidReason.
var InvalidReason = "reason must be lower-case words and numbers joined by hyphens, of at most " + strconv.Itoa(order.MaxReasonLength) +
	" bytes; for rejected-by-merchant one of " + order.ReasonNames()
