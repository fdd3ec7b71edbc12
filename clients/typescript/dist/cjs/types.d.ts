/*! Code generated from openapi/v2.yaml by scripts/generate. DO NOT EDIT. */
/** The body of an error. */
export interface ErrorResponse {
    /** What is wrong. */
    error: ErrorBody;
}
/** What is wrong. */
export interface ErrorBody {
    /** The reason, for programs. Codes may be added; `x-error-codes` of an operation has its own. */
    code: ErrorCode;
    /** The reason, for people. */
    message: string;
}
/** The reason, for programs. Codes may be added; `x-error-codes` of an operation has its own. */
export type ErrorCode = "10301" | "10303" | "10304" | "10305" | "10306" | "forbidden" | "idempotency_key_reused" | "idempotency_key_running" | "internal" | "invalid_params" | "invalid_payload" | "merchant_suspended" | "method_not_allowed" | "not_found" | "precondition_failed" | "too_many_failed_sign_ins" | "too_many_requests" | "too_many_tokens" | "too_many_webhooks" | "unauthorized" | "unavailable" | "unsupported_encoding" | "webhook_busy" | (string & {});
/** The body of every error of uploading, deleting and linking invoice files. */
export interface FlatError {
    /** The reason. */
    message: string;
}
/** Events, oldest first, and where the feed ends. */
export interface Feed {
    /** The events after `after`; empty if there is none. */
    events: Event[];
    /** Value of `after` for the next request. */
    next: number;
    /** Number of the newest event, 0 if there is none. */
    newest: number;
    /**
     * Names the sequence of events. It changes whenever numbers may be reused: after a restore, after a failover
     * that may have lost commits, and in another installation. Compare it for equality only.
     */
    history: string;
    /** Present if `newest` is below `after`, for people. */
    problem?: string | undefined;
}
/** Events, oldest first. */
export interface EventList {
    /** The events after `after`; empty if there is none. */
    events: Event[];
    /** Value of `after` for the next request. */
    next: number;
}
/**
 * One change, of an order unless the type is `webhook.failed` or `webhook.failing`; or the test of a webhook,
 * which is not in the feed.
 */
export interface EventBase {
    /** Number of the event: 1, 2, 3, ... for each merchant, without gaps; 0 of a test. */
    seq: number;
    /** Reference of the order; empty if the event has no order. */
    orderReference: string;
    /** Numeric id of the order in version 1; 0 if the event has no order. */
    orderId: number;
    /** Time of the event. */
    at: Time;
    /** Who made the change. */
    actor: Actor;
    /** Id of the token that made the change; null if a command of the marketplace made it. */
    tokenId: number | null;
    /** The `X-Request-Id` of the response to the change; null if a command of the marketplace made it. */
    requestId: string | null;
    /**
     * The order as it is when the response or the delivery is made, not as it was at the event; null if it is
     * deleted or the event has none. Only if orders are requested with `include`.
     */
    order?: Order | null | undefined;
    /** Why there is no `order` although it was requested and exists, because its stored data is damaged. */
    orderProblem?: string | undefined;
    /** The history in which the number counts, added by the client: store both. */
    history?: string | undefined;
}
export interface OrderCreatedEvent extends EventBase {
    type: "order.created";
    data: OrderCreatedData;
}
export interface OrderStateChangedEvent extends EventBase {
    type: "order.state_changed";
    data: OrderStateChangedData;
}
export interface InvoiceEvent extends EventBase {
    type: "invoice.uploaded" | "invoice.deleted";
    data: InvoiceData;
}
export interface WebhookFailedEvent extends EventBase {
    type: "webhook.failed" | "webhook.failing";
    data: WebhookFailedData;
}
export interface OrderUpdatedEvent extends EventBase {
    type: "order.updated";
    data: OrderUpdatedData;
}
export interface DeadlineNearEvent extends EventBase {
    type: "order.deadline_near";
    data: DeadlineNearData;
}
export interface OtherEvent extends EventBase {
    type: "order.deleted" | "webhook.test";
    data: OtherData;
}
/** Types may be added: ignore those that you do not know. */
export type Event = OrderCreatedEvent | OrderStateChangedEvent | InvoiceEvent | WebhookFailedEvent | OrderUpdatedEvent | DeadlineNearEvent | OtherEvent;
/** Type of the event. Types may be added. */
export type EventType = "order.created" | "order.state_changed" | "order.updated" | "invoice.uploaded" | "invoice.deleted" | "order.deleted" | "webhook.failed" | "order.deadline_near" | "webhook.failing" | "webhook.test" | (string & {});
/** Who made the change. */
export type Actor = "merchant" | "operator" | "system";
/** Depends on the type of the event. Types and fields may be added. */
export type EventData = OrderCreatedData | OrderStateChangedData | OrderUpdatedData | InvoiceData | WebhookFailedData | DeadlineNearData | OtherData;
/** Of `order.created`. */
export interface OrderCreatedData {
    /** The initial state. */
    state: State;
}
/** Of `order.state_changed`. */
export interface OrderStateChangedData {
    /** The previous state. */
    from: State;
    /** The new state. */
    to: State;
    /** Of a rejection one of its reasons, otherwise a word of the marketplace; null if none was given. */
    reason: string | null;
}
/** Of `invoice.uploaded` and `invoice.deleted`. */
export interface InvoiceData {
    /** Id of the file. */
    invoiceId: number;
    /** The stored name. */
    filename: string;
}
/** Of `webhook.failed` and `webhook.failing`. */
export interface WebhookFailedData {
    /** The webhook, as `GET /v2/webhooks/{webhookId}` shows it. */
    webhookId: number;
    /** Why, for people. */
    reason: string;
}
/** Of `order.deadline_near`. */
export interface DeadlineNearData {
    /** The deadline. */
    expiresAt: Moment;
}
/** Of `order.updated`. */
export interface OrderUpdatedData {
    /** Names of the changed fields, as in the order document, or as in the order for what is the merchant's own. */
    fields: string[];
}
/** Of all other types. It is empty for `order.deleted` and `webhook.test`. */
export type OtherData = Record<string, unknown>;
/**
 * A day, `YYYY-MM-DD`, or a date with a time, with or without a fraction and an offset, which means its day in
 * UTC.
 */
