package console

import (
	"strings"

	"merchantorders/internal/web"
)

// lateForm is the error of a form that came after its session had ended.
type lateForm struct{ view signInView }

// Error implements error.
func (*lateForm) Error() string { return "the session ended before the form was sent" }

// lateField is a field of a form, by its name, with the key of its label.
type lateField struct{ Label, Value string }

// lateFields are the fields of forms that the sign-in shows again, by the keys of their
// labels. What a person typed is lost otherwise. Secrets are none of them.
var lateFields = func() []lateField {
	fields := []lateField{
		{"merchants.id", "merchant"}, {"merchants.id", "id"}, {"merchants.name", "name"}, {"order.reference", "order"}, {"order.reference", "reference"},
		{"transition.to", "state"}, {"reject.reason", "reason"}, {"transition.other", "other"}, {"own.reference", merchantReferenceField}, {"own.note", merchantNoteField},
		{"people.name", "person"}, {"tokens.label", "label"}, {"tokens.scopes", "scope"}, {"tokens.lifetime", "days"}, {"webhooks.url", "url"},
		{"webhooks.description", "description"}, {"customer.email", "email"}, {"store.zone", "zone"}, {"store.slipname", "slipName"}, {"print.return", "returnAddress"}, {"store.link", "trackingLink"}, {"merchants.requests", "requests"}, {"merchants.burst", "burst"},
	}
	for _, c := range correctables {
		fields = append(fields, lateField{c.label, c.name})
	}
	return fields
}()

// lateChoices are the fields whose values have messages, with what their keys begin with.
var lateChoices = map[string]string{"reason": "reason.", "state": "state.", "scope": "scope."}

// newLateForm returns the error for a form, with what was typed. It takes nothing from a
// form with files, which the person has.
func (s *site) newLateForm(r *web.Request) error {
	if strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/") {
		return &lateForm{signInView{Next: s.pageOfForm(r.Request), Problem: "late.files"}}
	}
	limit := int64(web.MaxBody)
	if r.URL.Path == queuePath {
		limit = maxAllForm
	}
	form, err := web.ReadForm(r, limit)
	if err != nil {
		return err
	}
	view := signInView{Next: s.pageOfForm(r.Request), Problem: "late.other"}
	switch {
	case strings.HasPrefix(r.URL.Path, operatorPrefix+"/orders/"):
		view.Problem = "late.order"
	case strings.HasSuffix(r.URL.Path, "/accept") || form.Get("do") == "accept":
		view.Problem = "late.accept"
	case strings.HasSuffix(r.URL.Path, "/reject") || form.Get("do") == "reject":
		view.Problem = "late.reject"
	}
	l := languageOf(r.Request)
	for _, typed := range lateFields {
		values := form[typed.Value]
		for i, value := range values {
			if text, ok := messages()[l.code][lateChoices[typed.Value]+value]; ok && lateChoices[typed.Value] != "" {
				values[i] = text
			}
		}
		if typed.Value == "reason" && strings.HasPrefix(r.URL.Path, operatorPrefix) {
			typed.Label = "column.reason" // the customer does not read it
		}
		if value := strings.Join(values, ", "); value != "" {
			view.Typed = append(view.Typed, field{Label: typed.Label, Value: value})
		}
	}
	return &lateForm{view}
}
