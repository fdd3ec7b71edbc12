# Code generated from openapi/v2.yaml by scripts/generate. DO NOT EDIT.
"""The types of the interface."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Literal, TypedDict, Union

if TYPE_CHECKING:
    from typing_extensions import NotRequired

__all__ = [
    "Actor",
    "Address",
    "Amount",
    "Answer",
    "AnswerCounts",
    "AnswerLine",
    "AnswerResult",
    "AnswerResults",
    "AnswerStatus",
    "AnswerSummary",
    "BulkProgress",
    "Carrier",
    "CreatedToken",
    "Currency",
    "Customer",
    "DamagedOrder",
    "DayOrTime",
    "DeadlineNearData",
    "DeadlineNearEvent",
    "Decision",
    "Delivery",
    "DeliveryList",
    "ErrorBody",
    "ErrorCode",
    "ErrorResponse",
    "Event",
    "EventBase",
    "EventData",
    "EventList",
    "EventType",
    "ExportCounts",
    "ExportLine",
    "ExportSummary",
    "Feed",
    "Filters",
    "FlatError",
    "Invoice",
    "InvoiceAddress",
    "InvoiceData",
    "InvoiceDetails",
    "InvoiceEvent",
    "InvoiceKind",
    "InvoiceLink",
    "InvoiceMark",
    "InvoiceNumber",
    "LineItem",
    "Moment",
    "MomentOrNull",
    "NextToken",
    "Order",
    "OrderCreatedData",
    "OrderCreatedEvent",
    "OrderList",
    "OrderStateChangedData",
    "OrderStateChangedEvent",
    "OrderSummary",
    "OrderUpdate",
    "OrderUpdatedData",
    "OrderUpdatedEvent",
    "OtherData",
    "OtherEvent",
    "Payment",
    "Progress",
    "Reason",
    "Reference",
    "Rejection",
    "RotatedToken",
    "Scope",
    "State",
    "Success",
    "Time",
    "TimeOrNull",
    "Token",
    "TokenRequest",
    "UnansweredOrder",
    "Upload",
    "UploadForm",
    "Uploaded",
    "VATRate",
    "Webhook",
    "WebhookBatch",
    "WebhookChange",
    "WebhookDescription",
    "WebhookFailedData",
    "WebhookFailedEvent",
    "WebhookHeaders",
    "WebhookInclude",
    "WebhookList",
    "WebhookPassword",
    "WebhookRedelivery",
    "WebhookRemoved",
    "WebhookReplay",
    "WebhookRequest",
    "WebhookRotation",
    "WebhookSecret",
    "WebhookSent",
    "WebhookState",
    "WebhookTypes",
    "WebhookURL",
    "WebhookUsername",
    "Withdrawn",
]


class ErrorResponse(TypedDict):
    """The body of an error."""
    error: ErrorBody
    """What is wrong."""


class ErrorBody(TypedDict):
    """What is wrong."""
    code: ErrorCode
    """The reason, for programs. Codes may be added; `x-error-codes` of an operation has its own."""
    message: str
    """The reason, for people."""


class FlatError(TypedDict):
    """The body of every error of uploading, deleting and linking invoice files."""
    message: str
    """The reason."""


class Feed(TypedDict):
    """Events, oldest first, and where the feed ends."""
    events: List[Event]
    """The events after `after`; empty if there is none."""
    next: int
    """Value of `after` for the next request."""
    newest: int
    """Number of the newest event, 0 if there is none."""
    history: str
    """Names the sequence of events. It changes whenever numbers may be reused: after a restore, after a failover
    that may have lost commits, and in another installation. Compare it for equality only."""
    problem: NotRequired[str]
    """Present if `newest` is below `after`, for people."""


class EventList(TypedDict):
    """Events, oldest first."""
    events: List[Event]
    """The events after `after`; empty if there is none."""
    next: int
    """Value of `after` for the next request."""


class EventBase(TypedDict):
    """One change, of an order unless the type is `webhook.failed` or `webhook.failing`; or the test of a webhook,
    which is not in the feed."""
    seq: int
    """Number of the event: 1, 2, 3, ... for each merchant, without gaps; 0 of a test."""
    orderReference: str
    """Reference of the order; empty if the event has no order."""
    orderId: int
    """Numeric id of the order in version 1; 0 if the event has no order."""
    at: Time
    """Time of the event."""
    actor: Actor
    """Who made the change."""
    tokenId: Union[int, None]
    """Id of the token that made the change; null if a command of the marketplace made it."""
    requestId: Union[str, None]
    """The `X-Request-Id` of the response to the change; null if a command of the marketplace made it."""
    order: NotRequired[Union[Order, None]]
    """The order as it is when the response or the delivery is made, not as it was at the event; null if it is
    deleted or the event has none. Only if orders are requested with `include`."""
    orderProblem: NotRequired[str]
    """Why there is no `order` although it was requested and exists, because its stored data is damaged."""
    history: NotRequired[str]
    """The history in which the number counts, added by the client: store both."""


class OrderCreatedEvent(EventBase):
    type: Literal["order.created"]
    data: OrderCreatedData


class OrderStateChangedEvent(EventBase):
    type: Literal["order.state_changed"]
    data: OrderStateChangedData


class InvoiceEvent(EventBase):
    type: Literal["invoice.uploaded", "invoice.deleted"]
    data: InvoiceData


class WebhookFailedEvent(EventBase):
    type: Literal["webhook.failed", "webhook.failing"]
    data: WebhookFailedData


class OrderUpdatedEvent(EventBase):
    type: Literal["order.updated"]
    data: OrderUpdatedData


class DeadlineNearEvent(EventBase):
    type: Literal["order.deadline_near"]
    data: DeadlineNearData


class OtherEvent(EventBase):
    type: Literal["order.deleted", "webhook.test"]
    data: OtherData


class OrderCreatedData(TypedDict):
    """Of `order.created`."""
    state: State
    """The initial state."""


OrderStateChangedData = TypedDict(
    "OrderStateChangedData",
    {
        "from": "State",
        "to": "State",
        "reason": "Union[str, None]",
    },
)
"""Of `order.state_changed`."""


class InvoiceData(TypedDict):
    """Of `invoice.uploaded` and `invoice.deleted`."""
    invoiceId: int
    """Id of the file."""
    filename: str
    """The stored name."""


class WebhookFailedData(TypedDict):
    """Of `webhook.failed` and `webhook.failing`."""
    webhookId: int
    """The webhook, as `GET /v2/webhooks/{webhookId}` shows it."""
    reason: str
    """Why, for people."""


class DeadlineNearData(TypedDict):
    """Of `order.deadline_near`."""
    expiresAt: Moment
    """The deadline."""


class OrderUpdatedData(TypedDict):
    """Of `order.updated`."""
    fields: List[str]
    """Names of the changed fields, as in the order document, or as in the order for what is the merchant's own."""