export type DayOrTime = string;
/** A time, `YYYY-MM-DD HH:MM:SS`, UTC. */
export type Moment = string;
/** A time, `YYYY-MM-DD HH:MM:SS`, UTC; null if there is none. */
export type MomentOrNull = string | null;
/** An amount in the currency's minor unit, cents for EUR. */
export type Amount = number;
/** Currency of the order's amounts, ISO 4217. */
export type Currency = string;
/**
 * State of the order. A merchant changes the state `registered` by accept or reject. The marketplace makes the
 * other transitions.
 */
export type State = "registered" | "in-processing" | "ready-for-shipment" | "picked-by-courier" | "delivered-to-pickup-point" | "delivery-failed" | "rejected-by-merchant" | "canceled" | "completed" | "delivered-to-customer" | "return-canceled";
/** Reference of the order: 1 to 64 of `A-Z a-z 0-9 . _ -`, the first a letter or digit. */
export type Reference = string;
/** A page of orders. */
export interface OrderList {
    /** Effective filters. */
    params: Filters;
    /** At most `itemsPerPage`, newest first. */
    orders: OrderSummary[];
}
/** Effective filters. */
export interface Filters {
    /** Number of this page. */
    page: number;
    /** Orders in a page. */
    itemsPerPage: number;
    /** Exact number of orders on all pages. */
    totalItems: number;
    /** The state of the filter; null: no filter. */
    status: "registered" | "in-processing" | "ready-for-shipment" | "picked-by-courier" | "delivered-to-pickup-point" | "delivery-failed" | "rejected-by-merchant" | "canceled" | "completed" | "delivered-to-customer" | "return-canceled" | null;
    /** Start of the range, included. Without `dateFrom` it is `1970-01-01 00:00:00`. */
    dateFrom: Moment;
    /** End of the range, included. Without `dateTo` it is the end of today. */
    dateTo: Moment;
}
/** An order in a list. */
export interface OrderSummary {
    id: Reference;
    state: State;
    /** Country code of the order. */
    countryCode: string;
    /** Whether an invoice was requested at checkout. */
    hasInvoice: boolean;
    /** Total. */
    totalItemsAmount: Amount;
    currency: Currency;
    /** When it was created. */
    createdAt: Moment;
    /** Time of the last state change; null: never. */
    updatedAt: MomentOrNull;
    customer: Customer;
}
/** An order that waits to be accepted or rejected, as in a list, with its deadline and its lines. */
export interface UnansweredOrder {
    id: Reference;
    state: State;
    /** Country code of the order. */
    countryCode: string;
    /** Whether an invoice was requested at checkout. */
    hasInvoice: boolean;
    /** Total. */
    totalItemsAmount: Amount;
    currency: Currency;
    /** When it was created. */
    createdAt: Moment;
    /** Time of the last change; null: never. */
    updatedAt: MomentOrNull;
    customer: Customer;
    /** The deadline; null: none. */
    expiresAt: MomentOrNull;
    /** Seconds until the deadline; 0: it has passed; null: there is none. */
    secondsLeft: number | null;
    /** Lines of the order. */
    lineItems: LineItem[];
}
/** Customer. */
export interface Customer {
    /** Id of the customer; 0: a guest. */
    userId: number;
    /** E-mail. */
    email: string;
    /** Phone; null: none. */
    phone: string | null;
    /** First name. */
    firstName: string;
    /** Last name. */
    lastName: string;
}
/** A single order. */
export interface Order {
    id: Reference;
    state: State;
    /** Country code of the order. */
    countryCode: string;
    /** Whether an invoice was requested at checkout. */
    hasInvoice: boolean;
    /** Sum of the lines. */
    subTotalItemsAmount: Amount;
    /** Total. */
    totalItemsAmount: Amount;
    currency: Currency;
    /** When it was created. */
    createdAt: Moment;
    /** Time of the last state change; null: never. Invoice files do not count. */
    updatedAt: MomentOrNull;
    /** Expiry, for information only. Null: never. */
    expiresAt: MomentOrNull;
    /** Latest dispatch time, for information only. Null: none. */
    dispatchUntil: MomentOrNull;
    customer: Customer;
    /** The shipping address. Unknown parts are empty. */
    addressDetails: Address;
    /** The invoice that the customer requested; null if `hasInvoice` is false. */
    invoiceDetails: InvoiceDetails | null;
    /** Active invoice files, oldest first; empty if there are none. */
    invoices: Invoice[];
    /** Carrier. */
    carrier: Carrier;
    /** Payment. */
    payment: Payment;
    /** The lines, in the order of the import. */
    lineItems: LineItem[];
    /** What of the total is for shipping, with VAT. Absent: unknown. */
    shippingAmount?: Amount | undefined;
    /** VAT rate of shipping in percent. Absent: unknown. */
    shippingVatRate?: VATRate | undefined;
    /** The merchant's own number of the order; absent: none. */
    merchantReference?: string | undefined;
    /** The merchant's own note; absent: none. */
    merchantNote?: string | undefined;
}
/** The shipping address. Unknown parts are empty. */
export interface Address {
    /** Street. */
    street: string;
    /** Street number. */
    streetNumber: string;
    /** Post code. */
    postCode: string;
    /** City. */
    city: string;
    /** Name of the region. */
    region: string;
    /** Code of the region. */
    regionCode: string;
    /** Name of the country. */
    country: string;
    /** ISO code of the country. */
    countryCode: string;
}
/** Carrier. */
export interface Carrier {
    /** Id of the first shipment; 0: none yet. */
    shipmentId: number;
    /** Courier company. */
    name: string;
    /** Delivery service. */
    deliveryName: string;
    /** Key of the shipment method, as imported. */
    deliveryKey: string;
    /** Tracking codes in one text; may be empty. */
    trackingCodes: string;
    /** Comments; null: none. */
    comments: string | null;
    /**
     * Estimated delivery to the courier, as imported, or `YYYY-MM-DD HH:MM:SS` in UTC if that is a time; null:
     * unknown.
     */
    deliveryToCourierEstimationDate: string | null;
    /**
     * Estimated delivery to the customer, as imported, or `YYYY-MM-DD HH:MM:SS` in UTC if that is a time; null:
     * unknown.
     */
    deliveryToCustomerEstimationDate: string | null;
}
/** Payment. */
export interface Payment {
    /** Key of the payment method. */
    name: string;
}
/** The invoice that the customer requested at checkout. Null means unknown. */
export interface InvoiceDetails {
    /** Code of the tax office. */
    doy: string | null;
    /** Name of the tax office. */
    doyName: string | null;
    /** VAT number. */
    vatNumber: string;
    /** Company. */
    company: string | null;
    /** Occupation. */
    occupation: string | null;
    /** Address. */
    address: string | null;
    /** Post code. */
    postCode: string | null;
    /** City. */
    city: string | null;
    /** Article 39. */
    article39: string | null;
    /** Whether Article 39 may apply, as imported: text, boolean or null. */
    article39Eligible: string | boolean | null;
    /** Article 39: label of the identity type, as imported. */
    article39IdentityType: string | null;
    /** Article 39: number of the identity. */
    article39IdentityNo: string | null;
    /** Article 39: mobile phone. */
    article39MobilePhone: string | null;
    /** Article 39: one-time password. */
    article39Otp: string | null;
    /** Whether Article 39 applies, as imported: text, boolean or null. */
    article39Valid: string | boolean | null;
}
/** Percent, 0 to 100, as imported. */
export type VATRate = string;
/** One line of an order. */
export interface LineItem {
    /** Id of the line. */
    id: number;
    /** SKU of the marketplace. */
    sku: string;
    /** Bar code of the merchant. */
    merchantEan: string;
    /** SKU of the merchant. */
    merchantSku: string;
    /** Name of the product. */
    productName: string;
    /** Unit price. */
    unitPrice: Amount;
    /** Unit price before discounts. */
    originalUnitPrice: Amount;
    /** Unit price times quantity. */
    totalPrice: Amount;
    /** Quantity. */
    quantity: number;
    /** Whether Article 39 applies to this line. */
    sfArticle39Valid: boolean;
    /** Whether to gift-wrap it. */
    giftWrap: boolean;
    /** Additional attributes, as imported; often empty. */
    extendedAttributes: unknown[];
    /** VAT rate in percent. Absent: unknown. */
    vatRate?: VATRate | undefined;
}
/** An invoice file. */
export interface Invoice {
    /** Id of the file in paths; never reused. */
    id: number;
    /**
     * URL of the file; its name is percent-encoded. Downloading needs the same token unless the service stores files
     * elsewhere.
     */
    url: string;
    /** When it was uploaded. */
    created_at: Time;
    /** What the document is: `invoice`, `credit-note` or `receipt`. This and the next three only if they were given. */
    kind?: string | undefined;
    /** The document's number. */
    number?: string | undefined;
    /** The tax authority's id of the document (MARK of myDATA). */
    mark?: string | undefined;
    /** Where the document is too. */
    link?: string | undefined;
}
/** What is the merchant's own. Null and empty text remove it. */
export interface OrderUpdate {
    /** The merchant's own number of the order, on one line. */
    merchantReference?: string | null | undefined;
    /** A note. */
    merchantNote?: string | null | undefined;
}
/** The reason of the rejection. Unknown keys are ignored. */
export interface Rejection {
    /** `D` if present. */
    status?: "D" | undefined;
    /** The reason. Null and empty text mean none. */
    reason?: Reason | null | undefined;
}
/** The reason. Null and empty text mean none. */
export type Reason = "out-of-stock" | "damaged" | "wrong-price" | "disabled-product" | "wrong-product";
/** The answer to an order. */
export interface Answer {
    orderReference: Reference;
    /** What to do. */
    answer: Decision;
    /** Why the order is rejected. Null and empty text mean no reason. */
    reason?: Reason | null | undefined;
    /**
     * As the header `If-Match` of a single order: the line is `refused` if the order has changed since. Null: any
     * version.
     */
    ifMatch?: string | null | undefined;
}
/** What to do. */
export type Decision = "accept" | "reject";
/** What became of the answers of an array. */
export interface AnswerResults {
    /** A result for each element, in their order. */
    results: AnswerResult[];
    /** The number of answers by status. */
    summary: AnswerCounts;
}
/** The number of answers by status. */
export interface AnswerCounts {
    changed: number;
    unchanged: number;
    refused: number;
    not_found: number;
    invalid: number;
}
/** What became of an answer. */
export interface AnswerResult {
    /** Number of the line or element. */
    line: number;
    /** Store id of the merchant. */
    merchantId?: number | undefined;
    reference?: Reference | undefined;
    /** What became of it. */
    status: AnswerStatus;
    /** State of the order. */
    state?: string | undefined;
    /** Why the order was not changed. */
    problem?: string | undefined;
    /** The result is that of the first request with the Idempotency-Key. */
    replayed?: boolean | undefined;
}
/** What became of it. */
export type AnswerStatus = "changed" | "unchanged" | "refused" | "not_found" | "invalid";
/** A line of the response to answers in lines. */
export type AnswerLine = AnswerResult | BulkProgress | AnswerSummary;
/** A line that says how far the request got, with `results=problems`. */
export interface BulkProgress {
    /** How far the request got. */
    progress: Progress;
}
/** How far the request got. */
export interface Progress {
    /** The results up to this line are durable. */
    lastLine: number;
}
/** The last line of the response to answers in lines. */
export interface AnswerSummary {
    /** The number of answers by status. */
    summary: AnswerCounts;
    /** Whether every line of the body has a result. */
    complete: boolean;
    /** Number of the last line that has a result; 0: there is none. */
    lastLine: number;
    /** Why lines have no result; null if all have one. */
    problem: string | null;
}
/** A line of an export. */
export type ExportLine = Order | DamagedOrder | ExportSummary;
/** Stands for an order whose stored data is damaged. */
export interface DamagedOrder {
    id: Reference;
    /** What is wrong. */
    problem: string;
}
/** The last line of an export. */
export interface ExportSummary {
    /** What the export has. */
    summary: ExportCounts;
    /** Whether the export has all orders. */
    complete: boolean;
    /** Where the change feed ended before the first order was read. */
    after?: number | undefined;
    /** The `history` of the change feed. */
    history?: string | undefined;
    /** Why the export ended early; absent: it is complete. */
    problem?: string | undefined;
}
/** What the export has. */
export interface ExportCounts {
    /** The number of lines before this one. */
    orders: number;
}
export interface Success {
    /** Always true. */
    success: boolean;
}
/** An invoice file to upload. Unknown keys are ignored. */
export interface Upload {
    /**
     * Original name. The part after the last `/` or `\` is used, without control characters. Its extension
     * determines the type: pdf, png, jpeg or jpg, in any letter case.
     */
    filename: string;
    /** The content in standard base64 with padding; line breaks are ignored. At most 4,000,000 bytes after decoding. */
    contentBase64: string;
    kind?: InvoiceKind | undefined;
    number?: InvoiceNumber | undefined;
    mark?: InvoiceMark | undefined;
    link?: InvoiceAddress | undefined;
}
/**
 * The same as `multipart/form-data`, a third smaller. Unknown parts are ignored. An `Idempotency-Key` recognizes
 * the form, whatever its boundary.
 */
