// Package bulkapi serves requests with many lines, for merchants and operators: it sends
// the result of each line, and a summary.
//
// It translates between HTTP and package ingest and holds no business rule.
package bulkapi

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"merchantorders/internal/ingest"
	"merchantorders/internal/order"
	"merchantorders/internal/strict"
	"merchantorders/internal/web"
)

// Key returns the Idempotency-Key of a request whose lines are changes of orders, empty
// if it has none. It refuses If-Match, which cannot mean one of many orders.
func Key(s *web.Stream) (string, error) {
	if len(s.Header.Values("If-Match")) > 0 {
		return "", &strict.ParamError{Name: "If-Match", Problem: "must be given by line, as ifMatch"}
	}
	return web.IdempotencyKey(s.Request)
}

// Serve serves a request with lines: it sends the results while the lines arrive. key is
// the Idempotency-Key of the lines; empty: they have none.
func Serve(s *web.Stream, lines ingest.Lines, key string) error {
	wanted, err := parseResults(s)
	if err != nil {
		return err
	}
	// Before each batch, and not only when the stream looks: what is revoked changes nothing.
	lines.Check = func() error { return s.Reauthenticate(make(http.Header)) }
	var shown int // number of the last line that the response has named
	invalid := 0  // lines in a row
	tally, err := lines.Run(s.Context(), s, func(batch []ingest.Line, _ int64) error {
		for i := range batch {
			if invalid++; batch[i].Status != order.Invalid {
				invalid = 0
			}
			if !wanted(batch[i]) {
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
		if invalid >= maxInvalid {
			return errInvalidLines
		}
		return s.Flush()
	})
	return sendSummary(s, tally, key, err)
}

// maxInvalid is about how many lines in a row may be invalid: each costs as much as a small
// request, and a client that sends something else learns it soon.
const maxInvalid = 1000

// errInvalidLines ends a request with too many invalid lines.
var errInvalidLines = errors.New("too many invalid lines in a row")

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

// parseResults parses the parameter results: all, the default, or problems. It returns
// whether the result of a line is sent.
func parseResults(s *web.Stream) (func(ingest.Line) bool, error) {
	query := web.ParseQuery(s.Request)
	results := query.Text("results")
	if results != "" && results != "all" && results != "problems" {
		query.Refuse("results", "must be all or problems")
	}
	return func(line ingest.Line) bool { return results != "problems" || line.Problem != "" }, query.Err()
}

// MaxArray is the maximum number of elements of an array.
const MaxArray = 100

// ErrNoArray is the error of ServeArray for a body that is no JSON array, or longer than
// MaxArray or web.MaxBody.
var ErrNoArray = errors.New("the body is no array, or too long")

// arrayView is the response to an array.
type arrayView struct {
	Results []ingest.Result            `json:"results"`
	Summary map[order.LineStatus]int64 `json:"summary"` // elements by status
}

// ServeArray serves a request with a JSON array in place of lines, with one response. An
// element that is not as it must be does not affect the others.
func ServeArray(s *web.Stream, lines ingest.Lines) error {
	wanted, err := parseResults(s)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(io.LimitReader(s, web.MaxBody+1))
	if err != nil {
		return unlessStopping(s, strict.Detail(ErrNoArray, "%s", inputProblem(err)))
	}
	input, err := linesOf(body)
	if err != nil {
		return err
	}
	view := arrayView{Results: []ingest.Result{}}
	tally, err := lines.Run(s.Context(), input, func(batch []ingest.Line, _ int64) error {
		for i := range batch {
			if wanted(batch[i]) {
				view.Results = append(view.Results, batch[i].Result)
			}
		}
		return nil
	})
	if err != nil {
		return unlessStopping(s, err)
	}
	view.Summary = tally.Counts
	return s.WriteJSON(view)
}

// unlessStopping returns err, or order.ErrUnavailable if the service is stopping.
func unlessStopping(s *web.Stream, err error) error {
	if s.Stopping() {
		return order.ErrUnavailable
	}
	return err
}

// linesOf returns the elements of an array, one a line.
func linesOf(array []byte) (io.Reader, error) {
	// What is wrong in an element is the problem of its line.
	lenient := json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	var elements []jsontext.Value
	if jsontext.Value(array).Kind() != '[' || len(array) > web.MaxBody {
		return nil, ErrNoArray
	}
	if err := json.Unmarshal(array, &elements, lenient); err != nil {
		return nil, strict.Detail(ErrNoArray, "%s", strict.SyntaxProblem(array, err))
	}
	if len(elements) > MaxArray {
		return nil, ErrNoArray
	}
	var lines bytes.Buffer
	for _, element := range elements {
		if err := element.Compact(); err != nil {
			return nil, err
		}
		lines.Write(append(element, '\n'))
	}
	return &lines, nil
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
	if cut(s, err) || s.Ended(err) != "" || errors.Is(err, errInvalidLines) || errors.Is(err, ingest.ErrBlank) {
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
	if problem := s.Ended(err); problem != "" {
		return problem + again + "."
	}
	switch {
	case errors.Is(err, errInvalidLines):
		return "1,000 lines in a row are invalid. Correct them, and send the lines after lastLine again."
	case errors.Is(err, ingest.ErrBlank):
		return "The body has more than 10,000 blank lines in a row. Send it without them."
	case errors.Is(err, web.ErrExpanded):
		return inputProblem(err)
	case cut(s, err):
		return inputProblem(err) + again + "."
	case errors.Is(err, order.ErrUnavailable):
		return "The service cannot store anything for now." + again + " later."
	case tally.Last == 0:
		return ""
	case errors.Is(err, order.ErrTooManyIdempotencyKeys):
		return "Too many lines with an Idempotency-Key in a day. Send the lines after lastLine without it."
	}
	return "The service failed." + again + "."
}

// inputProblem says why a body cannot be read to its end.
func inputProblem(err error) string {
	switch {
	case errors.Is(err, web.ErrExpanded):
		return web.ExpandedProblem
	case errors.Is(err, gzip.ErrHeader):
		return "The body is not compressed with gzip, as its Content-Encoding says: correct either."
	}
	return "The body did not arrive completely, or is damaged."
}

// cut reports whether a request ended because of its client.
func cut(s *web.Stream, err error) bool {
	return s.Context().Err() != nil || errors.Is(err, ingest.ErrInput)
}
