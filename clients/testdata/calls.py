"""Makes every call of the client, for a test that compares what it prints."""

import json
import os
import time
from collections.abc import Callable
from typing import Any, get_type_hints, is_typeddict

import merchant_orders
from merchant_orders import Client, ClientError, HistoryChanged, WebhookError, verify_webhook, webhook_events

client = Client(os.environ["ORDERS_URL"], os.environ["ORDERS_TOKEN"], max_wait=1)
result: dict[str, Any] = {}


def refusal(call: Callable[..., Any], *args: Any, **options: Any) -> ClientError:
    try:
        call(*args, **options)
    except ClientError as error:
        return error
    raise AssertionError("no error")


end = client.events_page("latest")
listed = [order["id"] for order in client.orders(state="registered")]
result["listed"] = len(set(listed))
result["unanswered"] = sorted(order["id"] for order in client.unanswered()) == sorted(listed)
first, second, third, fourth = sorted(listed)[:4]
order, tag = client.order(first)
client.accept(first, if_match=tag)
result["state"] = client.order(first)[0]["state"]
again = refusal(client.accept, first)
result["again"] = [again.status, again.code, again.temporary, again.detail != "" and again.detail in str(again)]
result |= {"stale": refusal(client.accept, first, if_match=tag).status, "missing": refusal(client.order, "NONE").status}
limited = refusal(client.order, "LIMITED")
result["limited"] = [limited.status, limited.retry_after]
client.reject(second, "damaged")
result["answers"] = [answer["status"] for answer in client.answers([
    {"orderReference": third, "answer": "accept"},
    {"orderReference": fourth, "answer": "reject", "reason": "out-of-stock"},
    {"orderReference": first, "answer": "reject"},
    {"orderReference": "NONE", "answer": "accept"},
])]
client.upload_invoice(fourth, "invoice.pdf", b"%PDF-1.4")
client.update(fourth, {"merchantReference": "17"})
changed, _ = client.order(fourth)
result |= {"invoices": len(changed["invoices"]), "merchantReference": changed["merchantReference"]}
result["other"] = client.request("GET", "/orders/" + fourth)[0]["order"] == changed
export = client.export()
result |= {"exportedInTurn": [order["id"] for order in export.orders()] == listed[::-1], "end": export.after - end["next"]}
events = list(client.events(end["next"], history=end["history"], with_orders=True))
result["events"] = [[event["type"], (event.get("order") or order)["state"]] for event in events]
for event in client.follow_events(end["next"]):
    result["followed"] = "order" not in event and event["history"] == end["history"]
    break
try:
    list(client.events(0, history="other"))
except HistoryChanged:
    result["history"] = "changed"

secret = os.environ["WEBHOOK_SECRET"]


def numbers(read: Callable[..., Any], delivery: dict[str, Any]) -> list[int] | str:
    clock = time.time
    if "now" in delivery:
        time.time = lambda: float(delivery["now"])  # a published delivery is old
    try:
        read_events = read(delivery["headers"], delivery["body"].encode(), delivery.get("secret", secret))
    except WebhookError:
        return "refused"
    except ValueError:
        return "unreadable"
    finally:
        time.time = clock
    return [event.get("seq", 0) for event in (read_events if isinstance(read_events, list) else [read_events])]


deliveries = json.loads(os.environ["DELIVERIES"])
result["deliveries"] = {name: [numbers(webhook_events, d), numbers(verify_webhook, d)] for name, d in deliveries.items()}

kinds = {name: kind for name, kind in vars(merchant_orders).items() if is_typeddict(kind)}
result["fields"] = {name: sorted(get_type_hints(kind)) for name, kind in kinds.items()}
print(json.dumps(result))