export interface UploadForm {
    /** The content, as it is. The file name of the part, in UTF-8, is `filename`. */
    file: string;
    kind?: InvoiceKind | undefined;
    number?: InvoiceNumber | undefined;
    mark?: InvoiceMark | undefined;
    link?: InvoiceAddress | undefined;
}
/** What the document is; an invoice if absent. */
export type InvoiceKind = "invoice" | "credit-note" | "receipt" | null;
/** The document's number, on one line, not of spaces only. */
export type InvoiceNumber = string | null;
/** The tax authority's id of the document (MARK of myDATA). */
export type InvoiceMark = string | null;
/** Where the document is too, such as at the provider that issued it. */
export type InvoiceAddress = string | null;
export interface Uploaded {
    /** Always `success`. */
    message: "success";
    invoice: Invoice;
}
export interface Withdrawn {
    /** Always `success`. */
    message: "success";
    /** The remaining files, oldest first. */
    invoices: Invoice[];
}
export interface InvoiceLink {
    /** The address to open. Treat it as a secret until it expires. */
    url: string;
    /** When the link expires. */
    expiresAt: Time;
}
/** A time, RFC 3339, UTC. */
export type Time = string;
/** A time, RFC 3339, UTC; null if there is none. */
export type TimeOrNull = string | null;
/**
 * `orders:read`: lists, single orders, events, files. `orders:write`: accept and reject. `invoices:write`:
 * upload and deletion of invoice files. `tokens`: the merchant's tokens. `webhooks`: its webhooks.
 */
