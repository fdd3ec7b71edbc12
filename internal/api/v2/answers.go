package v2

import (
	"mime"
	"net/http"

	"merchantorders/internal/api/bulkapi"
	"merchantorders/internal/ingest"
	"merchantorders/internal/web"
)

// answerRefusals are the errors of answerOrders alone.
var answerRefusals = web.CodedRefusals{
	{
		Err: bulkapi.ErrNoArray, Status: http.StatusBadRequest, Code: "invalid_payload",
		Message: "The body must be an array of at most 100 answers and 64 KiB. Send more as " + web.LinesType + ".",
	},
}

// answerOrders serves POST /orders/answers: answers of the merchant, as a JSON array if the
// body says that it is JSON, and otherwise one a line.
func (a API) answerOrders(s *web.Stream) error {
	key, err := bulkapi.Key(s)
	if err != nil {
		return err
	}
	lines := ingest.Answers(a.Orders, s.Caller, key)
	// A type without its parameters is returned beside the error of wrong ones.
	if mediaType, _, _ := mime.ParseMediaType(s.Header.Get("Content-Type")); mediaType == "application/json" {
		return bulkapi.ServeArray(s, lines)
	}
	return bulkapi.Serve(s, lines, key)
}
