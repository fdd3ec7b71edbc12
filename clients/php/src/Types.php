<?php

// Code generated from openapi/v2.yaml by scripts/generate. DO NOT EDIT.

declare(strict_types=1);

namespace MerchantOrders;

/**
 * The shapes of the interface, for PHPStan and Psalm: `@phpstan-import-type Order from Types`.
 *
 * The body of an error.
 * @phpstan-type ErrorResponse object{
 *   error: ErrorBody,
 * }
 *
 * What is wrong.
 * @phpstan-type ErrorBody object{
 *   code: ErrorCode,
 *   message: string,
 * }
 *
 * The reason, for programs. Codes may be added; `x-error-codes` of an operation has its own.
 * @phpstan-type ErrorCode '10301'|'10303'|'10304'|'10305'|'10306'|'forbidden'|'idempotency_key_reused'|'idempotency_key_running'|'internal'|'invalid_params'|'invalid_payload'|'merchant_suspended'|'method_not_allowed'|'not_found'|'precondition_failed'|'too_many_failed_sign_ins'|'too_many_requests'|'too_many_tokens'|'too_many_webhooks'|'unauthorized'|'unavailable'|'unsupported_encoding'|'webhook_busy'|string
 *
 * The body of every error of uploading, deleting and linking invoice files.
 * @phpstan-type FlatError object{
 *   message: string,
 * }
 *
 * Events, oldest first, and where the feed ends.
 * @phpstan-type Feed object{
 *   events: list<Event>,
 *   next: int,
 *   newest: int,
 *   history: string,
 *   problem?: string,
 * }
 *
 * Events, oldest first.
 * @phpstan-type EventList object{
 *   events: list<Event>,
 *   next: int,
 * }
 *
 * One change, of an order unless the type is `webhook.failed` or `webhook.failing`; or the test of a webhook,
 * which is not in the feed.
 * @phpstan-type Event object{
 *   seq: int,
 *   type: EventType,
 *   orderReference: string,
 *   orderId: int,
 *   at: string,
 *   actor: Actor,
 *   tokenId: int|null,
 *   requestId: string|null,
 *   data: EventData,
 *   order?: Order|null,
 *   orderProblem?: string,
 *   history?: string,
 * }
 *
 * Type of the event. Types may be added.
 * @phpstan-type EventType 'order.created'|'order.state_changed'|'order.updated'|'invoice.uploaded'|'invoice.deleted'|'order.deleted'|'webhook.failed'|'order.deadline_near'|'webhook.failing'|'webhook.test'|string
 *
 * Who made the change.
 * @phpstan-type Actor 'merchant'|'operator'|'system'
 *
 * Depends on the type of the event. Types and fields may be added.
 * @phpstan-type EventData OrderCreatedData|OrderStateChangedData|OrderUpdatedData|InvoiceData|WebhookFailedData|DeadlineNearData|\stdClass
 *
 * Of `order.created`.
 * @phpstan-type OrderCreatedData object{
 *   state: State,
 * }
 *
 * Of `order.state_changed`.
 * @phpstan-type OrderStateChangedData object{
 *   from: State,
 *   to: State,
 *   reason: string|null,
 * }
 *
 * Of `invoice.uploaded` and `invoice.deleted`.
 * @phpstan-type InvoiceData object{
 *   invoiceId: int,
 *   filename: string,
 * }
 *
 * Of `webhook.failed` and `webhook.failing`.
 * @phpstan-type WebhookFailedData object{
 *   webhookId: int,
 *   reason: string,
 * }
 *
 * Of `order.deadline_near`.
 * @phpstan-type DeadlineNearData object{
 *   expiresAt: string,
 * }
 *
 * Of `order.updated`.
 * @phpstan-type OrderUpdatedData object{
 *   fields: list<string>,
 * }
 *
 * Of all other types. It is empty for `order.deleted` and `webhook.test`.
 * @phpstan-type OtherData \stdClass
 *
 * A day, `YYYY-MM-DD`, or a date with a time, with or without a fraction and an offset, which means its day in
 * UTC.
 * @phpstan-type DayOrTime string
 *
 * A time, `YYYY-MM-DD HH:MM:SS`, UTC.
 * @phpstan-type Moment string
 *
 * A time, `YYYY-MM-DD HH:MM:SS`, UTC; null if there is none.
 * @phpstan-type MomentOrNull string|null
 *
 * An amount in the currency's minor unit, cents for EUR.
 * @phpstan-type Amount int
 *
 * Currency of the order's amounts, ISO 4217.
 * @phpstan-type Currency string
 *
 * State of the order. A merchant changes the state `registered` by accept or reject. The marketplace makes the
 * other transitions.
 * @phpstan-type State 'registered'|'in-processing'|'ready-for-shipment'|'picked-by-courier'|'delivered-to-pickup-point'|'delivery-failed'|'rejected-by-merchant'|'canceled'|'completed'|'delivered-to-customer'|'return-canceled'
 *
 * Reference of the order: 1 to 64 of `A-Z a-z 0-9 . _ -`, the first a letter or digit.
 * @phpstan-type Reference string
 *
 * A page of orders.
 * @phpstan-type OrderList object{
 *   params: Filters,
 *   orders: list<OrderSummary>,
 * }
 *
 * Effective filters.
 * @phpstan-type Filters object{
 *   page: int,
 *   itemsPerPage: int,
 *   totalItems: int,
 *   status: 'registered'|'in-processing'|'ready-for-shipment'|'picked-by-courier'|'delivered-to-pickup-point'|'delivery-failed'|'rejected-by-merchant'|'canceled'|'completed'|'delivered-to-customer'|'return-canceled'|null,
 *   dateFrom: string,
 *   dateTo: string,
 * }
 *
 * An order in a list.
 * @phpstan-type OrderSummary object{
 *   id: string,
 *   state: State,
 *   countryCode: string,
 *   hasInvoice: bool,
 *   totalItemsAmount: int,
 *   currency: string,
 *   createdAt: string,
 *   updatedAt: string|null,
 *   customer: Customer,
 * }
 *
 * An order that waits to be accepted or rejected, as in a list, with its deadline and its lines.
 * @phpstan-type UnansweredOrder object{
 *   id: string,
 *   state: State,
 *   countryCode: string,
 *   hasInvoice: bool,
 *   totalItemsAmount: int,
 *   currency: string,
 *   createdAt: string,
 *   updatedAt: string|null,
 *   customer: Customer,
 *   expiresAt: string|null,
 *   secondsLeft: int|null,
 *   lineItems: list<LineItem>,
 * }
 *
 * Customer.
 * @phpstan-type Customer object{
 *   userId: int,
 *   email: string,
 *   phone: string|null,
 *   firstName: string,
 *   lastName: string,
 * }
 *
 * A single order.
 * @phpstan-type Order object{
 *   id: string,
 *   state: State,
 *   countryCode: string,
 *   hasInvoice: bool,
 *   subTotalItemsAmount: int,
 *   totalItemsAmount: int,
 *   currency: string,
 *   createdAt: string,
 *   updatedAt: string|null,
 *   expiresAt: string|null,
 *   dispatchUntil: string|null,
 *   customer: Customer,
 *   addressDetails: Address,
 *   invoiceDetails: InvoiceDetails|null,
 *   invoices: list<Invoice>,
 *   carrier: Carrier,
 *   payment: Payment,
 *   lineItems: list<LineItem>,
 *   shippingAmount?: int,
 *   shippingVatRate?: string,
 *   merchantReference?: string,
 *   merchantNote?: string,
 * }
 *
 * The shipping address. Unknown parts are empty.
 * @phpstan-type Address object{
 *   street: string,
 *   streetNumber: string,
 *   postCode: string,
 *   city: string,
 *   region: string,
 *   regionCode: string,
 *   country: string,
 *   countryCode: string,
 * }
 *
 * Carrier.
 * @phpstan-type Carrier object{
 *   shipmentId: int,
 *   name: string,
 *   deliveryName: string,
 *   deliveryKey: string,
 *   trackingCodes: string,
 *   comments: string|null,
 *   deliveryToCourierEstimationDate: string|null,
 *   deliveryToCustomerEstimationDate: string|null,
 * }
 *
 * Payment.
 * @phpstan-type Payment object{
 *   name: string,
 * }
 *
 * The invoice that the customer requested at checkout. Null means unknown.
 * @phpstan-type InvoiceDetails object{
 *   doy: string|null,
 *   doyName: string|null,
 *   vatNumber: string,
 *   company: string|null,
 *   occupation: string|null,
 *   address: string|null,
 *   postCode: string|null,
 *   city: string|null,
 *   article39: string|null,
 *   article39Eligible: string|bool|null,
 *   article39IdentityType: string|null,
 *   article39IdentityNo: string|null,
 *   article39MobilePhone: string|null,
 *   article39Otp: string|null,
 *   article39Valid: string|bool|null,
 * }
 *
 * Percent, 0 to 100, as imported.
 * @phpstan-type VATRate string
 *
 * One line of an order.
 * @phpstan-type LineItem object{
 *   id: int,
 *   sku: string,
 *   merchantEan: string,
 *   merchantSku: string,
 *   productName: string,
 *   unitPrice: int,
 *   originalUnitPrice: int,
 *   totalPrice: int,
 *   quantity: int,
 *   sfArticle39Valid: bool,
 *   giftWrap: bool,
 *   extendedAttributes: list<mixed>,
 *   vatRate?: string,
 * }
 *
 * An invoice file.
 * @phpstan-type Invoice object{
 *   id: int,
 *   url: string,
 *   created_at: string,
 *   kind?: string,
 *   number?: string,
 *   mark?: string,
 *   link?: string,
 * }
 *
 * What is the merchant's own. Null and empty text remove it.
 * @phpstan-type OrderUpdate object{
 *   merchantReference?: string|null,
 *   merchantNote?: string|null,
 * }
 *
 * The reason of the rejection. Unknown keys are ignored.
 * @phpstan-type Rejection object{
 *   status?: 'D',
 *   reason?: Reason|null,
 * }
 *
 * The reason. Null and empty text mean none.
 * @phpstan-type Reason 'out-of-stock'|'damaged'|'wrong-price'|'disabled-product'|'wrong-product'
 *
 * The answer to an order.
 * @phpstan-type Answer object{
 *   orderReference: string,
 *   answer: Decision,
 *   reason?: Reason|null,
 *   ifMatch?: string|null,
 * }
 *
 * What to do.
 * @phpstan-type Decision 'accept'|'reject'
 *
 * What became of the answers of an array.
 * @phpstan-type AnswerResults object{
 *   results: list<AnswerResult>,
 *   summary: AnswerCounts,
 * }
 *
 * The number of answers by status.
 * @phpstan-type AnswerCounts object{
 *   changed: int,
 *   unchanged: int,
 *   refused: int,
 *   not_found: int,
 *   invalid: int,
 * }
 *
 * What became of an answer.
 * @phpstan-type AnswerResult object{
 *   line: int,
 *   merchantId?: int,
 *   reference?: string,
 *   status: AnswerStatus,
 *   state?: string,
 *   problem?: string,
 *   replayed?: bool,
 * }
 *
 * What became of it.
 * @phpstan-type AnswerStatus 'changed'|'unchanged'|'refused'|'not_found'|'invalid'
 *
 * A line of the response to answers in lines.
 * @phpstan-type AnswerLine AnswerResult|BulkProgress|AnswerSummary
 *
 * A line that says how far the request got, with `results=problems`.
 * @phpstan-type BulkProgress object{
 *   progress: Progress,
 * }
 *
 * How far the request got.
 * @phpstan-type Progress object{
 *   lastLine: int,
 * }
 *
 * The last line of the response to answers in lines.
 * @phpstan-type AnswerSummary object{
 *   summary: AnswerCounts,
 *   complete: bool,
 *   lastLine: int,
 *   problem: string|null,
 * }
 *
 * A line of an export.
 * @phpstan-type ExportLine Order|DamagedOrder|ExportSummary
 *
 * Stands for an order whose stored data is damaged.
 * @phpstan-type DamagedOrder object{
 *   id: string,
 *   problem: string,
 * }
 *
 * The last line of an export.
 * @phpstan-type ExportSummary object{
 *   summary: ExportCounts,
 *   complete: bool,
 *   after?: int,
 *   history?: string,
 *   problem?: string,
 * }
 *
 * What the export has.
 * @phpstan-type ExportCounts object{
 *   orders: int,
 * }
 *
 * @phpstan-type Success object{
 *   success: bool,
 * }
 *
 * An invoice file to upload. Unknown keys are ignored.
 * @phpstan-type Upload object{
 *   filename: string,
 *   contentBase64: string,
 *   kind?: InvoiceKind,
 *   number?: string|null,
 *   mark?: string|null,
 *   link?: string|null,
 * }
 *
 * The same as `multipart/form-data`, a third smaller. Unknown parts are ignored. An `Idempotency-Key` recognizes
 * the form, whatever its boundary.
 * @phpstan-type UploadForm object{
 *   file: string,
 *   kind?: InvoiceKind,
 *   number?: string|null,
 *   mark?: string|null,
 *   link?: string|null,
 * }
 *
 * What the document is; an invoice if absent.
 * @phpstan-type InvoiceKind 'invoice'|'credit-note'|'receipt'|null
 *
 * The document's number, on one line, not of spaces only.
 * @phpstan-type InvoiceNumber string|null
 *
 * The tax authority's id of the document (MARK of myDATA).
 * @phpstan-type InvoiceMark string|null
 *
 * Where the document is too, such as at the provider that issued it.
 * @phpstan-type InvoiceAddress string|null
 *
 * @phpstan-type Uploaded object{
 *   message: 'success',
 *   invoice: Invoice,
 * }
 *
 * @phpstan-type Withdrawn object{
 *   message: 'success',
 *   invoices: list<Invoice>,
 * }
 *
 * @phpstan-type InvoiceLink object{
 *   url: string,
 *   expiresAt: string,
 * }
 *
 * A time, RFC 3339, UTC.
 * @phpstan-type Time string
 *
 * A time, RFC 3339, UTC; null if there is none.
 * @phpstan-type TimeOrNull string|null
 *
 * `orders:read`: lists, single orders, events, files. `orders:write`: accept and reject. `invoices:write`:
 * upload and deletion of invoice files. `tokens`: the merchant's tokens. `webhooks`: its webhooks.
 * @phpstan-type Scope 'orders:read'|'orders:write'|'invoices:write'|'tokens'|'webhooks'
 *
 * A token without its text.
 * @phpstan-type Token object{
 *   id: int,
 *   scopes: list<Scope>,
 *   label: string|null,
 *   hint: string,
 *   createdAt: string,
 *   createdBy: int|null,
 *   expiresAt: string|null,
 *   revokedAt: string|null,
 *   lastUsedAt: string|null,
 *   lastUsedFrom: string|null,
 *   current: bool,
 * }
 *
 * The token to create.
 * @phpstan-type TokenRequest object{
 *   scopes?: list<Scope>,
 *   expires?: string,
 *   label?: string|null,
 * }
 *
 * The value of `after` for the next page; null: there is none.
 * @phpstan-type NextToken int|null
 *
 * Address of the endpoint: `https`, a public host name or address, port 443 or 8443, without user name and
 * fragment.
 * @phpstan-type WebhookURL string
 *
 * Types of the events that are delivered; empty means all, also those that later versions add.
 * @phpstan-type WebhookTypes list<'order.created'|'order.state_changed'|'order.updated'|'invoice.uploaded'|'invoice.deleted'|'order.deleted'|'webhook.failed'|'order.deadline_near'|'webhook.failing'|string>
 *
 * A name for people, on one line, of at most 200 bytes.
 * @phpstan-type WebhookDescription string
 *
 * An endpoint that receives the events of a merchant. Its secret is not shown.
 * @phpstan-type Webhook object{
 *   id: int,
 *   merchantId: int,
 *   url: string,
 *   description: string,
 *   types: list<'order.created'|'order.state_changed'|'order.updated'|'invoice.uploaded'|'invoice.deleted'|'order.deleted'|'webhook.failed'|'order.deadline_near'|'webhook.failing'|string>,
 *   include: WebhookInclude,
 *   batch: int,
 *   headerNames: list<string>,
 *   username: string|null,
 *   state: WebhookState,
 *   reason: string|null,
 *   stateChangedAt: string|null,
 *   createdAt: string,
 *   oldSecretUntil: string|null,
 *   acknowledged: int,
 *   failures: int,
 *   failingSince: string|null,
 *   nextAttemptAt: string|null,
 * }
 *
 * `disabled` by a request, `failed` by the service; `failing` as `active`, but about to be disabled by the
 * service.
 * @phpstan-type WebhookState 'failed'|'failing'|'active'|'disabled'
 *
 * @phpstan-type WebhookList object{
 *   webhooks: list<Webhook>,
 * }
 *
 * @phpstan-type WebhookSecret object{
 *   secret: string|null,
 *   webhook: Webhook,
 * }
 *
 * Further headers of deliveries, which replace all earlier ones: at most 10, with names that begin with `X-` and
 * are not for routing, or `Authorization`, `Api-Key`, `Apikey`, `Cf-Access-Client-Id`,
 * `Cf-Access-Client-Secret`, `Ocp-Apim-Subscription-Key`, `X-Client-Id` or `X-Client-Secret`. Null, `{}`, or a
 * `url` of another host removes them.
 * @phpstan-type WebhookHeaders \stdClass|null
 *
 * User name of Basic authentication, with `password`; null, or both empty, for none. A `url` of another host
 * removes both.
 * @phpstan-type WebhookUsername string|null
 *
 * Password of Basic authentication, with `username`.
 * @phpstan-type WebhookPassword string|null
 *
 * With `order` each delivery has the order of its event as it is when the delivery is sent. A token that sets
 * this, or the `url` of such a webhook, needs the scope `orders:read` too.
 * @phpstan-type WebhookInclude 'order'|null
 *
 * How many events a delivery may have. With more than 1 its body is `{"events":[...]}`, also with a single
 * event.
 * @phpstan-type WebhookBatch int
 *
 * A new webhook. Unknown keys are refused.
 * @phpstan-type WebhookRequest object{
 *   url: string,
 *   description?: string,
 *   types?: list<'order.created'|'order.state_changed'|'order.updated'|'invoice.uploaded'|'invoice.deleted'|'order.deleted'|'webhook.failed'|'order.deadline_near'|'webhook.failing'|string>,
 *   include?: WebhookInclude,
 *   batch?: int,
 *   headers?: \stdClass|null,
 *   username?: string|null,
 *   password?: string|null,
 *   after?: int,
 * }
 *
 * What to change of a webhook. Unknown keys are refused.
 * @phpstan-type WebhookChange object{
 *   url?: string,
 *   description?: string,
 *   types?: list<'order.created'|'order.state_changed'|'order.updated'|'invoice.uploaded'|'invoice.deleted'|'order.deleted'|'webhook.failed'|'order.deadline_near'|'webhook.failing'|string>,
 *   include?: WebhookInclude,
 *   batch?: int,
 *   headers?: \stdClass|null,
 *   username?: string|null,
 *   password?: string|null,
 *   enabled?: bool,
 * }
 *
 * How to replace the secret. Unknown keys are refused.
 * @phpstan-type WebhookRotation object{
 *   overlap?: string,
 * }
 *
 * The event to send again. Unknown keys are refused.
 * @phpstan-type WebhookRedelivery object{
 *   event: int,
 * }
 *
 * Where to begin. Unknown keys are refused.
 * @phpstan-type WebhookReplay object{
 *   after: int,
 * }
 *
 * @phpstan-type WebhookRemoved object{
 *   success: bool,
 * }
 *
 * One attempt to deliver an event.
 * @phpstan-type Delivery object{
 *   id: int,
 *   at: string,
 *   messageId: string,
 *   event: int|null,
 *   events?: int,
 *   type: string,
 *   status: int|null,
 *   error: 'status'|'timeout'|'address'|'resolve'|'tls'|'connection'|null,
 *   tookMs: int,
 *   response: string,
 * }
 *
 * @phpstan-type WebhookSent object{
 *   acknowledged: bool,
 *   delivery: Delivery,
 * }
 *
 * @phpstan-type DeliveryList object{
 *   deliveries: list<Delivery>,
 *   next: int|null,
 * }
 *
 * @phpstan-type CreatedToken object{
 *   text: string|null,
 *   token: Token,
 * }
 *
 * @phpstan-type RotatedToken object{
 *   text: string|null,
 *   token: Token,
 *   replaced: Token,
 * }
 */
