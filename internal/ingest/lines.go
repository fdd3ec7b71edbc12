package ingest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json"

	"merchantorders/internal/order"
)

// Lines is what is done with an input that has one item a line.
type Lines struct {
	// Check is called before each batch. Its error ends the run; nil: there is no check.
	Check    func() error
	statuses []order.LineStatus
	run      func(ctx context.Context, r io.Reader, check func() error, done DoneFunc) error
}

// Line is a line of an input with its result.
type Line struct {
	Result
	// Text is the line as it came, without the line end, and valid until the batch is
	// done; nil if it is too long.
	Text []byte
}

// DoneFunc receives all lines of a batch, in the order of the input, and the number of
// bytes of the input that are processed at least. There may be no lines.
type DoneFunc func(batch []Line, read int64) error

// Tally counts the lines of an input that have a result.
type Tally struct {
	// Statuses are those that lines of this kind can have, in the order in which people
	// read them.
	Statuses []order.LineStatus
	Counts   map[order.LineStatus]int64 // has all Statuses
	Refused  int64                      // lines with a problem
	Last     int                        // number of the last line; 0: there is none
}

// Run handles an input in batches, in the order of the input. It ignores blank lines and
// continues after invalid ones. It stops at an error of the reader, of Check, of a batch
// or of done, and when ctx ends, but not in the middle of a batch. The tally is valid
// also after an error.
//
// Run does not wait for a full batch: when the input blocks, it handles the lines that
// it has read. The input may be a pipe with a slow writer.
//
// Run reads ahead. After an error, a Read of r may still be running when it returns.
func (l Lines) Run(ctx context.Context, r io.Reader, done DoneFunc) (Tally, error) {
	tally := Tally{Statuses: l.statuses, Counts: make(map[order.LineStatus]int64, len(l.statuses))}
	for _, status := range l.statuses {
		tally.Counts[status] = 0
	}
	check := l.Check
	if check == nil {
		check = func() error { return nil }
	}
	err := l.run(ctx, r, check, func(batch []Line, read int64) error {
		for i := range batch {
			tally.Counts[batch[i].Status]++
			if batch[i].Problem != "" {
				tally.Refused++
			}
			tally.Last = batch[i].Number
		}
		return done(batch, read)
	})
	return tally, err
}

// ImportFunc imports a batch of orders and returns a result for each, in their order, as
// order.Service.Import does. It must not retain the batch.
type ImportFunc func(ctx context.Context, caller order.Caller, batch []order.Incoming) ([]order.ImportResult, error)

// Documents are lines with an order document each, which are imported. Each is prepared when
// it is parsed, beside the import of others. The summary of an export is ignored like a blank
// line, if the export is complete.
func Documents(prepare func(*order.Incoming), importBatch ImportFunc, caller order.Caller) Lines {
	return newLines(documentStatuses, batches[order.Incoming]{
		parse: func(_ int, text []byte) (order.Incoming, error) {
			incoming, err := Parse(text)
			if err != nil {
				return incoming, ofSummary(text, err)
			}
			prepare(&incoming)
			return incoming, nil
		},
		do: func(ctx context.Context, batch []order.Incoming) ([]Result, error) {
			imported, err := importBatch(ctx, caller, batch)
			if err != nil {
				return nil, fmt.Errorf("import orders: %w", err)
			}
			results := make([]Result, len(imported))
			for i, r := range imported {
				results[i] = Result{Reference: batch[i].Order.Reference, Status: r.Status, OrderID: r.LegacyID, Problem: r.Reason}
			}
			return results, nil
		},
	})
}

// errIgnored is the error of a line that is ignored.
var errIgnored = errors.New("the line is ignored")

// ofSummary returns the error of a line that is no order document: another one than that
// of Parse if the line is the summary of an export.
func ofSummary(text []byte, err error) error {
	if problem, ok := errors.AsType[*DocumentError](err); !ok || problem.Field != "summary" {
		return err
	}
	var summary struct {
		Complete *bool `json:"complete"`
	}
	switch {
	case json.Unmarshal(text, &summary) != nil || summary.Complete == nil:
		return err
	case *summary.Complete:
		return errIgnored
	}
	return &DocumentError{Problem: "the export ended here and is not complete"}
}

// Changes are lines with a transition or a correction of an order each. Each line has
// the idempotency key with its number; empty: there is none.
func Changes(orders *order.Service, caller order.Caller, key string) Lines {
	return changeLines(orders, caller, key, MaxUpdate, parseChange)
}

// Answers are lines with an answer of the caller's merchant to an order each. A line
// whose order has the state already is unchanged, so that they can be sent again. Each
// has the idempotency key with its number; empty: there is none.
func Answers(orders *order.Service, caller order.Caller, key string) Lines {
	return changeLines(orders, caller, key, maxAnswer, func(text []byte) (order.BatchChange, error) {
		change, err := parseAnswer(text)
		change.MerchantID = caller.MerchantID
		return change, err
	})
}

// References are lines with the reference of an order each, which answer answers. It
// returns a result for each, in their order.
func References(answer func(references []string) ([]Result, error)) Lines {
	return newLines(changeStatuses, batches[string]{
		parse: func(_ int, text []byte) (string, error) {
			reference := strings.Trim(string(text), " \t\r")
			if !order.ValidReference(reference) {
				return "", errors.New("the line is not the reference of an order")
			}
			return reference, nil
		},
		do: func(_ context.Context, batch []string) ([]Result, error) { return answer(batch) },
	})
}

// maxAnswer is the longest line with an answer, in bytes: that of the body of a single one.
const maxAnswer = 64 << 10

// changeBatch is how many changes a batch has: two transactions of order.ChangeOrders.
const changeBatch = 2 * 64

// changeLines are lines of at most maxLine bytes with a change of an order each, which
// parse parses.
func changeLines(orders *order.Service, caller order.Caller, key string, maxLine int, parse func([]byte) (order.BatchChange, error)) Lines {
	return newLines(changeStatuses, batches[order.BatchChange]{
		size:    changeBatch,
		maxLine: maxLine,
		parse: func(number int, text []byte) (order.BatchChange, error) {
			change, err := parse(text)
			if key != "" {
				change.Key = order.Key{Text: key, Line: int64(number), Digest: sha256.Sum256(text)}
			}
			return change, err
		},
		do: func(ctx context.Context, batch []order.BatchChange) ([]Result, error) {
			changed, err := orders.ChangeOrders(ctx, caller, batch, recordChange)
			results := make([]Result, len(changed))
			for i := 0; i < len(changed) && err == nil; i++ {
				results[i], err = changeResult(batch[i], changed[i])
			}
			return results, err
		},
	})
}

// Items are lines of another kind, each of which is parsed by a function and handled by
// another one. Each is a batch, so that no result is lost if the next line fails.
func Items[T any](statuses []order.LineStatus, parse func(text []byte) (T, error), do func(ctx context.Context, item T) (Result, error)) Lines {
	return newLines(statuses, batches[T]{
		size:  1,
		parse: func(_ int, text []byte) (T, error) { return parse(text) },
		do: func(ctx context.Context, batch []T) ([]Result, error) {
			result, err := do(ctx, batch[0])
			return []Result{result}, err
		},
	})
}

func newLines[T any](statuses []order.LineStatus, b batches[T]) Lines {
	return Lines{statuses: statuses, run: b.run}
}