class OrderList(TypedDict):
    """A page of orders."""
    params: Filters
    """Effective filters."""
    orders: List[OrderSummary]
    """At most `itemsPerPage`, newest first."""


class Filters(TypedDict):
    """Effective filters."""
    page: int
    """Number of this page."""
    itemsPerPage: int
    """Orders in a page."""
    totalItems: int
    """Exact number of orders on all pages."""
    status: Union[Literal["registered", "in-processing", "ready-for-shipment", "picked-by-courier", "delivered-to-pickup-point", "delivery-failed", "rejected-by-merchant", "canceled", "completed", "delivered-to-customer", "return-canceled"], None]
    """The state of the filter; null: no filter."""
    dateFrom: Moment
    """Start of the range, included. Without `dateFrom` it is `1970-01-01 00:00:00`."""
    dateTo: Moment
    """End of the range, included. Without `dateTo` it is the end of today."""


class OrderSummary(TypedDict):
    """An order in a list."""
    id: Reference
    state: State
    countryCode: str
    """Country code of the order."""
    hasInvoice: bool
    """Whether an invoice was requested at checkout."""
    totalItemsAmount: Amount
    """Total."""
    currency: Currency
    createdAt: Moment
    """When it was created."""
    updatedAt: MomentOrNull
    """Time of the last state change; null: never."""
    customer: Customer


