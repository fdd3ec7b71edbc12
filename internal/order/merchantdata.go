package order

import (
	"context"
	"strings"
	"unicode"
)

// MerchantData is what a merchant stores with an order for itself. Only the merchant sees
// it: not the marketplace, and not version 1.
type MerchantData struct {
	Reference *string // the merchant's own number of the order; nil: none
	Note      *string // nil: none
}

// Limits of MerchantData, in characters.
const (
	MaxMerchantReference = 64
	MaxMerchantNote      = 1000
)

// MerchantDataUpdate is the fields of MerchantData that a merchant changes. An empty text
// removes the field.
type MerchantDataUpdate struct {
	Reference, Note Field[*string]
}

// MerchantReferenceProblem returns what is wrong with a merchant's own number, as a phrase
// that follows the name of the field. It returns "" for a valid one.
func MerchantReferenceProblem(text string) string {
	return LineProblem(text, MaxMerchantReference, Characters)
}

// MerchantNoteProblem is MerchantReferenceProblem for a note, which may have several lines.
func MerchantNoteProblem(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && !strings.ContainsRune("\t\r\n", r) }) {
		return "must be text without control characters"
	}
	return textProblem(text, MaxMerchantNote, Characters)
}

// Apply sets the fields. It returns the names that those whose value changes have in
// version 2.
func (u MerchantDataUpdate) Apply(d *MerchantData) (changed []string) {
	if apply(&d.Reference, u.Reference, equalTexts) {
		changed = append(changed, "merchantReference")
	}
	if apply(&d.Note, u.Note, equalTexts) {
		changed = append(changed, "merchantNote")
	}
	return changed
}

// UpdateMerchantData changes what the caller's merchant stores with an order, in any state.
// The update time of the order stays: it is that of the order itself. Values that the
// order has already are no change. Errors, in addition to those of Change: ErrNotFound,
// ErrPreconditionFailed.
func (s *Service) UpdateMerchantData(ctx context.Context, caller Caller, id Identifier, update MerchantDataUpdate, options Options[WriteResult]) (WriteResult, error) {
	for _, field := range []*Field[*string]{&update.Reference, &update.Note} {
		if field.Value != nil && *field.Value == "" {
			field.Value = nil
		}
	}
	return s.write(ctx, caller, caller.MerchantID, id, options, func(tx Tx, locked LockedOrder) (WriteResult, error) {
		changed, err := tx.UpdateMerchantData(ctx, locked, update, Cause{By: caller, At: s.Now()})
		if len(changed) > 0 {
			locked.Revision = locked.NextRevision
		}
		return WriteResult{LockedOrder: locked}, err
	})
}

// MaxByMerchantReference is how many orders ByMerchantReference returns.
const MaxByMerchantReference = 100

// ByMerchantReference returns the orders of a merchant whose own number is exactly this
// one, the newest first, and at most MaxByMerchantReference of them, with the version of
// the data. A number that no order can have has none, whatever the version.
func (s *Service) ByMerchantReference(ctx context.Context, merchantID int64, number string) ([]Summary, DataVersion, error) {
	if number == "" || MerchantReferenceProblem(number) != "" {
		return nil, DataVersion{}, nil
	}
	return s.store.ByMerchantReference(ctx, merchantID, number, MaxByMerchantReference)
}