final class Types
{
}

/** The values of ErrorCode. */
final class ErrorCode
{
    public const CODE_10301 = '10301';
    public const CODE_10303 = '10303';
    public const CODE_10304 = '10304';
    public const CODE_10305 = '10305';
    public const CODE_10306 = '10306';
    public const FORBIDDEN = 'forbidden';
    public const IDEMPOTENCY_KEY_REUSED = 'idempotency_key_reused';
    public const IDEMPOTENCY_KEY_RUNNING = 'idempotency_key_running';
    public const INTERNAL = 'internal';
    public const INVALID_PARAMS = 'invalid_params';
    public const INVALID_PAYLOAD = 'invalid_payload';
    public const MERCHANT_SUSPENDED = 'merchant_suspended';
    public const METHOD_NOT_ALLOWED = 'method_not_allowed';
    public const NOT_FOUND = 'not_found';
    public const PRECONDITION_FAILED = 'precondition_failed';
    public const TOO_MANY_FAILED_SIGN_INS = 'too_many_failed_sign_ins';
    public const TOO_MANY_REQUESTS = 'too_many_requests';
    public const TOO_MANY_TOKENS = 'too_many_tokens';
    public const TOO_MANY_WEBHOOKS = 'too_many_webhooks';
    public const UNAUTHORIZED = 'unauthorized';
    public const UNAVAILABLE = 'unavailable';
    public const UNSUPPORTED_ENCODING = 'unsupported_encoding';
    public const WEBHOOK_BUSY = 'webhook_busy';
}