export type Scope = "orders:read" | "orders:write" | "invoices:write" | "tokens" | "webhooks";
/** A token without its text. */
export interface Token {
    /** Id of the token in paths. */
    id: number;
    /** Scopes. */
    scopes: Scope[];
    /** What the token is for; null if it has no label. */
    label: string | null;
    /** First letters of its text; empty: it is of a session, and nobody has its text. */
    hint: string;
    /** Creation time. */
    createdAt: Time;
    /** Id of the token that created it; null: a command did. */
    createdBy: number | null;
    /** Expiry; null: none. */
    expiresAt: TimeOrNull;
    /** Time of the revocation; null: not revoked. */
    revokedAt: TimeOrNull;
    /** Time of the last use, accurate to about ten seconds; null: never. */
    lastUsedAt: TimeOrNull;
    /** IP address of the client at that time; null: not known. */
    lastUsedFrom: string | null;
    /** It is the token of the request. */
    current: boolean;
}
/** The token to create. */
export interface TokenRequest {
    /**
     * Scopes, no others than those of the token of the request. The default: those of `orders:read`, `orders:write`
     * and `invoices:write` that it has.
     */
    scopes?: Scope[] | undefined;
    /**
     * Lifetime, from `1s`, such as `90d` or `2160h`; or the day (UTC) at whose beginning the token expires, such as
     * `2027-01-31`. Without it the token lives as long as `--max-token-lifetime` allows, or until it is revoked.
     */
    expires?: string | undefined;
    /** What the token is for: one line of text. */
    label?: string | null | undefined;
}
/** The value of `after` for the next page; null: there is none. */
export type NextToken = number | null;
/**
 * Address of the endpoint: `https`, a public host name or address, port 443 or 8443, without user name and
 * fragment.
 */
