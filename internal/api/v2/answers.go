package v2

import (
	"errors"
	"mime"
	"net/http"

	"merchantorders/internal/api/bulkapi"
	"merchantorders/internal/ingest"
	"merchantorders/internal/web"
)

// errAnswersType: the body has another type than those that answerOrders knows.
var errAnswersType = errors.New("the body is neither NDJSON nor JSON")

// answerRefusals are the errors of answerOrders alone.
var answerRefusals = web.CodedRefusals{
	{
		Err: bulkapi.ErrNoArray, Status: http.StatusBadRequest, Code: "invalid_payload",
		Message: "The body must be an array of at most 100 answers and 64 KiB. Send more as " + web.LinesType + ".",
	},
	{
		Err: errAnswersType, Status: http.StatusUnsupportedMediaType, Code: "unsupported_media_type",
		Message: "Content-Type must be " + web.LinesType + ", or application/json for an array of at most 100 answers.",
	},
}

// answerOrders serves POST /orders/answers: answers of the merchant, one a line or as an
// array.
func (a API) answerOrders(s *web.Stream) error {
	key, err := bulkapi.Key(s)
	if err != nil {
		return err
	}
	lines := ingest.Answers(a.Orders, s.Caller, key)
	// A type without its parameters is returned beside the error of wrong ones.
	switch mediaType, _, _ := mime.ParseMediaType(s.Header.Get("Content-Type")); mediaType {
	case web.LinesType:
		return bulkapi.Serve(s, lines, key)
	case "application/json":
		return bulkapi.ServeArray(s, lines)
	}
	return errAnswersType
}