class UnansweredOrder(TypedDict):
    """An order that waits to be accepted or rejected, as in a list, with its deadline and its lines."""
    id: Reference
    state: State
    countryCode: str
    """Country code of the order."""
    hasInvoice: bool
    """Whether an invoice was requested at checkout."""
    totalItemsAmount: Amount
    """Total."""
    currency: Currency
    createdAt: Moment
    """When it was created."""
    updatedAt: MomentOrNull
    """Time of the last change; null: never."""
    customer: Customer
    expiresAt: MomentOrNull
    """The deadline; null: none."""
    secondsLeft: Union[int, None]
    """Seconds until the deadline; 0: it has passed; null: there is none."""
    lineItems: List[LineItem]
    """Lines of the order."""


class Customer(TypedDict):
    """Customer."""
    userId: int
    """Id of the customer; 0: a guest."""
    email: str
    """E-mail."""
    phone: Union[str, None]
    """Phone; null: none."""
    firstName: str
    """First name."""
    lastName: str
    """Last name."""


class Order(TypedDict):
    """A single order."""
    id: Reference
    state: State
    countryCode: str
    """Country code of the order."""
    hasInvoice: bool
    """Whether an invoice was requested at checkout."""
    subTotalItemsAmount: Amount
    """Sum of the lines."""
    totalItemsAmount: Amount
    """Total."""
    currency: Currency
    createdAt: Moment
    """When it was created."""
    updatedAt: MomentOrNull
    """Time of the last state change; null: never. Invoice files do not count."""
    expiresAt: MomentOrNull
    """Expiry, for information only. Null: never."""
    dispatchUntil: MomentOrNull
    """Latest dispatch time, for information only. Null: none."""
    customer: Customer
    addressDetails: Address
    """The shipping address. Unknown parts are empty."""
    invoiceDetails: Union[InvoiceDetails, None]
    """The invoice that the customer requested; null if `hasInvoice` is false."""
    invoices: List[Invoice]
    """Active invoice files, oldest first; empty if there are none."""
    carrier: Carrier
    """Carrier."""
    payment: Payment
    """Payment."""
    lineItems: List[LineItem]
    """The lines, in the order of the import."""
    shippingAmount: NotRequired[Amount]
    """What of the total is for shipping, with VAT. Absent: unknown."""
    shippingVatRate: NotRequired[VATRate]
    """VAT rate of shipping in percent. Absent: unknown."""
    merchantReference: NotRequired[str]
    """The merchant's own number of the order; absent: none."""
    merchantNote: NotRequired[str]
    """The merchant's own note; absent: none."""


class Address(TypedDict):
    """The shipping address. Unknown parts are empty."""
    street: str
    """Street."""
    streetNumber: str
    """Street number."""
    postCode: str
    """Post code."""
    city: str
    """City."""
    region: str
    """Name of the region."""
    regionCode: str
    """Code of the region."""
    country: str
    """Name of the country."""
    countryCode: str
    """ISO code of the country."""


class Carrier(TypedDict):
    """Carrier."""
    shipmentId: int
    """Id of the first shipment; 0: none yet."""
    name: str
    """Courier company."""
    deliveryName: str
    """Delivery service."""
    deliveryKey: str
    """Key of the shipment method, as imported."""
    trackingCodes: str
    """Tracking codes in one text; may be empty."""
    comments: Union[str, None]
    """Comments; null: none."""
    deliveryToCourierEstimationDate: Union[str, None]
    """Estimated delivery to the courier, as imported, or `YYYY-MM-DD HH:MM:SS` in UTC if that is a time; null:
    unknown."""
    deliveryToCustomerEstimationDate: Union[str, None]
    """Estimated delivery to the customer, as imported, or `YYYY-MM-DD HH:MM:SS` in UTC if that is a time; null:
    unknown."""


class Payment(TypedDict):
    """Payment."""
    name: str
    """Key of the payment method."""


