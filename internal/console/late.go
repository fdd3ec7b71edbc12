package console

import (
	"strings"

	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// lateForm is the error of a form that came after its session had ended.
type lateForm struct{ view signInView }

// Error implements error.
func (*lateForm) Error() string { return "the session ended before the form was sent" }

// lateFields are the fields of forms that the sign-in shows again, by the keys of their
// labels. What a person typed is lost otherwise.
var lateFields = []field{
	{"order.reference", "order"}, {"reject.reason", "reason"}, {"own.reference", merchantReferenceField}, {"own.note", merchantNoteField},
	{"tokens.label", "label"}, {"webhooks.url", "url"}, {"webhooks.description", "description"},
}

// newLateForm returns the error for a form, with what was typed. It takes nothing from a
// form with files, which the person has.
func (s *site) newLateForm(r *web.Request) error {
	if strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/") {
		return &web.RedirectError{To: s.signInURL(r.Request)}
	}
	form, err := web.ReadForm(r, web.MaxBody)
	if err != nil {
		return err
	}
	view := signInView{Next: s.pageOfForm(r.Request), Problem: "late.other"}
	switch {
	case strings.HasSuffix(r.URL.Path, "/accept") || form.Get("do") == "accept":
		view.Problem = "late.accept"
	case strings.HasSuffix(r.URL.Path, "/reject") || form.Get("do") == "reject":
		view.Problem = "late.reject"
	}
	for _, typed := range lateFields {
		value := strings.Join(form[typed.Value], ", ")
		if reason := order.Reason(value); typed.Value == "reason" && reason.Valid() && reason != "" {
			value = languageOf(r.Request).text("reason." + value)
		}
		if value != "" {
			view.Typed = append(view.Typed, field{typed.Label, value})
		}
	}
	return &lateForm{view}
}
