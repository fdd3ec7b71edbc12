// Makes every call of the client, for a test that compares what it prints.
import { performance } from "node:perf_hooks";
import {
  Client, ClientError, HistoryChanged, NotFoundError, PreconditionError, RateLimitedError, UnauthorizedError, WebhookError, verifyWebhook, webhookEvents,
} from "merchant-orders";
import type { Event, State } from "merchant-orders";

const client = new Client(process.env.ORDERS_URL!, process.env.ORDERS_TOKEN!, { maxWait: 1 });
const result: Record<string, unknown> = {};

async function refusal(call: Promise<unknown>): Promise<ClientError> {
  try {
    await call;
  } catch (error) {
    if (error instanceof ClientError) return error;
    throw error;
  }
  throw new Error("no error");
}

async function all<T>(values: AsyncIterable<T>): Promise<T[]> {
  const list = [];
  for await (const value of values) list.push(value);
  return list;
}

const end = await client.eventsPage("latest");
const listed = (await all(client.orders({ state: "registered", signal: undefined }))).map((order) => order.id);
result.listed = new Set(listed).size;
result.unanswered = (await all(client.unanswered())).map((order) => order.id).sort().join() === [...listed].sort().join();
result.withoutInvoice = (await all(client.withoutInvoice())).map((order) => order.hasInvoice).every(Boolean) && (await all(client.withoutInvoice())).length;
const [first = "", second = "", third = "", fourth = ""] = [...listed].sort();
const { tag } = await client.order(first);
await client.accept(first, { ifMatch: tag, key: undefined });
result.state = (await client.order(first)).order.state;
const again = await refusal(client.accept(first));
result.again = [again.status, again.code, again.temporary, again.detail !== "" && again.message.includes(again.detail)];
result.stale = (await refusal(client.accept(first, { ifMatch: tag }))).status;
result.missing = (await refusal(client.order("NONE"))).status;
const limited = await refusal(client.order("LIMITED"));
result.limited = [limited.status, limited.retryAfter, limited.code];
result.key = await client.accept(first, { key: "a\r\nX-A: b" }).catch((error) => error instanceof TypeError);
const unknown = await refusal(new Client(process.env.ORDERS_URL!, "mo_unknown").order(first));
const named: [ClientError, typeof ClientError][] = [
  [unknown, UnauthorizedError], [await refusal(client.accept(first, { ifMatch: tag })), PreconditionError],
  [await refusal(client.order("NONE")), NotFoundError], [limited, RateLimitedError],
];
result.named = named.filter(([error, kind]) => error.constructor === kind && error.name === kind.name).length;
result.requestId = unknown.requestId !== "" && unknown.message.includes(unknown.requestId);
const once = new Client(process.env.ORDERS_URL!, "mo_x", { tries: 1 });
const broken = [once.order("BROKEN"), once.order("HTML"), all(once.export({ dateFrom: "BROKEN" }).orders())];
result.broken = (await Promise.all(broken.map(refusal))).map((error) => error.requestId);
const gone = await refusal(once.order("GONE"));
[result.proxied, result.missed] = [gone.message, gone instanceof NotFoundError];
const gateway = await refusal(once.order("GATEWAY"));
result.gateway = [gateway instanceof NotFoundError, !(gateway.message + gateway.detail + gateway.requestId).includes("mo_x")];
result.foreign = (await Promise.all([once.order("FOREIGN"), once.accept("FOREIGN")].map(refusal))).map((error) => error.status === 200);
result.huge = (await refusal(once.order("HUGE"))).status;
result.moved = (await refusal(once.order("MOVED"))).message.includes("https://orders.example.com/");
result.cut = (await refusal(once.order("CUT"))).temporary;
await client.reject(second, "damaged");
result.answers = (
  await all(
    client.answers([
      { orderReference: third, answer: "accept" },
      { orderReference: fourth, answer: "reject", reason: "out-of-stock" },
      { orderReference: first, answer: "reject" },
      { orderReference: "NONE", answer: "accept" },
    ]),
  )
).map((answer) => answer.status);
result.many = (await all(client.answers(Array(501).fill({ orderReference: "NONE", answer: "accept" })))).length;
const invoice = await client.uploadInvoice(fourth, "invoice.pdf", new TextEncoder().encode("%PDF-1.4"), { kind: "receipt", number: "R 7", mark: "40", link: "https://x.example/7" });
result.document = [invoice.kind, invoice.number, invoice.mark, invoice.link];
await client.update(fourth, { merchantReference: "20/17" });
result.found = (await client.byMerchantReference("20/17")).map((order) => order.id === fourth);
const { order: changed } = await client.order(fourth);
result.invoices = changed.invoices.length;
result.merchantReference = changed.merchantReference;
const other = await client.request<{ order: typeof changed }>("GET", "/orders/" + fourth);
result.other = JSON.stringify(other.body.order) === JSON.stringify(changed);
const exported = client.export();
result.exportedInTurn = (await all(exported.orders())).map((order) => order.id).reverse().join() === listed.join();
result.end = exported.after - end.next;
const events = await all(client.events(end.next, { history: end.history, withOrders: true }));
result.events = events.map((event) => [event.type, event.order?.state]);
const states = (event: Event): State[] => (event.type === "order.state_changed" ? [event.data.from, event.data.to] : []); // data follows from type
if (events.flatMap(states).length !== 8) throw new Error("other changes of states");
for await (const event of client.followEvents(end.next)) {
  result.followed = !("order" in event) && event.history === end.history;
  break;
}
const history = await refusal(all(client.events(0, { history: "other" })));
result.history = history instanceof HistoryChanged && "changed";

