package order

import "errors"

// The refusals that a caller can distinguish with errors.Is. Each version writes
// its own text for clients in its errors.go; the texts here are for the log and
// the command line. Any other error is a failure of the service.
var (
	// ErrNotFound: the order does not exist or belongs to another merchant (spec
	// 5).
	ErrNotFound = errors.New("order not found")
	// ErrCannotAccept and ErrCannotReject: the state does not allow it.
	ErrCannotAccept = errors.New("the order cannot be accepted in its current state")
	ErrCannotReject = errors.New("the order cannot be rejected in its current state")
	// ErrInvalidTransition: the operator asked for a transition that decision 2
	// does not list.
	ErrInvalidTransition = errors.New("the order cannot make this transition from its current state")
	// ErrInvalidReason: the reason is not one of Reasons, or not Reason.ValidFor a
	// state.
	ErrInvalidReason = errors.New("the reason is not one of the allowed reasons")
	// ErrErased: the personal data of the order is erased, and cannot be corrected.
	ErrErased = errors.New("the personal data of the order is erased and cannot be set again")
	// ErrInvalidRange: the date range of a filter ends before it begins.
	ErrInvalidRange = errors.New("the range ends before it begins")
	// ErrInvalidSearch: a text of a search is too long or no UTF-8, or texts are
	// combined with another order than by creation.
	ErrInvalidSearch = errors.New("the search is not valid")

	// ErrPreconditionFailed: the order does not match If-Match.
	ErrPreconditionFailed = errors.New("the order has changed")
	// ErrIdempotencyKeyReused: the key belongs to another request.
	ErrIdempotencyKeyReused = errors.New("the idempotency key was used for another request")
	// ErrIdempotencyKeyInUse: the first request with the key is still running.
	ErrIdempotencyKeyInUse = errors.New("the first request with this idempotency key is still running")
	// ErrTooManyIdempotencyKeys: the merchant has MaxIdempotencyRecords records.
	ErrTooManyIdempotencyKeys = errors.New("the merchant has used too many idempotency keys")

	// ErrInvoiceNotFound: the order or the invoice does not exist, belongs to
	// another merchant or another order, or the invoice is deleted.
	ErrInvoiceNotFound = errors.New("invoice not found")
	// ErrInvoiceDamaged: the file of an active invoice is missing, or does not have
	// the uploaded content. It is a fault of the service.
	ErrInvoiceDamaged = errors.New("damaged")
	// ErrUnsupportedFileType: the extension is not an allowed one.
	ErrUnsupportedFileType = errors.New("the file type is not supported")
	// ErrEmptyFile: there is no content. In the interfaces it is a body that is not valid.
	ErrEmptyFile = errors.New("the file is empty")
	// ErrContentUnread: the content of a file did not arrive completely.
	ErrContentUnread = errors.New("the content of the file could not be read")
	// ErrFileTooBig: the content is larger than MaxInvoiceSize.
	ErrFileTooBig = errors.New("the file is too big")
	// ErrTooManyFiles: the order has MaxInvoices active or reserved files,
	// or has had MaxInvoicesEver.
	ErrTooManyFiles = errors.New("the order has the maximum number of invoice files")
	// ErrUploadFailed: the file could not be stored. Nothing of it remains.
	ErrUploadFailed = errors.New("the file could not be stored")
	// ErrOutcomeUnknown: the file may be stored, now or later.
	ErrOutcomeUnknown = errors.New("it is not known whether the file was stored")

	// ErrUnavailable: the database or the file storage is unavailable; the
	// request may be retried.
	ErrUnavailable = errors.New("unavailable")
	// ErrOtherHistory: a cursor of the marketplace's feed is of another history, or its
	// event is gone.
	ErrOtherHistory = errors.New("the cursor is of another history of the events")
	// ErrOnCluster: it is not possible on a cluster.
	ErrOnCluster = errors.New("not possible on a cluster")
	// ErrMerchantNotFound: there is no merchant with that id.
	ErrMerchantNotFound = errors.New("there is no merchant with that id")
	// ErrMerchantExists: a merchant with that id but another name exists.
	ErrMerchantExists = errors.New("a merchant with that id and another name exists")
)
