package operator

import (
	"context"
	"errors"

	"merchantorders/internal/ingest"
	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// importOrders serves POST /orders/import: order documents, one a line.
func (a API) importOrders(s *web.Stream) error {
	return serveLines(s, ingest.Documents(a.Orders.Import, s.Caller), "")
}

// changeOrders serves POST /orders/transitions: changes of orders, one a line.
func (a API) changeOrders(s *web.Stream) error {
	key, err := web.IdempotencyKey(s.Request)
	if err != nil {
		return err
	}
	return serveLines(s, ingest.Changes(a.Orders, s.Caller, key), key)
}

// serveLines serves a bulk request: it sends the result of each line of the body, and a
// summary. Its parameter results is all, the default, or problems. key is the
// Idempotency-Key of the lines; empty: they have none.
func serveLines(s *web.Stream, lines ingest.Lines, key string) error {
	query := web.ParseQuery(s.Request, "results")
	results := query.Text("results")
	if results != "" && results != "all" && results != "problems" {
		query.Refuse("results", "must be all or problems")
	}
	if err := query.Err(); err != nil {
		return err
	}
	var shown int // number of the last line that the response has named
	tally, err := lines.Run(s.Context(), s, func(batch []ingest.Line, _ int64) error {
		for i := range batch {
			if results == "problems" && batch[i].Problem == "" {
				continue
			}
			shown = batch[i].Number
			if err := s.WriteLine(&batch[i].Result); err != nil {
				return err
			}
		}
		if n := len(batch); n > 0 && batch[n-1].Number-shown >= progressLines {
			shown = batch[n-1].Number
			if err := s.WriteLine(progressView{Progress: progress{LastLine: shown}}); err != nil {
				return err
			}
		}
		// The header goes out with the first results: if it came before the first byte of
		// the body is read, a client that waits for "100 Continue" would wait in vain.
		if len(batch) == 0 {
			return nil
		}
		return s.Flush()
	})
	return sendSummary(s, tally, key, err)
}

// progressLines is how many lines may have no line in the response, before a line of
// progress says that they are done.
const progressLines = 1000

// progressView is a line of the response that says how far the request got, in case its
// summary does not reach the client.
type progressView struct {
	Progress progress `json:"progress"`
}

type progress struct {
	LastLine int `json:"lastLine"`
}

// summaryView is the last line of the response to a bulk request.
type summaryView struct {
	Summary  map[order.LineStatus]int64 `json:"summary"`  // lines by status
	Complete bool                       `json:"complete"` // whether every line of the body has a result
	// LastLine is the number of the last line with a result; 0: there is none.
	LastLine int     `json:"lastLine"`
	Problem  *string `json:"problem"` // why it is not complete
}

// sendSummary sends the summary after the last batch. err is why the request did not
// come to its end, nil if it did. An error before the first result becomes the response.
func sendSummary(s *web.Stream, tally ingest.Tally, key string, err error) error {
	summary := summaryView{Summary: tally.Counts, Complete: err == nil, LastLine: tally.Last}
	if err != nil {
		problem := problemOf(s, tally, key, err)
		if problem == "" || tally.Last == 0 && errors.Is(err, order.ErrUnavailable) {
			return err
		}
		summary.Problem = &problem
	}
	if err := s.WriteLine(summary); err != nil {
		return err
	}
	_ = s.Flush() // an error means that the client disconnected: it sends the lines again
	if cut(s, err) {
		return nil
	}
	return err
}

// problemOf returns what ended a request early, for its client; empty for a failure of
// the service before it has sent anything.
func problemOf(s *web.Stream, tally ingest.Tally, key string, err error) string {
	again := " Send the lines after lastLine again"
	if key != "" {
		again = " Send the same body again"
	}
	switch {
	case errors.Is(context.Cause(s.Context()), web.ErrStopping):
		return "The service is stopping." + again + "."
	case cut(s, err):
		return "The body did not arrive completely." + again + "."
	case errors.Is(err, order.ErrUnavailable):
		return "The service cannot store anything for now." + again + " later."
	case tally.Last == 0:
		return ""
	case errors.Is(err, order.ErrTooManyIdempotencyKeys):
		return "Too many lines with an Idempotency-Key in a day. Send the lines after lastLine without it."
	}
	return "The service failed." + again + "."
}

// cut reports whether a request ended because of its client.
func cut(s *web.Stream, err error) bool {
	return s.Context().Err() != nil || errors.Is(err, ingest.ErrInput)
}
