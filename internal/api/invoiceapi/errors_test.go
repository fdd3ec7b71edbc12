package invoiceapi

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"merchantorders/internal/metrics"
	"merchantorders/internal/order"
	"merchantorders/internal/strict"
	"merchantorders/internal/testenv"
	"merchantorders/internal/web"
)

func TestErrorEncoder(t *testing.T) {
	t.Parallel()
	disk := errors.New("no space left on device")
	tests := []struct {
		err     error
		status  int // 0: not an error of these endpoints
		message string
		result  metrics.UploadResult
	}{
		{order.ErrNotFound, 404, "The order with id 12 was not found", metrics.UploadRefused},
		{strict.ErrInvalidPayload, 400, "Invalid payload.", metrics.UploadRefused},
		{order.ErrUnsupportedFileType, 400, "The file type is not supported.", metrics.UploadRefused},
		{order.ErrFileTooBig, 400, "The file size is too big.", metrics.UploadRefused},
		{order.ErrTooManyFiles, 400, "You cannot upload more than 3 files.", metrics.UploadRefused},
		{order.ErrInvoiceNotFound, 404, "The invoice was not found.", metrics.UploadRefused},
		{ErrInvalidParams, 400, "Invalid request params.", metrics.UploadRefused},
		{order.ErrUploadFailed, 500, "There were errors during the upload.", metrics.UploadFailed},
		{errors.Join(order.ErrUploadFailed, disk), 500, "There were errors during the upload.", metrics.UploadFailed},
		{errors.Join(order.ErrUploadFailed, order.ErrUnavailable), 500, "There were errors during the upload.", metrics.UploadFailed},
		{errors.Join(order.ErrUploadFailed, order.ErrNotFound), 500, "There were errors during the upload.", metrics.UploadFailed},
		{order.ErrUnavailable, 0, "", metrics.UploadFailed},
		{order.ErrPreconditionFailed, 0, "", metrics.UploadRefused},
		{disk, 0, "", metrics.UploadFailed},
	}
	const fromNext = 599
	encode := ErrorEncoder("orderId", func(*http.Request, error) (int, any) { return fromNext, web.MessageBody{} })
	r := httptest.NewRequest("POST", "/orders/12/invoices", nil)
	r.SetPathValue("orderId", "12")
	for _, test := range tests {
		for _, err := range []error{test.err, fmt.Errorf("wrapped: %w", test.err)} {
			status, body := encode(r, err)
			want := test.status
			if want == 0 {
				want = fromNext
			}
			if status != want || body != (web.MessageBody{Message: test.message}) {
				t.Errorf("%v: %d %v, want %d %q", err, status, body, want, test.message)
			}
			testenv.Equal(t, fmt.Sprintf("%v: counted as", err), test.result, uploadResult(err))
		}
	}
}
