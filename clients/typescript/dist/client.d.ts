/**
 * Client of version 2 of Merchant Orders, for Node.js 20 or later, Deno and Bun, without other packages.
 *
 *     const client = new Client("https://orders.example.com", token);
 *     for await (const order of client.orders({ state: "registered" })) await client.accept(order.id);
 *
 * Orders and events are as the interface shows them: amounts are integers in the minor unit of the currency, times are
 * texts in UTC.
 *
 * A call is retried after a broken connection, a timeout, and the statuses 408, 429, 5xx, and 409 with Retry-After. Each
 * write has an Idempotency-Key, which is the same in all attempts, so the service makes the change once.
 */
import type * as wire from "./types.js";
import type { Answer, AnswerResult, Event, Feed, Invoice, Order, OrderSummary, OrderUpdate, Reason, State, UnansweredOrder } from "./types.js";
export type * from "./types.js";
/** Ends a call, and the waits between its attempts: it throws the reason of the signal. */
export type Abortable = {
    signal?: AbortSignal | undefined;
};
/** Selects orders. Days are like 2026-11-20. */
export type Filter = Abortable & {
    state?: State | undefined;
    dateFrom?: string | undefined;
    dateTo?: string | undefined;
};
/** The tag that order returned, so that the write fails if the order has changed since; and a key instead of a random one. */
export type WriteOptions = Abortable & {
    ifMatch?: string | undefined;
    key?: string | undefined;
};
/** Which document an invoice file is. A service of version 1.0.0 ignores it: the returned entry has what was stored. */
export type InvoiceDocument = Pick<wire.Upload, "kind" | "number" | "mark" | "link">;
/** The history in which the number was read; and whether each event has its order. */
export type FeedOptions = Abortable & {
    history?: string | undefined;
    withOrders?: boolean | undefined;
};
/** Seconds that an attempt waits for the service to send something; attempts of a call; maximum of seconds between two. */
export type Options = {
    timeout?: number | undefined;
    tries?: number | undefined;
    maxWait?: number | undefined;
};
/** After the last order, after and history are where the change feed ended before the first was read: follow it from there. */
export type Export = {
    orders(): AsyncGenerator<Order>;
    after: number;
    history: string;
};
/** The bytes of a file: a Uint8Array of an ArrayBuffer, also in TypeScript before 5.7. */
export type Bytes = InstanceType<typeof Uint8Array>;
/** The JSON of a response, and its headers. */
export type Reply<T> = {
    body: T;
    headers: Headers;
};
/** A call failed: an error of its own class for each kind of refusal. */
export declare class ClientError extends Error {
    readonly temporary: boolean;
    readonly status: number;
    readonly code: string;
    readonly retryAfter: number;
    readonly requestId: string;
    readonly detail: string;
    constructor(message: string, { temporary, status, code, retryAfter, requestId, detail }?: {
        temporary?: boolean | undefined;
        status?: number | undefined;
        code?: string | undefined;
        retryAfter?: number | undefined;
        requestId?: string | undefined;
        detail?: string | undefined;
    });
}
/** No complete response. */
export declare class TransportError extends ClientError {
}
/** 401: the token is missing or not valid. */
export declare class UnauthorizedError extends ClientError {
}
/** 403: the token does not allow this. */
export declare class ForbiddenError extends ClientError {
}
/** 404: the merchant has no such order, file, token or webhook. */
export declare class NotFoundError extends ClientError {
}
/** 412: the order has changed since it was read. */
export declare class PreconditionError extends ClientError {
}
/** 422: the key belongs to another write. */
export declare class KeyReusedError extends ClientError {
}
/** 429: too many requests. */
export declare class RateLimitedError extends ClientError {
}
/** 5xx: the service failed, or is temporarily unavailable. */
export declare class UnavailableError extends ClientError {
}
/** Event numbers have started again: discard the position and begin a new copy. */
export declare class HistoryChanged extends ClientError {
}
/** A request is no valid delivery of a webhook: respond with 401 and ignore it. */
export declare class WebhookError extends Error {
}
/** Calls one service with one token. */
export declare class Client {
    #private;
    constructor(baseUrl: string, token: string, { timeout, tries, maxWait }?: Options);
    /** Sends any request below /v2, such as GET /webhooks, and returns the JSON of the response and its headers. */
    request<T>(method: string, path: string, body?: unknown, write?: WriteOptions): Promise<Reply<T>>;
    /** Returns all orders, newest first, each that existed at the beginning exactly once. */
    orders({ signal, ...filter }?: Filter): AsyncGenerator<OrderSummary>;
    /** Returns the orders to accept or reject, the earliest deadline first; only those with one before a time such as 2026-11-20T12:00:00Z. */
    unanswered(before?: string, options?: Abortable): AsyncGenerator<UnansweredOrder>;
    /** Returns the orders whose customer asked for an invoice and that have no invoice file, oldest first, without those rejected or canceled. */
    withoutInvoice(options?: Abortable): AsyncGenerator<OrderSummary>;
    /** Returns the orders with your own number, newest first, at most 100. */
    byMerchantReference(number: string, options?: Abortable): Promise<OrderSummary[]>;
    /** Returns an order and its tag for ifMatch. */
    order(reference: string, options?: Abortable): Promise<{
        order: Order;
        tag: string;
    }>;
    /** Accepts a registered order. */
    accept(reference: string, options?: WriteOptions): Promise<void>;
    /** Rejects a registered order. */
    reject(reference: string, reason?: Reason, options?: WriteOptions): Promise<void>;
    /**
     * Accepts and rejects orders, 10,000 in a request, and returns a result for each, in their order. A refused answer
     * affects no other and throws nothing. The key is that of the first request; the n-th has "-n" after it.
     */
    answers(answers: Iterable<Answer>, { key, signal }?: Abortable & Pick<WriteOptions, "key">): AsyncGenerator<AnswerResult>;
    /** Changes your own number and note of an order. */
    update(reference: string, update: OrderUpdate, options?: WriteOptions): Promise<void>;
    /** Stores an invoice file (pdf, png, jpeg, jpg) of at most 4,000,000 bytes. */
    uploadInvoice(reference: string, filename: string, content: Uint8Array, options?: WriteOptions & InvoiceDocument): Promise<Invoice>;
    /** Returns the content of an invoice file. */
    downloadInvoice({ url }: Invoice, options?: Abortable): Promise<Bytes>;
    /** Deletes an invoice file and returns the remaining ones. */
    deleteInvoice(reference: string, id: number, options?: WriteOptions): Promise<Invoice[]>;
    /** Returns a link that opens an invoice file in a browser, for 15 minutes, without a token. */
    invoiceLink(reference: string, id: number, options?: WriteOptions): Promise<wire.InvoiceLink>;
    /** Returns the webhooks. */
    webhooks(options?: Abortable): Promise<wire.Webhook[]>;
    /** Creates a webhook and returns it with its secret, which cannot be read again; null if the response to an earlier attempt was lost. */
    createWebhook(webhook: wire.WebhookRequest, options?: WriteOptions): Promise<wire.WebhookSecret>;
    /** Replaces the secret of a webhook, and returns it as createWebhook does; both sign for overlap, such as "24h". */
    rotateWebhookSecret(id: number, overlap: string, options?: WriteOptions): Promise<wire.WebhookSecret>;
    /** Changes a webhook. */
    updateWebhook(id: number, change: wire.WebhookChange, options?: WriteOptions): Promise<wire.Webhook>;
    /** Deletes a webhook. */
    deleteWebhook(id: number, options?: WriteOptions): Promise<void>;
    /** Sends a test event to a webhook and returns what came of it. */
    testWebhook(id: number, options?: WriteOptions): Promise<wire.Delivery>;
    /** Returns the tokens, by id. */
    tokens(options?: Abortable): AsyncGenerator<wire.Token>;
    /** Creates a token and returns it with its text, which cannot be read again. */
    createToken(token?: wire.TokenRequest, options?: WriteOptions): Promise<wire.CreatedToken>;
    /** Replaces a token: the old one ends after overlap, such as "48h". */
    rotateToken(id: number, overlap: string, options?: WriteOptions): Promise<wire.RotatedToken>;
    /** Revokes a token. */
    revokeToken(id: number, options?: WriteOptions): Promise<void>;
    /** Returns an export of whole orders, oldest first. After a connection that breaks it goes on after the last order. */
    export({ signal, ...filter }?: Filter): Export;
    /** Returns the events after a number, waiting up to wait seconds (at most 30) for one. */
    eventsPage(after: number | "latest", { limit, wait, withOrders, signal }?: Abortable & Pick<FeedOptions, "withOrders"> & {
        limit?: number | undefined;
        wait?: number | undefined;
    }): Promise<Feed>;
    /**
     * Returns the events after a number, up to the newest. To go on later, store seq and history of the last one. Throws
     * HistoryChanged if numbers have started again.
     */
    events(after: number, options?: FeedOptions): AsyncGenerator<Event>;
    /** Is events, but waits for new ones, without end. */
    followEvents(after: number, options?: FeedOptions): AsyncGenerator<Event>;
}
/** The headers of a request, of Fetch or Node.js. */
export type WebhookHeaders = Headers | Record<string, string | string[] | undefined>;
/**
 * Verifies a delivery of a webhook, given its headers and whole body, and returns its event. Throws a WebhookError unless
 * one of the secrets signed it within the last five minutes. A receiver that stores the header webhook-id processes no event
 * twice. A webhook with a batch needs webhookEvents.
 */
export declare function verifyWebhook(headers: WebhookHeaders, body: Uint8Array, ...secrets: string[]): Promise<Event>;
/**
 * Is verifyWebhook for every webhook, with a batch or without: returns the events of the delivery, in order. The response
 * acknowledges all of them, or none. An event may arrive again, also in another batch. It is the same one if seq and at are.
 */
export declare function webhookEvents(headers: WebhookHeaders, body: Uint8Array, ...secrets: string[]): Promise<Event[]>;
