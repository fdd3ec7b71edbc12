package operator

import (
	"context"
	"errors"

	"merchantorders/internal/ingest"
	"merchantorders/internal/order"
	"merchantorders/internal/strict"
	"merchantorders/internal/web"
)

// results writes the results of the lines of a bulk request and counts them.
type results struct {
	*web.Stream
	problemsOnly bool   // responses to lines that did what they should are left out
	key          string // the Idempotency-Key, which each line has with its number; empty: none
	counts       map[string]int
	after        int // number of the last line with a result
}

// newResults returns the results of a request. Its parameter results is all, the
// default, or problems.
func newResults(s *web.Stream, statuses ...string) (*results, error) {
	query := s.URL.Query()
	for name := range query {
		if name != "results" {
			return nil, &strict.ParamError{Name: strict.Echo(name), Problem: "is not a known parameter"}
		}
	}
	r := &results{Stream: s, counts: make(map[string]int)}
	switch values := query["results"]; {
	case len(values) == 0, len(values) == 1 && values[0] == "all":
	case len(values) == 1 && values[0] == "problems":
		r.problemsOnly = true
	default:
		return nil, &strict.ParamError{Name: "results", Problem: "must be all or problems"}
	}
	for _, status := range statuses {
		r.counts[status] = 0
	}
	return r, nil
}

// add writes the result of a line.
func (r *results) add(number int, status string, problem bool, line any) error {
	r.counts[status]++
	r.after = number
	if r.problemsOnly && !problem {
		return nil
	}
	return r.WriteLine(line)
}

// send sends the results of a batch. The header goes out with the first ones: if
// it came before the first byte of the body is read, a client that waits for "100
// Continue" would wait in vain.
func (r *results) send() error {
	if r.after == 0 {
		return nil
	}
	return r.Flush()
}

// summaryView is the last line of the response to a bulk request.
type summaryView struct {
	Summary  map[string]int `json:"summary"`  // lines by status
	Complete bool           `json:"complete"` // whether every line of the body has a result
	// LastLine is the number of the last line with a result; 0: there is none.
	LastLine int     `json:"lastLine"`
	Problem  *string `json:"problem"` // why it is not complete
}

// end writes the summary after the last batch. err is why the request did not come to
// its end, nil if it did. An error before the first result becomes the response.
func (r *results) end(err error) error {
	summary := summaryView{Summary: r.counts, Complete: err == nil, LastLine: r.after}
	if err != nil {
		problem := r.problem(err)
		if problem == "" || r.after == 0 && errors.Is(err, order.ErrUnavailable) {
			return err
		}
		summary.Problem = &problem
	}
	if err := r.WriteLine(summary); err != nil {
		return err
	}
	_ = r.Flush() // an error means that the client disconnected: it sends the lines again
	if r.cut(err) {
		return nil
	}
	return err
}

// problem returns what ended a request early, for its client; empty for a failure of
// the service before it has sent anything.
func (r *results) problem(err error) string {
	again := " Send the lines after lastLine again"
	if r.key != "" {
		again = " Send the same body again"
	}
	switch {
	case errors.Is(context.Cause(r.Context()), web.ErrStopping):
		return "The service is stopping." + again + "."
	case r.cut(err):
		return "The body did not arrive completely." + again + "."
	case errors.Is(err, order.ErrUnavailable):
		return "The service cannot store anything for now." + again + " later."
	case r.after == 0:
		return ""
	case errors.Is(err, order.ErrTooManyIdempotencyKeys):
		return "Too many lines with an Idempotency-Key in a day. Send the lines after lastLine without it."
	}
	return "The service failed." + again + "."
}

// cut reports whether a request ended because of its client.
func (r *results) cut(err error) bool {
	return r.Context().Err() != nil || errors.Is(err, ingest.ErrInput)
}

// importedView is the result of a line of an import.
type importedView struct {
	Line      int    `json:"line"`
	Reference string `json:"reference,omitempty"` // absent: the line is not an order document
	Status    string `json:"status"`
	OrderID   int64  `json:"orderId,omitempty"`
	Problem   string `json:"problem,omitempty"`
}

// importOrders serves POST /orders/import: order documents, one a line.
func (a API) importOrders(s *web.Stream) error {
	r, err := newResults(s, order.Created.String(), order.Unchanged.String(), order.Conflict.String(), order.Invalid.String())
	if err != nil {
		return err
	}
	_, err = ingest.Import(s.Context(), s, func(ctx context.Context, batch []order.Incoming) ([]order.ImportResult, error) {
		// A batch ends although the client disconnects.
		return a.Orders.Import(context.WithoutCancel(ctx), s.Caller, batch)
	}, ingest.Options{Imported: func(lines []ingest.ImportedLine) error {
		for i := range lines {
			line := &lines[i]
			view := importedView{
				Line: line.Number, Status: line.Result.Status.String(), OrderID: line.Result.LegacyID, Problem: line.Result.Reason,
			}
			if line.Item != nil {
				view.Reference = line.Item.Order.Reference
			}
			if err := r.add(view.Line, view.Status, view.Problem != "", view); err != nil {
				return err
			}
		}
		return r.send()
	}})
	return r.end(err)
}
