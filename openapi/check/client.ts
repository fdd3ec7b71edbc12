// A client of both versions, made with the types that were generated from the
// documents that the service serves. It prints what it got, for the test to
// look at.
import createClient from "openapi-fetch";
import type { paths as V1 } from "./v1.js";
import type { paths as V2 } from "./v2.js";

const baseUrl = process.env.BASE ?? "";
const headers = { Authorization: `Bearer ${process.env.TOKEN ?? ""}` };
const v1 = createClient<V1>({ baseUrl, headers });
const v2 = createClient<V2>({ baseUrl, headers });

function must<T>(data: T | undefined, what: string): T {
  if (data === undefined) throw new Error(`${what} is refused`);
  return data;
}

const list = must((await v2.GET("/v2/orders", { params: { query: { state: "registered", itemsPerPage: 2 } } })).data, "the list");
const states: string[] = list.orders.map((order) => order.state);
const total: number = list.params.totalItems;
const first = list.orders[0];
if (first === undefined) throw new Error("the list is empty");

const path = { orderReference: first.id };
const single = must((await v2.GET("/v2/orders/{orderReference}", { params: { path } })).data, "the order");
const lines: number = single.order.lineItems.reduce((sum, line) => sum + line.totalPrice, 0);

const uploaded = must(
  (await v2.POST("/v2/orders/{orderReference}/invoices", { params: { path }, body: { filename: "a.pdf", contentBase64: "JVBERi0xLjQ=" } })).data,
  "the upload",
);
const accepted = must((await v2.PATCH("/v2/orders/{orderReference}/accept", { params: { path } })).data, "the accept");
const again = await v2.PATCH("/v2/orders/{orderReference}/accept", { params: { path } });
const code = again.error && "error" in again.error ? again.error.error.code : undefined;

const old = must((await v1.GET("/api/orders", { params: { query: { status: "G", items_per_page: 1 } } })).data, "the list of version 1");

console.log(JSON.stringify({
  states, total, linesMatch: lines === single.order.subTotalItemsAmount, uploaded: uploaded.message, accepted: accepted.success,
  again: code, oldStatus: old.orders[0]?.status,
}));