/** The values of EventType. */
final class EventType
{
    public const ORDER_CREATED = 'order.created';
    public const ORDER_STATE_CHANGED = 'order.state_changed';
    public const ORDER_UPDATED = 'order.updated';
    public const INVOICE_UPLOADED = 'invoice.uploaded';
    public const INVOICE_DELETED = 'invoice.deleted';
    public const ORDER_DELETED = 'order.deleted';
    public const WEBHOOK_FAILED = 'webhook.failed';
    public const ORDER_DEADLINE_NEAR = 'order.deadline_near';
    public const WEBHOOK_FAILING = 'webhook.failing';
    public const WEBHOOK_TEST = 'webhook.test';
}

/** The values of Actor. */
final class Actor
{
    public const MERCHANT = 'merchant';
    public const OPERATOR = 'operator';
    public const SYSTEM = 'system';
}

/** The values of State. */
final class State
{
    public const REGISTERED = 'registered';
    public const IN_PROCESSING = 'in-processing';
    public const READY_FOR_SHIPMENT = 'ready-for-shipment';
    public const PICKED_BY_COURIER = 'picked-by-courier';
    public const DELIVERED_TO_PICKUP_POINT = 'delivered-to-pickup-point';
    public const DELIVERY_FAILED = 'delivery-failed';
    public const REJECTED_BY_MERCHANT = 'rejected-by-merchant';
    public const CANCELED = 'canceled';
    public const COMPLETED = 'completed';
    public const DELIVERED_TO_CUSTOMER = 'delivered-to-customer';
    public const RETURN_CANCELED = 'return-canceled';
}