export type WebhookURL = string;
/** Types of the events that are delivered; empty means all, also those that later versions add. */
export type WebhookTypes = ("order.created" | "order.state_changed" | "order.updated" | "invoice.uploaded" | "invoice.deleted" | "order.deleted" | "webhook.failed" | "order.deadline_near" | "webhook.failing" | (string & {}))[];
/** A name for people, on one line, of at most 200 bytes. */
export type WebhookDescription = string;
/** An endpoint that receives the events of a merchant. Its secret is not shown. */
export interface Webhook {
    /** Id of the webhook. */
    id: number;
    /** Id of the merchant. */
    merchantId: number;
    url: WebhookURL;
    description: WebhookDescription;
    types: WebhookTypes;
    include: WebhookInclude;
    batch: WebhookBatch;
    /** Names of the further headers of deliveries, sorted. Their values are not shown. */
    headerNames: string[];
    /** User name of Basic authentication; null if there is none. The password is not shown. */
    username: string | null;
    /**
     * `disabled` by a request, `failed` by the service; `failing` as `active`, but about to be disabled by the
     * service.
     */
    state: WebhookState;
    /** Why the webhook is failed or failing; null in the other states. */
    reason: string | null;
    stateChangedAt: TimeOrNull;
    createdAt: Time;
    oldSecretUntil: TimeOrNull;
    /** Number of the last event that the endpoint has acknowledged or does not subscribe to. */
    acknowledged: number;
    /** Failed deliveries since the last success. */
    failures: number;
    failingSince: TimeOrNull;
    nextAttemptAt: TimeOrNull;
}
/**
 * `disabled` by a request, `failed` by the service; `failing` as `active`, but about to be disabled by the
 * service.
 */
