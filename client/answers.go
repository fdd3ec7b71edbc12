package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strconv"
)

// Decision is what an Answer does with an order.
type Decision string

// The decisions.
const (
	AcceptOrder Decision = "accept"
	RejectOrder Decision = "reject"
)

// NoReason rejects an order without a Reason.
const NoReason Reason = ""

// Answer accepts or rejects an order.
type Answer struct {
	Reference string   `json:"orderReference"`
	Decision  Decision `json:"answer"`
	Reason    Reason   `json:"reason,omitempty"`  // of a rejection; NoReason: none
	IfMatch   string   `json:"ifMatch,omitempty"` // Tag of the order that was read; empty: any version
}

// AnswerStatus is what became of an Answer.
type AnswerStatus string

// The statuses.
const (
	AnswerChanged   AnswerStatus = "changed"   // the order is accepted or rejected now
	AnswerUnchanged AnswerStatus = "unchanged" // it was before
	AnswerRefused   AnswerStatus = "refused"   // its state does not allow it, or it has changed since IfMatch
	AnswerNotFound  AnswerStatus = "not_found" // also for an order of another merchant
	AnswerInvalid   AnswerStatus = "invalid"   // the Answer is not valid
)

// AnswerResult is what became of an Answer.
type AnswerResult struct {
	Answer   Answer       `json:"-"`
	Line     int          `json:"line"` // number of the answer in its request, from 1
	Status   AnswerStatus `json:"status"`
	State    State        `json:"state"`    // of an order that was found
	Problem  string       `json:"problem"`  // for people; empty: the order has the state
	Replayed bool         `json:"replayed"` // an earlier request made the change; this is its result
}

// maxAnswers is the number of answers of a request.
const maxAnswers = 10_000

// Answers accepts and rejects orders, 10,000 in a request, and returns a result for each,
// in their order. A refused answer does not affect the others and ends nothing. The
// iteration ends with the first error: results that it has not returned are unknown, and
// to send their answers again is safe.
//
// The key of IdempotencyKey is that of the first request; the n-th has "-n" after it. Two
// calls with one key have the same answers. Use Answer.IfMatch, not the option IfMatch.
func (c *Client) Answers(ctx context.Context, answers iter.Seq[Answer], options ...WriteOption) iter.Seq2[AnswerResult, error] {
	return func(yield func(AnswerResult, error) bool) {
		var batch []Answer
		requests := 0
		send := func() bool {
			requests++
			results, err := c.sendAnswers(ctx, batch, requests, options)
			if err != nil {
				yield(AnswerResult{}, err)
				return false
			}
			for _, result := range results {
				if !yield(result, nil) {
					return false
				}
			}
			batch = batch[:0]
			return true
		}
		for answer := range answers {
			if batch = append(batch, answer); len(batch) == c.maxAnswers && !send() {
				return
			}
		}
		if len(batch) > 0 {
			send()
		}
	}
}

// sendAnswers sends the request with a number, from 1.
func (c *Client) sendAnswers(ctx context.Context, answers []Answer, number int, options []WriteOption) ([]AnswerResult, error) {
	op := "answer an order"
	if n := len(answers); n > 1 {
		op = "answer " + strconv.Itoa(n) + " orders"
	}
	call := &call{op: op, method: http.MethodPost, url: c.address(nil, "orders", "answers"), lines: true}
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	for _, answer := range answers {
		_ = encoder.Encode(answer) // texts can always be encoded
	}
	call.body = body.Bytes()
	c.setOptions(call, options)
	switch w := call.write; {
	case w.match != nil:
		call.invalid = "many answers take no IfMatch; set that of each Answer"
	case number > 1 && w.key != nil:
		c.setOptions(call, append(options[:len(options):len(options)], IdempotencyKey(*w.key+"-"+strconv.Itoa(number))))
	}
	return fetch(ctx, c, call, func(r response) ([]AnswerResult, error) { return decodeAnswers(r, answers) })
}

// answersEnd is the last line of the response to answers.
type answersEnd struct {
	Complete *bool   `json:"complete"` // nil: it is another line
	Problem  *string `json:"problem"`
}

// cutLast returns the lines of a response before the last, and the last.
func cutLast(body []byte) (before, last []byte) {
	at := bytes.LastIndexByte(bytes.TrimSpace(body), '\n') + 1
	return body[:at], body[at:]
}

// incomplete returns why a response of lines has not all results; empty: it has.
func incomplete(body []byte) string {
	var end answersEnd
	_, last := cutLast(body)
	switch err := json.Unmarshal(last, &end); {
	case err != nil || end.Complete == nil:
		return "the response has no end"
	case !*end.Complete && end.Problem != nil:
		return *end.Problem
	case !*end.Complete:
		return "the response is not complete"
	}
	return ""
}

// decodeAnswers decodes the response to answers.
func decodeAnswers(r response, answers []Answer) ([]AnswerResult, error) {
	results := make([]AnswerResult, 0, len(answers))
	lines, _ := cutLast(r.body)
	for line := range bytes.Lines(lines) {
		var result AnswerResult
		if err := json.Unmarshal(line, &result); err != nil {
			return nil, err
		}
		if len(results) == len(answers) || result.Line != len(results)+1 || result.Status == "" {
			return nil, fmt.Errorf("the result of line %d follows that of line %d", result.Line, len(results))
		}
		result.Answer = answers[len(results)]
		results = append(results, result)
	}
	if len(results) < len(answers) {
		return nil, errors.New("results are missing")
	}
	return results, nil
}