/** The values of Reason. */
final class Reason
{
    public const OUT_OF_STOCK = 'out-of-stock';
    public const DAMAGED = 'damaged';
    public const WRONG_PRICE = 'wrong-price';
    public const DISABLED_PRODUCT = 'disabled-product';
    public const WRONG_PRODUCT = 'wrong-product';
}

/** The values of Decision. */
final class Decision
{
    public const ACCEPT = 'accept';
    public const REJECT = 'reject';
}

/** The values of AnswerStatus. */
final class AnswerStatus
{
    public const CHANGED = 'changed';
    public const UNCHANGED = 'unchanged';
    public const REFUSED = 'refused';
    public const NOT_FOUND = 'not_found';
    public const INVALID = 'invalid';
}

/** The values of InvoiceKind. */
final class InvoiceKind
{
    public const INVOICE = 'invoice';
    public const CREDIT_NOTE = 'credit-note';
    public const RECEIPT = 'receipt';
}

/** The values of Scope. */
final class Scope
{
    public const ORDERS_READ = 'orders:read';
    public const ORDERS_WRITE = 'orders:write';
    public const INVOICES_WRITE = 'invoices:write';
    public const TOKENS = 'tokens';
    public const WEBHOOKS = 'webhooks';
}

/** The values of WebhookState. */
final class WebhookState
{
    public const FAILED = 'failed';
    public const FAILING = 'failing';
    public const ACTIVE = 'active';
    public const DISABLED = 'disabled';
}

/** The values of WebhookInclude. */
final class WebhookInclude
{
    public const ORDER = 'order';
}