class InvoiceDetails(TypedDict):
    """The invoice that the customer requested at checkout. Null means unknown."""
    doy: Union[str, None]
    """Code of the tax office."""
    doyName: Union[str, None]
    """Name of the tax office."""
    vatNumber: str
    """VAT number."""
    company: Union[str, None]
    """Company."""
    occupation: Union[str, None]
    """Occupation."""
    address: Union[str, None]
    """Address."""
    postCode: Union[str, None]
    """Post code."""
    city: Union[str, None]
    """City."""
    article39: Union[str, None]
    """Article 39."""
    article39Eligible: Union[str, bool, None]
    """Whether Article 39 may apply, as imported: text, boolean or null."""
    article39IdentityType: Union[str, None]
    """Article 39: label of the identity type, as imported."""
    article39IdentityNo: Union[str, None]
    """Article 39: number of the identity."""
    article39MobilePhone: Union[str, None]
    """Article 39: mobile phone."""
    article39Otp: Union[str, None]
    """Article 39: one-time password."""
    article39Valid: Union[str, bool, None]
    """Whether Article 39 applies, as imported: text, boolean or null."""


class LineItem(TypedDict):
    """One line of an order."""
    id: int
    """Id of the line."""
    sku: str
    """SKU of the marketplace."""
    merchantEan: str
    """Bar code of the merchant."""
    merchantSku: str
    """SKU of the merchant."""
    productName: str
    """Name of the product."""
    unitPrice: Amount
    """Unit price."""
    originalUnitPrice: Amount
    """Unit price before discounts."""
    totalPrice: Amount
    """Unit price times quantity."""
    quantity: int
    """Quantity."""
    sfArticle39Valid: bool
    """Whether Article 39 applies to this line."""
    giftWrap: bool
    """Whether to gift-wrap it."""
    extendedAttributes: List[Any]
    """Additional attributes, as imported; often empty."""
    vatRate: NotRequired[VATRate]
    """VAT rate in percent. Absent: unknown."""


class Invoice(TypedDict):
    """An invoice file."""
    id: int
    """Id of the file in paths; never reused."""
    url: str
    """URL of the file; its name is percent-encoded. Downloading needs the same token unless the service stores files
    elsewhere."""
    created_at: Time
    """When it was uploaded."""
    kind: NotRequired[str]
    """What the document is: `invoice`, `credit-note` or `receipt`. This and the next three only if they were given."""
    number: NotRequired[str]
    """The document's number."""
    mark: NotRequired[str]
    """The tax authority's id of the document (MARK of myDATA)."""
    link: NotRequired[str]
    """Where the document is too."""


class OrderUpdate(TypedDict):
    """What is the merchant's own. Null and empty text remove it."""
    merchantReference: NotRequired[Union[str, None]]
    """The merchant's own number of the order, on one line."""
    merchantNote: NotRequired[Union[str, None]]
    """A note."""


class Rejection(TypedDict):
    """The reason of the rejection. Unknown keys are ignored."""
    status: NotRequired[Literal["D"]]
    """`D` if present."""
    reason: NotRequired[Union[Reason, None]]
    """The reason. Null and empty text mean none."""


class Answer(TypedDict):
    """The answer to an order."""
    orderReference: Reference
    answer: Decision
    """What to do."""
    reason: NotRequired[Union[Reason, None]]
    """Why the order is rejected. Null and empty text mean no reason."""
    ifMatch: NotRequired[Union[str, None]]
    """As the header `If-Match` of a single order: the line is `refused` if the order has changed since. Null: any
    version."""


class AnswerResults(TypedDict):
    """What became of the answers of an array."""
    results: List[AnswerResult]
    """A result for each element, in their order."""
    summary: AnswerCounts
    """The number of answers by status."""


class AnswerCounts(TypedDict):
    """The number of answers by status."""
    changed: int
    unchanged: int
    refused: int
    not_found: int
    invalid: int


