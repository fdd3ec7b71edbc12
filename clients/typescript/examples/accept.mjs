// Accepts every order that waits for an answer.
import { Client } from "merchant-orders";

const client = new Client(process.env.ORDERS_URL, process.env.ORDERS_TOKEN);
for await (const order of client.unanswered()) {
  await client.accept(order.id);
  console.log(`accepted ${order.id}`);
}
