package ingest

import (
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"merchantorders/internal/etag"
	"merchantorders/internal/order"
	"merchantorders/internal/strict"
)

// MaxUpdate is the largest change of an order, in bytes: every text that may be
// corrected fits.
const MaxUpdate = 1 << 20

// correctionKeys are the keys of a change that correct the order.
var correctionKeys = []string{"expiresAt", "dispatchUntil", "customer", "shippingAddress", "carrier"}

// UpdateKeys are the keys of a change of an order.
var UpdateKeys = append([]string{"state", "reason"}, correctionKeys...)

// changeKeys are the keys of a line with a change.
var changeKeys = append([]string{"merchantId", "reference", "ifMatch"}, UpdateKeys...)

// ParseUpdate parses a change of an order. Keys that it does not know are the caller's.
// Errors: *strict.ParamError, *DocumentError.
func ParseUpdate(body strict.Object) (order.Update, error) {
	var update order.Update
	if body.Has("state") {
		name, ok := body.Text("state")
		if ok {
			update.To, ok = order.ParseState(name)
		}
		if !ok {
			return update, &strict.ParamError{Name: "state", Problem: "must be one of " + order.StateNames()}
		}
	}
	if body.Has("reason") && !body.Null("reason") {
		text, ok := body.Text("reason")
		if !ok {
			return update, &strict.ParamError{Name: "reason", Problem: "must be text"}
		}
		update.Reason = order.Reason(text)
	}
	if update.Reason != "" && update.To == 0 {
		return update, &strict.ParamError{Name: "reason", Problem: "must be given together with state"}
	}
	fields := make(strict.Object)
	for _, key := range correctionKeys {
		if body.Has(key) {
			fields[key] = body[key]
		}
	}
	text, err := json.Marshal(fields, json.Deterministic(true))
	if err != nil {
		return update, err
	}
	update.Correction, err = ParseCorrection(text)
	return update, err
}

// parseChange parses a line with a change: the merchant and the reference of the order,
// its entity tag, and what ParseUpdate parses.
func parseChange(text []byte) (order.BatchChange, error) {
	body := strict.ParseBody(text, changeKeys...)
	change := order.BatchChange{
		MerchantID: body.Int("merchantId", 1, strict.MaxInt),
		Reference:  body.Valid("reference", order.ValidReference, "must be the reference of an order"),
	}
	err := body.Err()
	if err == nil {
		change.Update, err = ParseUpdate(body.Object)
	}
	if err == nil && body.Has("ifMatch") && !body.Null("ifMatch") {
		tags, _ := body.Object.Text("ifMatch") // any other type is no list of tags
		change.IfMatch, err = parseIfMatch(tags)
	}
	switch {
	case errors.Is(err, strict.ErrInvalidPayload):
		err = errors.New("the line is not a JSON object with the members of a change")
	case err == nil && change.To == 0 && change.Correction.Empty():
		err = errors.New("there is nothing to change: give state, or a field to correct")
	}
	return change, err
}

// parseIfMatch parses the entity tags of the version of an order that a line is about.
func parseIfMatch(text string) (func(order.LockedOrder) bool, error) {
	tags, err := etag.Parse([]string{text}, "ifMatch")
	if err != nil {
		return nil, err
	}
	return tags.MatchOrder, nil
}

// answer is a line with a merchant's answer to an order.
type answer struct {
	OrderReference string       `json:"orderReference"`
	Answer         string       `json:"answer"`
	Reason         order.Reason `json:"reason"`
	IfMatch        *string      `json:"ifMatch"`
}

// parseAnswer parses a line with an answer. Errors: *DocumentError, *strict.ParamError.
func parseAnswer(text []byte) (order.BatchChange, error) {
	var line answer
	if err := decode(text, &line); err != nil {
		if jsontext.Value(text).Kind() == '[' {
			err = &DocumentError{Problem: "not a JSON object: it is an array, which only a body with Content-Type: application/json may be"}
		}
		return order.BatchChange{}, err
	}
	change := order.BatchChange{Reference: line.OrderReference, Update: order.Update{Reason: line.Reason}}
	var problem strict.FirstError
	if !order.ValidReference(line.OrderReference) {
		problem.Refuse("orderReference", "must be the reference of an order")
	}
	switch line.Answer {
	case "accept":
		change.To = order.InProcessing
		if line.Reason != "" {
			problem.Refuse("reason", "must not be given with accept")
		}
	case "reject":
		change.To = order.RejectedByMerchant
		if !line.Reason.Valid() {
			problem.Refuse("reason", "must be one of "+order.ReasonNames())
		}
	default:
		problem.Refuse("answer", "must be accept or reject")
	}
	err := problem.Err()
	if err == nil && line.IfMatch != nil {
		change.IfMatch, err = parseIfMatch(*line.IfMatch)
	}
	return change, err
}
