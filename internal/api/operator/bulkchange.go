package operator

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"

	"merchantorders/internal/ingest"
	"merchantorders/internal/order"
	"merchantorders/internal/strict"
	"merchantorders/internal/web"
)

// The statuses of a line of a bulk change.
const (
	statusChanged   = "changed"
	statusUnchanged = "unchanged" // the order has the state and the values already
	statusRefused   = "refused"   // the state of the order does not allow it
	statusNotFound  = "not_found"
	statusInvalid   = "invalid"
)

// changeLineView is the result of a line of a bulk change. Idempotency records have it as
// JSON: its names never change.
type changeLineView struct {
	Line       int      `json:"line"`
	MerchantID int64    `json:"merchantId,omitempty"` // absent: the line is invalid
	Reference  string   `json:"reference,omitempty"`  // absent: the line is invalid
	Status     string   `json:"status"`
	State      string   `json:"state,omitempty"` // of an order that was found
	Corrected  []string `json:"corrected,omitempty"`
	Problem    string   `json:"problem,omitempty"`
	Allowed    []string `json:"allowed,omitempty"`  // states to which a refused order can move
	Replayed   bool     `json:"replayed,omitempty"` // it is the recorded result for the Idempotency-Key
}

// ChangeLine is a line of a bulk change with its result.
type ChangeLine = ingest.Line[order.BatchChange, order.BatchResult]

// ChangeStatuses are the statuses of the lines of a bulk change.
var ChangeStatuses = []string{statusChanged, statusUnchanged, statusRefused, statusNotFound, statusInvalid}

// ChangeResult returns the status of a line and why it changed nothing; empty if it
// did, or did not need to.
func ChangeResult(line *ChangeLine) (status, problem string) {
	view := newChangeLineView(line)
	return view.Status, view.Problem
}

// changeOrders serves POST /orders/transitions: changes of orders, one a line.
func (a API) changeOrders(s *web.Stream) error {
	key, err := web.IdempotencyKey(s.Request)
	if err != nil {
		return err
	}
	r, err := newResults(s, ChangeStatuses...)
	if err != nil {
		return err
	}
	r.key = key
	return r.end(ingest.Batches[order.BatchChange, order.BatchResult]{
		Parse: func(number int, text []byte) (order.BatchChange, error) {
			change, err := ParseChange(text)
			if key != "" {
				change.Key = order.Key{Text: key, Line: int64(number), Digest: sha256.Sum256(text)}
			}
			return change, err
		},
		Do: func(ctx context.Context, batch []order.BatchChange) ([]order.BatchResult, error) {
			// A batch ends although the client disconnects.
			return a.Orders.ChangeOrders(context.WithoutCancel(ctx), s.Caller, batch, recordLine)
		},
		Done: func(lines []ChangeLine, _ int64) error {
			for i := range lines {
				view, err := viewOf(&lines[i])
				if err != nil {
					return err
				}
				if err := r.add(view.Line, view.Status, view.Problem != "", view); err != nil {
					return err
				}
			}
			return r.send()
		},
	}.Run(s.Context(), s))
}

// ParseChange parses a line of a bulk change: a change with the merchant and the
// reference of the order.
func ParseChange(text []byte) (order.BatchChange, error) {
	if len(text) > maxChange {
		return order.BatchChange{}, errors.New("the line is longer than 1 MiB")
	}
	body := strict.ParseBody(text, append([]string{"merchantId", "reference"}, changeKeys...)...)
	change := order.BatchChange{
		MerchantID: body.Int("merchantId", 1, strict.MaxInt),
		Reference:  body.Valid("reference", order.ValidReference, "must be the reference of an order"),
	}
	err := body.Err()
	if err != nil {
		return change, lineProblem(err)
	}
	change.Update, err = parseChange(body.Object)
	if err == nil && change.To == 0 && change.Correction.Empty() {
		err = errors.New("there is nothing to change: give state, or a field to correct")
	}
	return change, lineProblem(err)
}

// lineProblem returns an error whose text says what is wrong with a line.
func lineProblem(err error) error {
	if errors.Is(err, strict.ErrInvalidPayload) {
		return errors.New("the line is not a JSON object with the members of a change")
	}
	return err
}

func newChangeLineView(line *ChangeLine) changeLineView {
	view := changeLineView{Line: line.Number, Status: statusInvalid, Problem: line.Problem}
	if line.Item == nil {
		return view
	}
	view.MerchantID, view.Reference = line.Item.MerchantID, line.Item.Reference
	result := &line.Result
	var transition *order.TransitionError
	switch {
	case result.Err == nil:
		view.Status, view.State, view.Corrected = statusUnchanged, result.State.String(), result.Corrected
		if result.Changed {
			view.Status = statusChanged
		}
	case errors.As(result.Err, &transition):
		view.Status, view.State, view.Allowed = statusRefused, transition.From.String(), transition.Allowed()
		view.Problem = sentence(transition.Error())
	case errors.Is(result.Err, order.ErrNotFound):
		view.Status, view.Problem = statusNotFound, fmt.Sprintf("The merchant %d has no such order.", view.MerchantID)
	case errors.Is(result.Err, order.ErrIdempotencyKeyReused):
		view.Problem = "The Idempotency-Key was used for another body, with another line here."
	default:
		view.Problem = invalidReason
	}
	return view
}

// recordLine encodes the result of a change for its idempotency record.
func recordLine(change order.BatchChange, result order.BatchResult) ([]byte, error) {
	return json.Marshal(newChangeLineView(&ChangeLine{Item: &change, Result: result}))
}

// viewOf returns the view of a line, or the one that was recorded when it was sent first.
func viewOf(line *ChangeLine) (changeLineView, error) {
	var replay *order.ReplayError
	if !errors.As(line.Result.Err, &replay) {
		return newChangeLineView(line), nil
	}
	var view changeLineView
	if err := json.Unmarshal(replay.Response, &view); err != nil {
		return changeLineView{}, fmt.Errorf("decode the recorded response to a line: %w", err)
	}
	view.Line, view.Replayed = line.Number, true
	return view, nil
}