export type WebhookState = "failed" | "failing" | "active" | "disabled";
export interface WebhookList {
    /** The webhooks, by id. */
    webhooks: Webhook[];
}
export interface WebhookSecret {
    /**
     * The secret that signs deliveries; it cannot be read again. `null` in a replay, because responses with secrets
     * are not stored.
     */
    secret: string | null;
    webhook: Webhook;
}
/**
 * Further headers of deliveries, which replace all earlier ones: at most 10, with names that begin with `X-` and
 * are not for routing, or `Authorization`, `Api-Key`, `Apikey`, `Cf-Access-Client-Id`,
 * `Cf-Access-Client-Secret`, `Ocp-Apim-Subscription-Key`, `X-Client-Id` or `X-Client-Secret`. Null, `{}`, or a
 * `url` of another host removes them.
 */
export type WebhookHeaders = Record<string, string> | null;
/**
 * User name of Basic authentication, with `password`; null, or both empty, for none. A `url` of another host
 * removes both.
 */
export type WebhookUsername = string | null;
/** Password of Basic authentication, with `username`. */
export type WebhookPassword = string | null;
/**
 * With `order` each delivery has the order of its event as it is when the delivery is sent. A token that sets
 * this, or the `url` of such a webhook, needs the scope `orders:read` too.
 */
