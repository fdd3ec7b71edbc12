/** A call failed: an error of its own class for each kind of refusal. */
export class ClientError extends Error {
    temporary; // a later attempt may succeed
    status; // 0: no response
    code; // of the service, such as "10304"; may be empty
    retryAfter; // seconds; 0: the service has not said
    requestId; // for the log of the service
    detail; // of the service: what is wrong and what is right; may be empty
    constructor(message, { temporary = false, status = 0, code = "", retryAfter = 0, requestId = "", detail = "" } = {}) {
        const about = Object.entries({ status, code, request: requestId }).filter(([, value]) => value);
        const text = ["", message, message + "."].includes(detail) ? message : `${message.replace(/\.$/, "")}: ${detail}`;
        super(about.length > 0 ? `${text} (${about.map((pair) => pair.join(" ")).join(", ")})` : text);
        this.name = new.target.name;
        this.temporary = temporary;
        this.status = status;
        this.code = code;
        this.retryAfter = retryAfter;
        this.requestId = requestId;
        this.detail = detail;
    }
}
/** No complete response. */
export class TransportError extends ClientError {
}
/** 401: the token is missing or not valid. */
export class UnauthorizedError extends ClientError {
}
/** 403: the token does not allow this. */
export class ForbiddenError extends ClientError {
}
/** 404: the merchant has no such order, file, token or webhook. */
export class NotFoundError extends ClientError {
}
/** 412: the order has changed since it was read. */
export class PreconditionError extends ClientError {
}
/** 422: the key belongs to another write. */
export class KeyReusedError extends ClientError {
}
/** 429: too many requests. */
export class RateLimitedError extends ClientError {
}
/** 5xx: the service failed, or is temporarily unavailable. */
export class UnavailableError extends ClientError {
}
const errorOf = {
    401: UnauthorizedError, 403: ForbiddenError, 404: NotFoundError, 412: PreconditionError, 422: KeyReusedError, 429: RateLimitedError,
};
/** Event numbers have started again: discard the position and begin a new copy. */
export class HistoryChanged extends ClientError {
}
/** A request is no valid delivery of a webhook: respond with 401 and ignore it. */
export class WebhookError extends Error {
}
/** Calls one service with one token. */
export class Client {
    #base;
    #token;
    #options;
    constructor(baseUrl, token, { timeout = 60, tries = 5, maxWait = 60 } = {}) {
        if (!/^https?:\/\/[^/?#@\s]+(\/[^?#\s]*)?$/.test(baseUrl)) {
            throw new TypeError("the address of the service must be a URL such as https://orders.example.com");
        }
        if (!/^[!-~]+$/.test(token)) {
            throw new TypeError("the token is empty or contains characters that are not allowed in a token");
        }
        this.#base = baseUrl.replace(/\/+$/, "") + "/v2";
        this.#token = token;
        this.#options = { timeout, tries, maxWait };
    }
    /** Sends any request below /v2, such as GET /webhooks, and returns the JSON of the response and its headers. */
    async request(method, path, body, write) {
        return this.#ask("", method, path, body, write);
    }
    /** Is request for a response that has a member. */
    async #ask(has, method, path, body, write) {
        return this.#read({ method, path, has, body: JSON.stringify(body), write, signal: write?.signal });
    }
    /** Returns all orders, newest first, each that existed at the beginning exactly once. */
    async *orders({ signal, ...filter } = {}) {
        for (let query = search({ itemsPerPage: 100, ...filter }); query;) {
            const page = await this.#ask("orders", "GET", "/orders" + query, undefined, { signal });
            yield* page.body.orders;
            query = /<[^>]*(\?[^>]*)>; rel="next"/.exec(page.headers.get("Link") ?? "")?.[1];
        }
    }
    /** Returns the orders to accept or reject, the earliest deadline first; only those with one before a time such as 2026-11-20T12:00:00Z. */
    unanswered(before, options) {
        return this.#pages("/orders/unanswered", { expiresBefore: before }, options);
    }
    /** Returns the orders whose customer asked for an invoice and that have no invoice file, oldest first, without those rejected or canceled. */
    withoutInvoice(options) {
        return this.#pages("/orders/without-invoice", {}, options);
    }
    async *#pages(path, query, options) {
        for (let cursor; cursor !== null;) {
            const page = await this.#ask("orders", "GET", path + search({ limit: 100, ...query, cursor }), undefined, options);
            yield* page.body.orders;
            cursor = page.body.next;
        }
    }
    /** Returns the orders with your own number, newest first, at most 100. */
    async byMerchantReference(number, options) {
        if (/^\.{0,2}$/.test(number))
            throw new TypeError(`"${number}" is not a number to find orders by`); // the path would be another one
        return (await this.#ask("orders", "GET", "/orders/by-merchant-reference/" + encodeURIComponent(number), undefined, options)).body.orders;
    }
    /** Returns an order and its tag for ifMatch. */
    async order(reference, options) {
        const { body, headers } = await this.#ask("order", "GET", path(reference), undefined, options);
        return { order: body.order, tag: (headers.get("ETag") ?? "").replace(/^W\//, "") }; // weak: of a proxy that compresses
    }
    /** Accepts a registered order. */
    async accept(reference, options) {
        await this.#ask("success", "PATCH", path(reference, "/accept"), undefined, options);
    }
    /** Rejects a registered order. */
    async reject(reference, reason, options) {
        await this.#ask("success", "PATCH", path(reference, "/reject"), { status: "D", reason }, options);
    }
    /**
     * Accepts and rejects orders, 10,000 in a request, and returns a result for each, in their order. A refused answer
     * affects no other and throws nothing. The key is that of the first request; the n-th has "-n" after it.
     */
    async *answers(answers, { key = crypto.randomUUID(), signal } = {}) {
        const all = [...answers];
        for (let number = 1; all.length > 0; number++) {
            const batch = all.splice(0, 10_000);
            const body = batch.map((answer) => JSON.stringify(answer) + "\n").join("");
            const write = { key: number === 1 ? key : `${key}-${number}` };
            const results = (await this.#read({ method: "POST", path: "/orders/answers", body, write, lines: true, signal })).body;
            if (results.length !== batch.length)
                throw new ClientError("unexpected response: results are missing");
            yield* results;
        }
    }
    /** Changes your own number and note of an order. */
    async update(reference, update, options) {
        await this.#ask("success", "PATCH", path(reference), update, options);
    }
    /** Stores an invoice file (pdf, png, jpeg, jpg) of at most 4,000,000 bytes. */
    async uploadInvoice(reference, filename, content, options = {}) {
        if (content.length > 4_000_000)
            throw new RangeError("the file is larger than 4000000 bytes");
        const { kind, number, mark, link, ...write } = options;
        const body = { filename, contentBase64: base64(content), kind, number, mark, link };
        return (await this.#ask("invoice", "POST", path(reference, "/invoices"), body, write)).body.invoice;
    }
    /** Returns the content of an invoice file. */
    async downloadInvoice({ url }, options = {}) {
        for (let attempt = 1;; attempt++) {
            try {
                return await this.#download(url, options.signal);
            }
            catch (error) {
                await this.#pause(attempt, error, options.signal);
            }
        }
    }
    async #download(url, signal) {
        const own = new URL(url).origin === new URL(this.#base).origin; // the token must not reach another address
        const headers = own ? { Authorization: "Bearer " + this.#token, Prefer: "handling=strict" } : {};
        const ends = AbortSignal.timeout(4000 * this.#options.timeout);
        try {
            const response = await fetch(url, { headers, redirect: "manual", signal: signal ? AbortSignal.any([ends, signal]) : ends });
            if (response.ok)
                return new Uint8Array(await response.arrayBuffer());
            throw refusal(response.status, withoutToken(response.headers, this.#token), await beginning(response), this.#token);
        }
        catch (error) {
            throw unsent(error, signal);
        }
    }
    /** Deletes an invoice file and returns the remaining ones. */
    async deleteInvoice(reference, id, options) {
        return (await this.#ask("invoices", "DELETE", path(reference, `/invoices/${id}`), undefined, options)).body.invoices;
    }
    /** Returns a link that opens an invoice file in a browser, for 15 minutes, without a token. */
    async invoiceLink(reference, id, options) {
        return (await this.#ask("url", "POST", path(reference, `/invoices/${id}/link`), undefined, options)).body;
    }
    /** Returns the webhooks. */
    async webhooks(options) {
        return (await this.#ask("webhooks", "GET", "/webhooks", undefined, options)).body.webhooks;
    }
    /** Creates a webhook and returns it with its secret, which cannot be read again; null if the response to an earlier attempt was lost. */
    async createWebhook(webhook, options) {
        return (await this.#ask("webhook", "POST", "/webhooks", webhook, options)).body;
    }
    /** Replaces the secret of a webhook, and returns it as createWebhook does; both sign for overlap, such as "24h". */
    async rotateWebhookSecret(id, overlap, options) {
        return (await this.#ask("webhook", "POST", `/webhooks/${id}/secret`, { overlap }, options)).body;
    }
    /** Changes a webhook. */
    async updateWebhook(id, change, options) {
        return (await this.#ask("id", "PATCH", `/webhooks/${id}`, change, options)).body;
    }
    /** Deletes a webhook. */
    async deleteWebhook(id, options) {
        await this.#ask("success", "DELETE", `/webhooks/${id}`, undefined, options);
    }
    /** Sends a test event to a webhook and returns what came of it. */
    async testWebhook(id, options) {
        return (await this.#ask("delivery", "POST", `/webhooks/${id}/test`, undefined, options)).body.delivery;
    }
    /** Returns the tokens, by id. */
    async *tokens(options) {
        for (let after = 0; after !== null;) {
            const page = await this.#ask("tokens", "GET", "/tokens" + search({ after }), undefined, options);
            yield* page.body.tokens;
            after = page.body.next;
        }
    }
    /** Creates a token and returns it with its text, which cannot be read again. */
    async createToken(token = {}, options) {
        return (await this.#ask("token", "POST", "/tokens", token, options)).body;
    }
    /** Replaces a token: the old one ends after overlap, such as "48h". */
    async rotateToken(id, overlap, options) {
        return (await this.#ask("token", "POST", `/tokens/${id}/rotate`, { overlap }, options)).body;
    }
    /** Revokes a token. */
    async revokeToken(id, options) {
        await this.#ask("success", "DELETE", `/tokens/${id}`, undefined, options);
    }
    /** Returns an export of whole orders, oldest first. After a connection that breaks it goes on after the last order. */
    export({ signal, ...filter } = {}) {
        const query = { ...filter };
        const exported = { orders: () => this.#exported(query, exported, signal), after: 0, history: "" };
        return exported;
    }
    async *#exported(query, end, signal) {
        for (let attempt = 1;; attempt++) {
            try {
                const { headers, texts } = await this.#send({ method: "GET", path: "/orders/export" + search(query), lines: true, signal });
                for await (const order of lines(texts, end, headers)) {
                    query.cursor = `${headers.get("Export-Cursor")}.${order.id}`;
                    attempt = 0;
                    yield order;
                }
                return;
            }
            catch (error) {
                await this.#pause(Math.max(attempt, 1), error, signal);
            }
        }
    }
    /** Returns the events after a number, waiting up to wait seconds (at most 30) for one. */
    async eventsPage(after, { limit = 1000, wait = 0, withOrders = false, signal } = {}) {
        const query = search({ after, limit, wait, include: withOrders ? "order" : undefined });
        return (await this.#read({ method: "GET", path: "/events" + query, has: "events", wait, signal })).body;
    }
    /**
     * Returns the events after a number, up to the newest. To go on later, store seq and history of the last one. Throws
     * HistoryChanged if numbers have started again.
     */
    events(after, options = {}) {
        return this.#events(after, options, 0);
    }
    /** Is events, but waits for new ones, without end. */
    followEvents(after, options = {}) {
        return this.#events(after, options, 30);
    }
    async *#events(after, { history = "", withOrders, signal }, wait) {
        for (;;) {
            const requested = Date.now();
            const page = await this.eventsPage(after, { wait, withOrders, signal });
            if (page.history !== (history || page.history) || page.newest < after) {
                throw new HistoryChanged("event numbers have started again; begin a new copy");
            }
            ({ next: after, history } = page);
            for (const event of page.events)
                yield { ...event, history };
            if (page.events.length > 0)
                continue;
            if (wait === 0)
                return;
            // Too many clients wait, and the service responds at once.
            if (Date.now() - requested < 1000)
                await sleep(1 + Math.random(), signal);
        }
    }
    /** Returns the JSON of a response, or that of its lines before the last, and its headers. */
    async #read(call) {
        const write = call.method === "GET" ? undefined : { ...call.write, key: call.write?.key || crypto.randomUUID() };
        for (let attempt = 1;; attempt++) {
            try {
                const { headers, texts } = await this.#send({ ...call, write });
                const body = call.lines ? await all(lines(texts, {}, headers)) : json((await all(texts)).join(""), headers);
                // It is of another server.
                if (call.has && !body?.[call.has])
                    throw new ClientError("unexpected response: it has no " + call.has, { status: 200, ...requestOf(headers) });
                return { body, headers };
            }
            catch (error) {
                await this.#pause(attempt, error, call.signal);
            }
        }
    }
    /** Sends a request once, and returns its headers and the texts of its body, as they arrive. */
    async #send({ method, path, body, write, lines, wait = 0, signal }) {
        const type = lines ? "application/x-ndjson" : "application/json";
        const headers = new Headers({ Authorization: "Bearer " + this.#token, "User-Agent": "merchant-orders-typescript/2", Prefer: "handling=strict", Accept: type, "Content-Type": type });
        if (write?.key)
            headers.set("Idempotency-Key", write.key);
        if (write?.ifMatch)
            headers.set("If-Match", write.ifMatch);
        const stop = new AbortController();
        const inTime = async (work, answer) => {
            const alarm = setTimeout(() => stop.abort(new Error("nothing was received in time")), 1000 * (this.#options.timeout + wait));
            try {
                return await work;
            }
            catch (error) {
                throw unsent(error, signal, answer);
            }
            finally {
                clearTimeout(alarm);
            }
        };
        // The token must not reach another address.
        const response = await inTime(fetch(this.#base + path, { method, body, headers, redirect: "manual", signal: signal ? AbortSignal.any([stop.signal, signal]) : stop.signal }));
        const received = withoutToken(response.headers, this.#token);
        if (!response.ok)
            throw refusal(response.status, received, await inTime(beginning(response), received), this.#token);
        const texts = (async function* () {
            const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
            try {
                for (let next; reader && !(next = await inTime(reader.read(), received)).done;)
                    yield next.value;
            }
            finally {
                stop.abort();
            }
        })();
        if (!response.headers.get("Content-Type")?.toLowerCase().startsWith(type)) {
            stop.abort();
            throw new ClientError("unexpected response: it is no " + type, { status: response.status, ...requestOf(received) });
        }
        return { headers: received, texts };
    }
    /** Waits after an attempt, or throws its error if there is to be no other. The random part spreads many clients. */
    async #pause(attempt, error, signal) {
        const { tries, maxWait } = this.#options;
        if (!(error instanceof ClientError) || attempt >= tries || !error.temporary || error.retryAfter > maxWait)
            throw error;
        const backoff = Math.min(0.25 * 2 ** (attempt - 1), maxWait);
        await sleep(error.retryAfter ? error.retryAfter + 0.25 * Math.random() : backoff * (0.5 + 0.5 * Math.random()), signal);
    }
}
/**
 * Verifies a delivery of a webhook, given its headers and whole body, and returns its event. Throws a WebhookError unless
 * one of the secrets signed it within the last five minutes. A receiver that stores the header webhook-id processes no event
 * twice. A webhook with a batch needs webhookEvents.
 */
export async function verifyWebhook(headers, body, ...secrets) {
    const delivery = await verified(headers, body, secrets);
    if ("events" in delivery)
        throw new TypeError("the delivery is a batch, which webhookEvents reads");
    return delivery;
}
/**
 * Is verifyWebhook for every webhook, with a batch or without: returns the events of the delivery, in order. The response
 * acknowledges all of them, or none. An event may arrive again, also in another batch. It is the same one if seq and at are.
 */
export async function webhookEvents(headers, body, ...secrets) {
    const delivery = await verified(headers, body, secrets);
    const events = "events" in delivery ? delivery.events : [delivery];
    if (!Array.isArray(events) || events.some((event) => !event?.type))
        throw new TypeError("the delivery has no list of events with types");
    return events;
}
/** Verifies a delivery and returns its JSON. */
async function verified(headers, body, secrets) {
    const received = [...(headers instanceof Headers ? headers : Object.entries(headers))];
    const header = (name) => received.find(([key]) => key.toLowerCase() === name)?.[1]?.toString() ?? "";
    const [id, sent] = [header("webhook-id"), header("webhook-timestamp")];
    if (!id || !/^[0-9]{1,12}$/.test(sent) || Math.abs(Date.now() / 1000 - Number(sent)) > 300) {
        throw new WebhookError("the id or the time of the delivery is missing, or its time is more than five minutes off");
    }
    const signed = new Uint8Array([...new TextEncoder().encode(`${id}.${sent}.`), ...body]);
    let valid = false;
    for (const secret of secrets) {
        const key = await crypto.subtle.importKey("raw", bytes(secret.replace(/^whsec_/, "")), { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
        for (const signature of header("webhook-signature").split(" ")) {
            const [, text] = /^v1,([0-9A-Za-z+/]{43}=)$/.exec(signature) ?? [];
            if (text)
                valid = (await crypto.subtle.verify("HMAC", key, bytes(text), signed)) || valid;
        }
    }
    if (!valid)
        throw new WebhookError("no signature of the delivery matches");
    return JSON.parse(new TextDecoder().decode(body));
}
const bytes = (base64) => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
/** Returns base64 of a content, from parts: a text of one character a byte would block for a second. */
function base64(content) {
    let text = "";
    for (let at = 0; at < content.length; at += 0x6000)
        text += btoa(String.fromCharCode(...content.subarray(at, at + 0x6000)));
    return text;
}
/** Waits, unless a signal ends it. */
const sleep = (seconds, signal) => new Promise((done, failed) => {
    signal?.throwIfAborted();
    const end = () => {
        clearTimeout(alarm);
        failed(signal?.reason);
    };
    const alarm = setTimeout(() => {
        signal?.removeEventListener("abort", end);
        done();
    }, 1000 * seconds);
    signal?.addEventListener("abort", end, { once: true });
});
function search(parameters) {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(parameters))
        if (value !== undefined)
            query.set(name, String(value));
    return "?" + query;
}
function path(reference, below = "") {
    if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(reference))
        throw new TypeError(`"${reference}" is not a reference of an order`);
    return `/orders/${reference}${below}`;
}
async function all(values) {
    const result = [];
    for await (const value of values)
        result.push(value);
    return result;
}
function json(text, headers) {
    try {
        return JSON.parse(text);
    }
    catch (error) { // it is cut off
        throw new TransportError("unexpected response: " + error, { temporary: true, ...requestOf(headers) });
    }
}
const requestOf = (headers) => ({ requestId: headers?.get("X-Request-Id") ?? "" });
/** Returns headers, of which errors show some. */
function withoutToken(headers, token) {
    const clean = new Headers();
    headers.forEach((value, name) => clean.append(name, value.replaceAll(token, "[token]")));
    return clean;
}
/** Returns the beginning of the body of an error, as far as it arrives. */
async function beginning(response) {
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    try {
        for (let next; reader && text.length < 0x10000 && !(next = await reader.read()).done;)
            text += next.value;
        await reader?.cancel();
    }
    catch {
        // The status is sufficient.
    }
    return text;
}
/** Returns the lines of a response before its summary, which it assigns to end. */
async function* lines(texts, end, headers) {
    let rest = "";
    for await (const text of texts) {
        const parts = (rest + text).split("\n");
        rest = parts.pop() ?? "";
        for (const part of parts) {
            const document = json(part, headers);
            if (document.complete) {
                Object.assign(end, { after: document.after, history: document.history });
                return;
            }
            if (document.complete === false)
                throw new TransportError(document.problem, { temporary: true, ...requestOf(headers) });
            yield document;
        }
    }
    throw new TransportError("the response has no end", { temporary: true, ...requestOf(headers) });
}
/** Returns the error of a request without a complete response, or the reason of the signal that ended it. */
function unsent(error, signal, answer) {
    if (signal?.aborted)
        return signal.reason;
    if (error instanceof ClientError)
        return error;
    const cause = error?.cause ?? error;
    return new TransportError(`no response: ${cause?.message || cause?.code || cause}`, { temporary: !/CERT|VERIFY/.test(cause?.code), ...requestOf(answer) });
}
/** Returns the error of a status that is no success. */
function refusal(status, headers, body, token) {
    const text = body.replaceAll(token, "[token]");
    let error = {};
    try {
        error = JSON.parse(text) ?? {};
        error = error.error ?? error;
    }
    catch {
        // It is from a proxy.
    }
    const asked = headers.get("Retry-After") ?? "";
    const retryAfter = /^[0-9]+$/.test(asked) ? Number(asked) : Math.max((Date.parse(asked) - Date.now()) / 1000, 0) || 0;
    // A 409 without Retry-After stays.
    const temporary = status === 408 || status === 429 || status >= 500 || (status === 409 && retryAfter > 0);
    const [moved, page] = [headers.get("Location"), text.replace(/<head.*?<\/head>|<[^>]*>/gis, " ").replace(/\s+/g, " ").trim().slice(0, 200)];
    const known = error.message && (status !== 404 || error.code || /^The .* was not found/.test(error.message));
    const message = known ? error.message : "a proxy or another server responded" + (moved ? ": it is at " + moved : page && ": " + page);
    // Of a proxy's 404 nobody knows whether the order exists.
    const kind = status >= 500 ? UnavailableError : status !== 404 || known ? errorOf[status] : undefined;
    return new (kind ?? ClientError)(String(message), { temporary, status, code: String(error.code ?? ""), retryAfter, ...requestOf(headers), detail: headers.get("Error-Detail") ?? "" });
}
