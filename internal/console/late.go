package console

import (
	"strings"

	"merchantorders/internal/web"
)

// lateForm is the error of a form that came after its session had ended.
type lateForm struct{ view signInView }

// Error implements error.
func (*lateForm) Error() string { return "the session ended before the form was sent" }

// lateFields are the labels of the fields of forms that the sign-in shows again, and their names.
// What a person typed is lost otherwise. Secrets are none of them.
var lateFields = func() [][2]string {
	fields := [][2]string{
		{"merchants.id", "merchant"}, {"merchants.id", "id"}, {"merchants.name", "name"}, {"order.reference", "order"}, {"order.reference", "reference"},
		{"transition.to", "state"}, {"reject.reason", "reason"}, {"transition.other", "other"}, {"own.reference", merchantReferenceField}, {"own.note", merchantNoteField},
		{"people.name", "person"}, {"tokens.label", "label"}, {"tokens.scopes", "scope"}, {"tokens.lifetime", "days"}, {"webhooks.url", "url"},
		{"webhooks.description", "description"}, {"customer.email", "email"}, {"store.zone", "zone"}, {"store.slipname", "slipName"}, {"print.return", "returnAddress"}, {"store.link", "trackingLink"}, {"merchants.requests", "requests"}, {"merchants.burst", "burst"},
	}
	for _, c := range correctables {
		fields = append(fields, [2]string{c.label, c.name})
	}
	return fields
}()

// lateChoices are the fields whose values have messages, with what their keys begin with.
var lateChoices = map[string]string{"reason": "reason.", "state": "state.", "scope": "scope."}

// newLateForm returns the error for a form, with what was typed. It takes nothing from a
// form with files, which the person has.
func (s *site) newLateForm(r *web.Request) error {
	view := signInView{Next: s.pageOfForm(r.Request), Problem: "late.other"}
	if strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/") {
		view.Problem = "late.files"
		return &lateForm{view}
	}
	form, err := web.ReadForm(r, max(maxAllForm, maxCorrection))
	if err != nil {
		return err
	}
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
		label, name := typed[0], typed[1]
		values := form[name]
		for i, value := range values {
			if text, ok := messages()[l.code][lateChoices[name]+value]; ok && lateChoices[name] != "" {
				values[i] = text
			}
		}
		if name == "reason" && strings.HasPrefix(r.URL.Path, operatorPrefix) {
			label = "column.reason" // the customer does not read it
		}
		view.Typed.add(label, strings.Join(values, ", "))
	}
	return &lateForm{view}
}