export type WebhookInclude = "order" | null;
/**
 * How many events a delivery may have. With more than 1 its body is `{"events":[...]}`, also with a single
 * event.
 */
export type WebhookBatch = number;
/** A new webhook. Unknown keys are refused. */
export interface WebhookRequest {
    url: WebhookURL;
    description?: WebhookDescription | undefined;
    types?: WebhookTypes | undefined;
    include?: WebhookInclude | undefined;
    batch?: WebhookBatch | undefined;
    headers?: WebhookHeaders | undefined;
    username?: WebhookUsername | undefined;
    password?: WebhookPassword | undefined;
    /** Number of the event after which deliveries begin. Default is the newest event. */
    after?: number | undefined;
}
/** What to change of a webhook. Unknown keys are refused. */
export interface WebhookChange {
    url?: WebhookURL | undefined;
    description?: WebhookDescription | undefined;
    types?: WebhookTypes | undefined;
    include?: WebhookInclude | undefined;
    batch?: WebhookBatch | undefined;
    headers?: WebhookHeaders | undefined;
    username?: WebhookUsername | undefined;
    password?: WebhookPassword | undefined;
    /** Whether events are delivered. */
    enabled?: boolean | undefined;
}
/** How to replace the secret. Unknown keys are refused. */
export interface WebhookRotation {
    /** How long the old secret signs too: a duration from `0s` to `168h`. */
    overlap?: string | undefined;
}
/** The event to send again. Unknown keys are refused. */
export interface WebhookRedelivery {
    /** Number of the event. */
    event: number;
}
/** Where to begin. Unknown keys are refused. */
export interface WebhookReplay {
    /** Number of the event after which deliveries begin again. */
    after: number;
}
export interface WebhookRemoved {
    /** Always true. */
    success: boolean;
}
/** One attempt to deliver an event. */
export interface Delivery {
    /**
     * Number of the delivery: 1, 2, 3, ... for each webhook; 0 if it is not in the log, because the webhook changed
     * meanwhile.
     */
    id: number;
    at: Time;
    /** The header `webhook-id`; the same at each attempt for an event. */
    messageId: string;
    /** Number of the event, of several the first; null of a test. */
    event: number | null;
    /** Of a delivery with several events: how many. */
    events?: number | undefined;
    /** Type of the event, or `webhook.test`. */
    type: string;
    /** Status of the response; null if there was none. */
    status: number | null;
    /**
     * Null if the endpoint has acknowledged. `status`: the status is not 2xx. `timeout`: no response within 10
     * seconds. `address`: the host has an address that is not public. `resolve`: the host name has no address.
     * `tls`: the certificate is not valid. `connection`: no connection, or it broke.
     */
    error: "status" | "timeout" | "address" | "resolve" | "tls" | "connection" | null;
    /** Duration in milliseconds. */
    tookMs: number;
    /** The first 1,024 bytes of the response's body, as text. */
    response: string;
}
export interface WebhookSent {
    /** Whether the status was 2xx. */
    acknowledged: boolean;
    delivery: Delivery;
}
export interface DeliveryList {
    /** The deliveries, the newest first. */
    deliveries: Delivery[];
    /** The value of `before` for the next page; null if there is none. */
    next: number | null;
}
export interface CreatedToken {
    /** The text of the token; it cannot be read again. Null in a replay: it is not stored. */
    text: string | null;
    token: Token;
}
export interface RotatedToken {
    /** The text of the token; it cannot be read again. Null in a replay: it is not stored. */
    text: string | null;
    token: Token;
    /** The old token, with its new expiry. */
    replaced: Token;
}