class AnswerResult(TypedDict):
    """What became of an answer."""
    line: int
    """Number of the line or element."""
    merchantId: NotRequired[int]
    """Store id of the merchant."""
    reference: NotRequired[Reference]
    status: AnswerStatus
    """What became of it."""
    state: NotRequired[str]
    """State of the order."""
    problem: NotRequired[str]
    """Why the order was not changed."""
    replayed: NotRequired[bool]
    """The result is that of the first request with the Idempotency-Key."""


class BulkProgress(TypedDict):
    """A line that says how far the request got, with `results=problems`."""
    progress: Progress
    """How far the request got."""


class Progress(TypedDict):
    """How far the request got."""
    lastLine: int
    """The results up to this line are durable."""


class AnswerSummary(TypedDict):
    """The last line of the response to answers in lines."""
    summary: AnswerCounts
    """The number of answers by status."""
    complete: bool
    """Whether every line of the body has a result."""
    lastLine: int
    """Number of the last line that has a result; 0: there is none."""
    problem: Union[str, None]
    """Why lines have no result; null if all have one."""


class DamagedOrder(TypedDict):
    """Stands for an order whose stored data is damaged."""
    id: Reference
    problem: str
    """What is wrong."""


class ExportSummary(TypedDict):
    """The last line of an export."""
    summary: ExportCounts
    """What the export has."""
    complete: bool
    """Whether the export has all orders."""
    after: NotRequired[int]
    """Where the change feed ended before the first order was read."""
    history: NotRequired[str]
    """The `history` of the change feed."""
    problem: NotRequired[str]
    """Why the export ended early; absent: it is complete."""


class ExportCounts(TypedDict):
    """What the export has."""
    orders: int
    """The number of lines before this one."""


class Success(TypedDict):
    success: bool
    """Always true."""


class Upload(TypedDict):
    """An invoice file to upload. Unknown keys are ignored."""
    filename: str
    """Original name. The part after the last `/` or `\\` is used, without control characters. Its extension
    determines the type: pdf, png, jpeg or jpg, in any letter case."""
    contentBase64: str
    """The content in standard base64 with padding; line breaks are ignored. At most 4,000,000 bytes after decoding."""
    kind: NotRequired[InvoiceKind]
    number: NotRequired[InvoiceNumber]
    mark: NotRequired[InvoiceMark]
    link: NotRequired[InvoiceAddress]


class UploadForm(TypedDict):
    """The same as `multipart/form-data`, a third smaller. Unknown parts are ignored. An `Idempotency-Key` recognizes
    the form, whatever its boundary."""
    file: str
    """The content, as it is. The file name of the part, in UTF-8, is `filename`."""
    kind: NotRequired[InvoiceKind]
    number: NotRequired[InvoiceNumber]
    mark: NotRequired[InvoiceMark]
    link: NotRequired[InvoiceAddress]


class Uploaded(TypedDict):
    message: Literal["success"]
    """Always `success`."""
    invoice: Invoice


class Withdrawn(TypedDict):
    message: Literal["success"]
    """Always `success`."""
    invoices: List[Invoice]
    """The remaining files, oldest first."""


class InvoiceLink(TypedDict):
    url: str
    """The address to open. Treat it as a secret until it expires."""
    expiresAt: Time
    """When the link expires."""


class Token(TypedDict):
    """A token without its text."""
    id: int
    """Id of the token in paths."""
    scopes: List[Scope]
    """Scopes."""
    label: Union[str, None]
    """What the token is for; null if it has no label."""
    hint: str
    """First letters of its text; empty: it is of a session, and nobody has its text."""
    createdAt: Time
    """Creation time."""
    createdBy: Union[int, None]
    """Id of the token that created it; null: a command did."""
    expiresAt: TimeOrNull
    """Expiry; null: none."""
    revokedAt: TimeOrNull
    """Time of the revocation; null: not revoked."""
    lastUsedAt: TimeOrNull
    """Time of the last use, accurate to about ten seconds; null: never."""
    lastUsedFrom: Union[str, None]
    """IP address of the client at that time; null: not known."""
    current: bool
    """It is the token of the request."""


