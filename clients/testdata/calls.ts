// Makes every call of the client, for a test that compares what it prints.
import { Client, ClientError, HistoryChanged, WebhookError, verifyWebhook, webhookEvents } from "merchant-orders";

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
const listed = (await all(client.orders({ state: "registered" }))).map((order) => order.id);
result.listed = new Set(listed).size;
result.unanswered = (await all(client.unanswered())).map((order) => order.id).sort().join() === [...listed].sort().join();
const [first = "", second = "", third = "", fourth = ""] = [...listed].sort();
const { tag } = await client.order(first);
await client.accept(first, { ifMatch: tag });
result.state = (await client.order(first)).order.state;
const again = await refusal(client.accept(first));
result.again = [again.status, again.code, again.temporary, again.detail !== "" && again.message.includes(again.detail)];
result.stale = (await refusal(client.accept(first, { ifMatch: tag }))).status;
result.missing = (await refusal(client.order("NONE"))).status;
const limited = await refusal(client.order("LIMITED"));
result.limited = [limited.status, limited.retryAfter];
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
await client.uploadInvoice(fourth, "invoice.pdf", new TextEncoder().encode("%PDF-1.4"));
await client.update(fourth, { merchantReference: "17" });
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
for await (const event of client.followEvents(end.next)) {
  result.followed = !("order" in event) && event.history === end.history;
  break;
}
const history = await refusal(all(client.events(0, { history: "other" })));
result.history = history instanceof HistoryChanged && "changed";

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
