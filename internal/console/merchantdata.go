package console

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// The fields of the form with the merchant's own data.
const (
	merchantReferenceField = "merchantReference"
	merchantNoteField      = "merchantNote"
)

// merchantDataFields returns the inputs of the form with the merchant's own data.
func merchantDataFields(form formView) []fieldView {
	return []fieldView{
		newField(form, merchantReferenceField, "own.reference", "text"),
		newField(form, merchantNoteField, "own.note", areaKind),
	}
}

// merchantDataValues returns the values of the form for an order.
func merchantDataValues(data order.MerchantData) url.Values {
	return url.Values{merchantReferenceField: {order.TextOf(data.Reference)}, merchantNoteField: {order.TextOf(data.Note)}}
}

// readMerchantData returns the merchant's own data of a form, with what is wrong in it.
func readMerchantData(values url.Values) (order.MerchantDataUpdate, formView) {
	form := newForm(values)
	reference, note := strings.TrimSpace(form.Value(merchantReferenceField)), strings.ReplaceAll(form.Value(merchantNoteField), "\r\n", "\n")
	if order.MerchantReferenceProblem(reference) != "" {
		form.refuse(merchantReferenceField, "own.reference.refused")
	}
	if order.MerchantNoteProblem(note) != "" {
		form.refuse(merchantNoteField, "own.note.refused")
	}
	return order.MerchantDataUpdate{Reference: order.To(&reference), Note: order.To(&note)}, form
}

// changeMerchantData serves POST /orders/{reference}/own.
func (s *site) changeMerchantData(w http.ResponseWriter, r *web.Request, values url.Values) error {
	update, form := readMerchantData(values)
	if !form.valid() {
		return s.showOrder(w, r, http.StatusBadRequest, orderView{Own: form})
	}
	_, err := s.Orders.UpdateMerchantData(r.Context(), r.Caller, order.ByReference(r.PathValue("reference")), update, web.FormOptions[order.WriteResult](r))
	switch err = replayed(err); {
	case errors.Is(err, order.ErrPreconditionFailed):
		return s.showConflict(w, r, form)
	case err != nil:
		return err
	}
	return s.toOrder(w, r, "saved")
}