class TokenRequest(TypedDict):
    """The token to create."""
    scopes: NotRequired[List[Scope]]
    """Scopes, no others than those of the token of the request. The default: those of `orders:read`, `orders:write`
    and `invoices:write` that it has."""
    expires: NotRequired[str]
    """Lifetime, from `1s`, such as `90d` or `2160h`; or the day (UTC) at whose beginning the token expires, such as
    `2027-01-31`. Without it the token lives as long as `--max-token-lifetime` allows, or until it is revoked."""
    label: NotRequired[Union[str, None]]
    """What the token is for: one line of text."""


class Webhook(TypedDict):
    """An endpoint that receives the events of a merchant. Its secret is not shown."""
    id: int
    """Id of the webhook."""
    merchantId: int
    """Id of the merchant."""
    url: WebhookURL
    description: WebhookDescription
    types: WebhookTypes
    include: WebhookInclude
    batch: WebhookBatch
    headerNames: List[str]
    """Names of the further headers of deliveries, sorted. Their values are not shown."""
    username: Union[str, None]
    """User name of Basic authentication; null if there is none. The password is not shown."""
    state: WebhookState
    """`disabled` by a request, `failed` by the service; `failing` as `active`, but about to be disabled by the
    service."""
    reason: Union[str, None]
    """Why the webhook is failed or failing; null in the other states."""
    stateChangedAt: TimeOrNull
    createdAt: Time
    oldSecretUntil: TimeOrNull
    acknowledged: int
    """Number of the last event that the endpoint has acknowledged or does not subscribe to."""
    failures: int
    """Failed deliveries since the last success."""
    failingSince: TimeOrNull
    nextAttemptAt: TimeOrNull


class WebhookList(TypedDict):
    webhooks: List[Webhook]
    """The webhooks, by id."""


class WebhookSecret(TypedDict):
    secret: Union[str, None]
    """The secret that signs deliveries; it cannot be read again. `null` in a replay, because responses with secrets
    are not stored."""
    webhook: Webhook


class WebhookRequest(TypedDict):
    """A new webhook. Unknown keys are refused."""
    url: WebhookURL
    description: NotRequired[WebhookDescription]
    types: NotRequired[WebhookTypes]
    include: NotRequired[WebhookInclude]
    batch: NotRequired[WebhookBatch]
    headers: NotRequired[WebhookHeaders]
    username: NotRequired[WebhookUsername]
    password: NotRequired[WebhookPassword]
    after: NotRequired[int]
    """Number of the event after which deliveries begin. Default is the newest event."""


class WebhookChange(TypedDict):
    """What to change of a webhook. Unknown keys are refused."""
    url: NotRequired[WebhookURL]
    description: NotRequired[WebhookDescription]
    types: NotRequired[WebhookTypes]
    include: NotRequired[WebhookInclude]
    batch: NotRequired[WebhookBatch]
    headers: NotRequired[WebhookHeaders]
    username: NotRequired[WebhookUsername]
    password: NotRequired[WebhookPassword]
    enabled: NotRequired[bool]
    """Whether events are delivered."""


class WebhookRotation(TypedDict):
    """How to replace the secret. Unknown keys are refused."""
    overlap: NotRequired[str]
    """How long the old secret signs too: a duration from `0s` to `168h`."""


class WebhookRedelivery(TypedDict):
    """The event to send again. Unknown keys are refused."""
    event: int
    """Number of the event."""


class WebhookReplay(TypedDict):
    """Where to begin. Unknown keys are refused."""
    after: int
    """Number of the event after which deliveries begin again."""


class WebhookRemoved(TypedDict):
    success: bool
    """Always true."""


class Delivery(TypedDict):
    """One attempt to deliver an event."""
    id: int
    """Number of the delivery: 1, 2, 3, ... for each webhook; 0 if it is not in the log, because the webhook changed
    meanwhile."""
    at: Time
    messageId: str
    """The header `webhook-id`; the same at each attempt for an event."""
    event: Union[int, None]
    """Number of the event, of several the first; null of a test."""
    events: NotRequired[int]
    """Of a delivery with several events: how many."""
    type: str
    """Type of the event, or `webhook.test`."""
    status: Union[int, None]
    """Status of the response; null if there was none."""
    error: Union[Literal["status", "timeout", "address", "resolve", "tls", "connection"], None]
    """Null if the endpoint has acknowledged. `status`: the status is not 2xx. `timeout`: no response within 10
    seconds. `address`: the host has an address that is not public. `resolve`: the host name has no address.
    `tls`: the certificate is not valid. `connection`: no connection, or it broke."""
    tookMs: int
    """Duration in milliseconds."""
    response: str
    """The first 1,024 bytes of the response's body, as text."""


