package invoiceapi

import (
	"errors"
	"fmt"
	"testing"

	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

func TestRefusal(t *testing.T) {
	t.Parallel()
	disk := errors.New("no space left on device")
	tests := []struct {
		err     error
		status  int // 0: not one of these endpoints'
		message string
		result  web.UploadResult
	}{
		{order.ErrNotFound, 404, "The order with id 12 was not found", web.UploadRefused},
		{web.ErrInvalidPayload, 400, "Invalid payload.", web.UploadRefused},
		{order.ErrUnsupportedFileType, 400, "The file type is not supported.", web.UploadRefused},
		{order.ErrFileTooBig, 400, "The file size is too big.", web.UploadRefused},
		{order.ErrTooManyFiles, 400, "You cannot upload more than 3 files.", web.UploadRefused},
		{order.ErrInvoiceNotFound, 404, "The invoice was not found.", web.UploadRefused},
		{errParams, 400, "Invalid request params.", web.UploadRefused},
		{order.ErrUploadFailed, 500, "There were errors during the upload.", web.UploadFailed},
		{errors.Join(order.ErrUploadFailed, disk), 500, "There were errors during the upload.", web.UploadFailed},
		{errors.Join(order.ErrUploadFailed, order.ErrUnavailable), 500, "There were errors during the upload.", web.UploadFailed},
		{errors.Join(order.ErrUploadFailed, order.ErrNotFound), 500, "There were errors during the upload.", web.UploadFailed},
		{order.ErrUnavailable, 0, "", web.UploadFailed},
		{disk, 0, "", web.UploadFailed},
	}
	for _, test := range tests {
		for _, err := range []error{test.err, fmt.Errorf("wrapped: %w", test.err)} {
			got := refusal(err, "12")
			if !errors.Is(got, test.err) {
				t.Errorf("%v: the error is lost", err)
			}
			var known *Error
			switch ok := errors.As(got, &known); {
			case ok != (test.status != 0):
				t.Errorf("%v: known %v", err, ok)
			case ok && (known.Status != test.status || known.Message != test.message):
				t.Errorf("%v: %d %q, want %d %q", err, known.Status, known.Message, test.status, test.message)
			}
			if result(got) != test.result {
				t.Errorf("%v: counted as %s, want %s", err, result(got), test.result)
			}
		}
	}
}
