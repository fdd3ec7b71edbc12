package token

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"merchantorders/internal/order"
)

const (
	// MaxLabel is the longest label, in characters.
	MaxLabel = 100
	// MaxPage is the maximum of Filter.Limit.
	MaxPage = 1000
)

// Validity is whether a token can be used.
type Validity uint8

// The validities.
const (
	AnyValidity Validity = iota
	Active
	Expired // and not revoked
	Revoked
)

// ValidityNames are the names of all but AnyValidity, from Active on.
var ValidityNames = []string{"active", "expired", "revoked"}

// ParseValidity returns the validity with a name, AnyValidity for the empty name.
func ParseValidity(name string) (validity Validity, ok bool) {
	for i, n := range ValidityNames {
		if n == name {
			return Active + Validity(i), true
		}
	}
	return AnyValidity, name == ""
}

// Filter selects tokens. The zero filter selects all.
type Filter struct {
	Operator   bool  // only those of operators
	MerchantID int64 // only those of this merchant; 0: of all
	Validity   Validity
	Label      string      // only those whose label begins so; case-sensitive
	Scopes     order.Scope // only those that have all of these
	IDs        []int64     // only these; nil: all
	After      int64       // id of the last token of the page before; 0: none
	Passkeys   bool        // only passkeys
	Limit      int         // up to MaxPage; 0: all
}

// List returns the tokens of a filter, by id.
func (r *Registry) List(ctx context.Context, filter Filter) ([]Token, error) {
	return r.store.Tokens(ctx, filter, r.now())
}

// Labels returns the labels of those of the tokens that have one, by id. A merchant's id
// leaves out the tokens of others; 0 leaves out none. The audit log has those of deleted tokens.
func (r *Registry) Labels(ctx context.Context, merchantID int64, ids []int64) (map[int64]string, error) {
	labels := make(map[int64]string)
	if len(ids) == 0 {
		return labels, nil
	}
	tokens, err := r.List(ctx, Filter{MerchantID: merchantID, IDs: ids})
	deleted := slices.Clone(ids)
	for _, t := range tokens {
		if t.Label != "" && t.Label != linkLabel {
			labels[t.ID] = t.Label
		}
		deleted = slices.DeleteFunc(deleted, func(id int64) bool { return id == t.ID })
	}
	if err != nil || len(deleted) == 0 {
		return labels, err
	}
	details, err := r.store.CreationDetails(ctx, merchantID, deleted)
	for id, detail := range details {
		if label := nameIn(detail); label != "" {
			labels[id] = label
		}
	}
	return labels, err
}

// LabelProblem returns what is wrong with a label, as a phrase that follows the name of
// the field. It returns "" for a valid label; the empty one is valid.
func LabelProblem(label string) string {
	problem := order.LineProblem(label, MaxLabel, order.Characters)
	switch {
	case problem != "" || label == "":
		return problem
	case strings.ContainsFunc(label, turnsText):
		return "must be on one line, without control characters"
	case !strings.ContainsFunc(label, func(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) }):
		return "must have a character that can be seen" // nobody can tell who it is
	}
	return ""
}

// turnsText reports whether a character turns the direction of the text around it: the log
// and programs show a label among other words.
func turnsText(r rune) bool {
	return '\u202a' <= r && r <= '\u202e' || '\u2066' <= r && r <= '\u2069'
}