class WebhookSent(TypedDict):
    acknowledged: bool
    """Whether the status was 2xx."""
    delivery: Delivery


class DeliveryList(TypedDict):
    deliveries: List[Delivery]
    """The deliveries, the newest first."""
    next: Union[int, None]
    """The value of `before` for the next page; null if there is none."""


class CreatedToken(TypedDict):
    text: Union[str, None]
    """The text of the token; it cannot be read again. Null in a replay: it is not stored."""
    token: Token


class RotatedToken(TypedDict):
    text: Union[str, None]
    """The text of the token; it cannot be read again. Null in a replay: it is not stored."""
    token: Token
    replaced: Token
    """The old token, with its new expiry."""


ErrorCode = Union[Literal["10301", "10303", "10304", "10305", "10306", "forbidden", "idempotency_key_reused", "idempotency_key_running", "internal", "invalid_params", "invalid_payload", "merchant_suspended", "method_not_allowed", "not_found", "precondition_failed", "too_many_failed_sign_ins", "too_many_requests", "too_many_tokens", "too_many_webhooks", "unauthorized", "unavailable", "unsupported_encoding", "webhook_busy"], str]
Event = Union[OrderCreatedEvent, OrderStateChangedEvent, InvoiceEvent, WebhookFailedEvent, OrderUpdatedEvent, DeadlineNearEvent, OtherEvent]
EventType = Union[Literal["order.created", "order.state_changed", "order.updated", "invoice.uploaded", "invoice.deleted", "order.deleted", "webhook.failed", "order.deadline_near", "webhook.failing", "webhook.test"], str]
Actor = Literal["merchant", "operator", "system"]
OtherData = Dict[str, Any]
DayOrTime = str
Moment = str
MomentOrNull = Union[str, None]
Amount = int
Currency = str
State = Literal["registered", "in-processing", "ready-for-shipment", "picked-by-courier", "delivered-to-pickup-point", "delivery-failed", "rejected-by-merchant", "canceled", "completed", "delivered-to-customer", "return-canceled"]
Reference = str
VATRate = str
Reason = Literal["out-of-stock", "damaged", "wrong-price", "disabled-product", "wrong-product"]
Decision = Literal["accept", "reject"]
AnswerStatus = Literal["changed", "unchanged", "refused", "not_found", "invalid"]
InvoiceKind = Union[Literal["invoice", "credit-note", "receipt"], None]
InvoiceNumber = Union[str, None]
InvoiceMark = Union[str, None]
InvoiceAddress = Union[str, None]
Time = str
TimeOrNull = Union[str, None]
Scope = Literal["orders:read", "orders:write", "invoices:write", "tokens", "webhooks"]
NextToken = Union[int, None]
WebhookURL = str
WebhookTypes = List[Union[Literal["order.created", "order.state_changed", "order.updated", "invoice.uploaded", "invoice.deleted", "order.deleted", "webhook.failed", "order.deadline_near", "webhook.failing"], str]]
WebhookDescription = str
WebhookState = Literal["failed", "failing", "active", "disabled"]
WebhookHeaders = Union[Dict[str, str], None]
WebhookUsername = Union[str, None]
WebhookPassword = Union[str, None]
WebhookInclude = Union[Literal["order"], None]
WebhookBatch = int
EventData = Union[OrderCreatedData, OrderStateChangedData, OrderUpdatedData, InvoiceData, WebhookFailedData, DeadlineNearData, OtherData]
AnswerLine = Union[AnswerResult, BulkProgress, AnswerSummary]
ExportLine = Union[Order, DamagedOrder, ExportSummary]