const text = (content: Uint8Array) => new TextDecoder().decode(content);
invoice.url = process.env.ORDERS_URL! + new URL(invoice.url).pathname; // through the proxy of the test
result.downloaded = text(await client.downloadInvoice(invoice));
result.linked = await (await fetch((await client.invoiceLink(fourth, invoice.id)).url)).text();
result.deleted = (await client.deleteInvoice(fourth, invoice.id)).length;
const { webhook } = await client.createWebhook({ url: "https://hooks.example.com/orders", batch: 100 });
result.webhook = (await client.updateWebhook(webhook.id, { description: "till" })).description;
result.rotated = (await client.rotateWebhookSecret(webhook.id, "1h")).webhook.oldSecretUntil !== null;
await client.deleteWebhook(webhook.id);
result.webhooks = (await client.webhooks()).length;
const { token } = await client.createToken({ label: "till", expires: undefined });
await client.revokeToken((await client.rotateToken(token.id, "1h")).token.id);
result.tokens = (await all(client.tokens())).map(({ label }) => label).slice(-2);

// A signal ends a call that waits, and a file of 4 MB does not block for long.
const stop = new AbortController();
setTimeout(() => stop.abort(new Error("stopped")), 100);
const stopped = await all(client.followEvents((await client.eventsPage("latest")).next, { signal: stop.signal })).catch((error) => error.message);
if (stopped !== "stopped") throw new Error(`a signal does not stop: ${stopped}`);
const before = performance.eventLoopUtilization().active;
const large = await client.uploadInvoice(fourth, "large.pdf", new Uint8Array(4_000_000).fill(255));
const busy = performance.eventLoopUtilization().active - before;
large.url = process.env.ORDERS_URL! + new URL(large.url).pathname;
if (!(await client.downloadInvoice(large)).every((byte) => byte === 255)) throw new Error("the file is another");
if (busy > 5000) throw new Error(`an upload blocks for ${busy} ms`); // about 100 on a quiet machine

const deliveries: Record<string, { headers: Record<string, string>; body: string; secret?: string; now?: number }> = JSON.parse(process.env.DELIVERIES!);
const results: Record<string, unknown> = (result.deliveries = {});
const problem = (error: unknown) => (error instanceof WebhookError ? "refused" : "unreadable");
const clock = Date.now;
for (const [name, { headers, body, now, secret = process.env.WEBHOOK_SECRET! }] of Object.entries(deliveries)) {
  Date.now = () => (now ? 1000 * now : clock()); // a published delivery is old
  const events = await webhookEvents(headers, Buffer.from(body), secret).then((events) => events.map((event) => event.seq ?? 0), problem);
  const single = await verifyWebhook(new Headers(headers), Buffer.from(body), secret).then((event) => [event.seq ?? 0], problem);
  results[name] = [events, single];
}
console.log(JSON.stringify(result));
