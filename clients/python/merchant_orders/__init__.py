"""Client of version 2 of Merchant Orders, for Python 3.11 or later without other packages.

    client = Client("https://orders.example.com", token)
    for order in client.orders(state="registered"):
        client.accept(order["id"])

Orders and events are dictionaries as the interface shows them: amounts are integers in
the minor unit of the currency, times are texts in UTC.

A call is retried after a broken connection, a timeout, and the statuses 408, 429, 5xx, and
409 with Retry-After. Each write has an Idempotency-Key, which is the same in all attempts,
so the service makes the change once. A Client may be used by several threads.
"""

from __future__ import annotations

import base64
import contextlib
import email.message
import email.utils
import gzip
import hashlib
import hmac
import http.client
import itertools
import json
import random
import re
import secrets
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import IO, Any, Literal, NotRequired, TypedDict

State = Literal[
    "registered", "in-processing", "ready-for-shipment", "picked-by-courier", "delivered-to-pickup-point", "delivery-failed",
    "rejected-by-merchant", "canceled", "completed", "delivered-to-customer", "return-canceled",
]
Reason = Literal["out-of-stock", "damaged", "wrong-price", "disabled-product", "wrong-product"]


class Customer(TypedDict):
    userId: int  # 0: a guest
    email: str
    phone: str | None
    firstName: str
    lastName: str


class OrderSummary(TypedDict):
    """An order in a list."""

    id: str
    state: State
    countryCode: str
    hasInvoice: bool
    totalItemsAmount: int
    currency: str
    createdAt: str
    updatedAt: str | None
    customer: Customer


class LineItem(TypedDict):
    id: int
    sku: str
    merchantEan: str
    merchantSku: str
    productName: str
    unitPrice: int
    originalUnitPrice: int
    totalPrice: int
    quantity: int
    sfArticle39Valid: bool
    giftWrap: bool
    extendedAttributes: list[Any]


class UnansweredOrder(OrderSummary):
    """An order to accept or reject."""

    expiresAt: str | None
    secondsLeft: int | None  # until then
    lineItems: list[LineItem]


class Invoice(TypedDict):
    """An invoice file."""

    id: int
    url: str
    created_at: str


class Order(OrderSummary):
    """A whole order."""

    subTotalItemsAmount: int
    expiresAt: str | None
    dispatchUntil: str | None
    addressDetails: dict[str, str]
    invoiceDetails: dict[str, Any] | None
    invoices: list[Invoice]
    carrier: dict[str, Any]
    payment: dict[str, str]
    lineItems: list[LineItem]
    merchantReference: NotRequired[str]  # absent: none
    merchantNote: NotRequired[str]


class Event(TypedDict):
    seq: int  # a merchant's events are numbered 1, 2, 3, ...
    type: str  # ignore types that you do not know
    orderReference: str  # empty: the event has no order
    orderId: int
    at: str
    actor: str
    tokenId: int | None
    requestId: str | None
    data: dict[str, Any]
    order: NotRequired[Order | None]  # with_orders: as it is now; None: it was deleted, or the event has none
    orderProblem: NotRequired[str]  # why there is no order although it exists
    history: NotRequired[str]  # of events and follow_events: store it together with seq


class Feed(TypedDict):
    """A page of the change feed."""

    events: list[Event]
    next: int  # after of the next page
    newest: int
    history: str  # another one: numbers have started again


class Answer(TypedDict):
    """Accepts or rejects an order; ifMatch is the tag that order returned."""

    orderReference: str
    answer: Literal["accept", "reject"]
    reason: NotRequired[Reason | None]
    ifMatch: NotRequired[str | None]


class AnswerResult(TypedDict):
    """What became of an answer; line is its number in the request."""

    line: int
    status: Literal["changed", "unchanged", "refused", "not_found", "invalid"]
    merchantId: NotRequired[int]
    reference: NotRequired[str]
    state: NotRequired[State]
    problem: NotRequired[str]
    replayed: NotRequired[bool]


class OrderUpdate(TypedDict, total=False):
    """Your own number and note; None removes one."""

    merchantReference: str | None
    merchantNote: str | None


class ClientError(Exception):
    """A call failed. temporary says that a later attempt may succeed."""

    def __init__(self, message: str, *, temporary: bool = False, status: int = 0, code: str = "", retry_after: float = 0, request_id: str = "", detail: str = ""):
        details = {"status": status, "code": code, "request": request_id}
        about = ", ".join(f"{name} {value}" for name, value in details.items() if value)
        text = f"{message.removesuffix('.')}: {detail}" if detail else message
        super().__init__(f"{text} ({about})" if about else text)
        self.temporary = temporary
        self.status = status  # 0: no response
        self.code = code  # of the service, such as "10304"; may be empty
        self.retry_after = retry_after  # seconds; 0: the service has not said
        self.request_id = request_id  # for the log of the service
        self.detail = detail  # of the service: what is wrong and what is right; may be empty


class HistoryChanged(ClientError):
    """Event numbers have started again: discard the position and begin a new copy."""


class WebhookError(Exception):
    """A request is no valid delivery of a webhook: respond with 401 and ignore it."""


class Client:
    """Calls one service with one token.

    A call makes at most tries attempts, with at most max_wait seconds between two.
    timeout is how many seconds an attempt waits for the service to send something.
    """

    def __init__(self, base_url: str, token: str, *, timeout: float = 60, tries: int = 5, max_wait: float = 60):
        if not re.fullmatch(r"https?://[^/?#@\s]+(/[^?#\s]*)?", base_url):
            raise ValueError("the address of the service must be a URL such as https://orders.example.com")
        if not re.fullmatch(r"[!-~]+", token):
            raise ValueError("the token is empty or contains characters that are not allowed in a token")
        self._base = base_url.rstrip("/") + "/v2"
        self._token, self._timeout, self._tries, self._max_wait = token, timeout, tries, max_wait
        self._opener = urllib.request.build_opener(_NoRedirect)

    def request(self, method: str, path: str, body: object = None, *, key: str = "", if_match: str = "") -> tuple[Any, http.client.HTTPMessage]:
        """Sends any request below /v2, such as GET /webhooks, and returns the JSON of the response and its headers."""
        return self._call(method, path, None if body is None else json.dumps(body).encode(), key, if_match)

    def orders(self, *, state: State | None = None, date_from: str | None = None, date_to: str | None = None) -> Iterator[OrderSummary]:
        """Returns all orders, newest first, each that existed at the beginning exactly once. Dates are like 2026-11-20."""
        query = _query(itemsPerPage=100, state=state, dateFrom=date_from, dateTo=date_to)
        while query:
            page, headers = self.request("GET", "/orders?" + query)
            yield from page["orders"]
            following = re.search(r'<[^>]*\?([^>]*)>; rel="next"', ", ".join(headers.get_all("Link", [])))
            query = following[1] if following else ""

    def unanswered(self, before: str | None = None) -> Iterator[UnansweredOrder]:
        """Returns the orders to accept or reject, the earliest deadline first; only those with a deadline before a time such as 2026-11-20T12:00:00Z."""
        cursor = None
        while True:
            page, _ = self.request("GET", "/orders/unanswered?" + _query(limit=100, expiresBefore=before, cursor=cursor))
            yield from page["orders"]
            if (cursor := page["next"]) is None:
                return

    def order(self, reference: str) -> tuple[Order, str]:
        """Returns an order and its tag for if_match."""
        body, headers = self.request("GET", _path(reference))
        return body["order"], headers.get("ETag", "")

    def accept(self, reference: str, *, if_match: str = "", key: str = "") -> None:
        """Accepts a registered order. With if_match, only if it has not changed since its tag was read."""
        self.request("PATCH", _path(reference, "/accept"), key=key, if_match=if_match)

    def reject(self, reference: str, reason: Reason | None = None, *, if_match: str = "", key: str = "") -> None:
        """Rejects a registered order."""
        self.request("PATCH", _path(reference, "/reject"), {"status": "D", "reason": reason}, key=key, if_match=if_match)

    def answers(self, answers: Iterable[Answer], *, key: str = "") -> Iterator[AnswerResult]:
        """Accepts and rejects orders, 10,000 in a request, and returns a result for each, in their order.

        A refused answer affects no other and raises nothing. key is that of the first
        request; the n-th has "-n" after it.
        """
        key, waiting = key or secrets.token_hex(16), iter(answers)
        for number in itertools.count(1):
            batch = list(itertools.islice(waiting, 10_000))
            if not batch:
                return
            body = b"".join(json.dumps(answer).encode() + b"\n" for answer in batch)
            results, _ = self._call("POST", "/orders/answers", body, key if number == 1 else f"{key}-{number}")
            if len(results) != len(batch):
                raise ClientError("unexpected response: results are missing")
            yield from results

    def update(self, reference: str, update: OrderUpdate, *, if_match: str = "", key: str = "") -> None:
        """Changes your own number and note of an order."""
        self.request("PATCH", _path(reference), update, key=key, if_match=if_match)

    def upload_invoice(self, reference: str, filename: str, content: bytes, *, if_match: str = "", key: str = "") -> Invoice:
        """Stores an invoice file (pdf, png, jpeg, jpg) of at most 4,000,000 bytes."""
        if len(content) > 4_000_000:
            raise ValueError("the file is larger than 4000000 bytes")
        body = {"filename": filename, "contentBase64": base64.b64encode(content).decode()}
        uploaded, _ = self.request("POST", _path(reference, "/invoices"), body, key=key, if_match=if_match)
        invoice: Invoice = uploaded["invoice"]
        return invoice

    def export(self, *, state: State | None = None, date_from: str | None = None, date_to: str | None = None) -> Export:
        """Returns an export of whole orders. One whose stored data is damaged has only id and problem."""
        return Export(self, {"state": state, "dateFrom": date_from, "dateTo": date_to})

    def events_page(self, after: int | Literal["latest"], *, limit: int = 1000, wait: int = 0, with_orders: bool = False) -> Feed:
        """Returns the events after a number, waiting up to wait seconds (at most 30) for one."""
        query = _query(after=after, limit=limit, wait=wait, include="order" if with_orders else None)
        page: Feed = self._call("GET", "/events?" + query, wait=wait)[0]
        return page

    def events(self, after: int, *, history: str = "", with_orders: bool = False) -> Iterator[Event]:
        """Returns the events after a number, up to the newest, with_orders each with its order.

        To go on later, store seq and history of the last one. Raises HistoryChanged if
        numbers have started again.
        """
        return self._events(after, history, with_orders, 0)

    def follow_events(self, after: int, *, history: str = "", with_orders: bool = False) -> Iterator[Event]:
        """Is events, but waits for new ones, without end."""
        return self._events(after, history, with_orders, 30)

    def _events(self, after: int, history: str, with_orders: bool, wait: int) -> Iterator[Event]:
        while True:
            requested = time.monotonic()
            page = self.events_page(after, wait=wait, with_orders=with_orders)
            if page["history"] != (history or page["history"]) or page["newest"] < after:
                raise HistoryChanged("event numbers have started again; begin a new copy")
            after, history = page["next"], page["history"]
            for event in page["events"]:
                event["history"] = history
                yield event
            if not page["events"]:
                if not wait:
                    return
                if time.monotonic() - requested < 1:  # too many clients wait, and the service responds at once
                    time.sleep(1 + random.random())

    def _call(
        self, method: str, path: str, body: bytes | None = None, key: str = "", if_match: str = "", wait: int = 0
    ) -> tuple[Any, http.client.HTTPMessage]:
        """Returns the JSON of a response, or that of its lines before the last, and its headers."""
        write = {} if method == "GET" else {"Idempotency-Key": key or secrets.token_hex(16)}
        if if_match:
            write["If-Match"] = if_match
        for number in itertools.count(1):
            try:
                with self._response(method, path, body, write, wait) as response:
                    if path == "/orders/answers":
                        return list(_lines(response, {})), response.headers
                    return json.loads(_plain(response).read()), response.headers
            except ClientError as error:
                self._pause(number, error)
        raise AssertionError  # the loop does not end

    @contextlib.contextmanager
    def _response(
        self, method: str, path: str, body: bytes | None = None, write: Mapping[str, str] = {}, wait: int = 0
    ) -> Iterator[http.client.HTTPResponse]:
        """Sends a request once. The errors of the connection and of the service become a ClientError, also those of reading."""
        kind = "application/x-ndjson" if path.startswith(("/orders/answers", "/orders/export")) else "application/json"
        headers = {
            "Authorization": "Bearer " + self._token, "User-Agent": "merchant-orders-python/2",
            "Accept": kind, "Accept-Encoding": "gzip", "Content-Type": kind,
        }
        request = urllib.request.Request(self._base + path, body, {**headers, **write}, method=method)
        try:
            with self._opener.open(request, timeout=self._timeout + wait) as response:
                if response.headers.get_content_type() != kind:
                    raise ClientError("unexpected response: it is no " + kind, status=response.status)
                yield response
        except urllib.error.HTTPError as error:
            raise _refusal(error) from None
        except (OSError, http.client.HTTPException, EOFError, zlib.error) as error:
            cause = getattr(error, "reason", error)
            raise ClientError(f"no response: {cause}", temporary=not isinstance(cause, ssl.SSLCertVerificationError)) from error
        except ValueError as error:
            raise ClientError(f"unexpected response: {error}") from error

    def _pause(self, number: int, error: ClientError) -> None:
        """Waits after an attempt, or raises its error if there is to be no other. The random part spreads many clients."""
        if number >= self._tries or not error.temporary or error.retry_after > self._max_wait:
            raise error
        backoff = min(0.25 * 2 ** (number - 1), self._max_wait)
        time.sleep(error.retry_after + 0.25 * random.random() if error.retry_after else backoff * (0.5 + 0.5 * random.random()))


class Export:
    """An export of whole orders, oldest first.

    After the last order, after and history are where the change feed ended before the
    first was read: follow it from there, and the copy misses no change.
    """

    def __init__(self, client: Client, query: dict[str, str | None]):
        self._client, self._query = client, query
        self.after, self.history = 0, ""

    def orders(self) -> Iterator[Order]:
        """Returns the orders. After a connection that breaks it goes on after the last order."""
        attempts = 0
        while True:
            attempts += 1
            try:
                with self._client._response("GET", "/orders/export?" + _query(**self._query)) as response:
                    end: dict[str, Any] = {}
                    for order in _lines(response, end):
                        self._query["cursor"], attempts = f"{response.headers['Export-Cursor']}.{order['id']}", 0
                        yield order
                    self.after, self.history = end["after"], end["history"]
                    return
            except ClientError as error:
                self._client._pause(max(attempts, 1), error)


def verify_webhook(headers: Mapping[str, str] | email.message.Message, body: bytes, *signing_secrets: str) -> Event:
    """Verifies a delivery of a webhook, given its headers and whole body, and returns its event.

    Raises WebhookError unless one of the secrets signed it within the last five minutes.
    A receiver that stores the header Webhook-Id processes no event twice. A webhook with
    a batch needs webhook_events.
    """
    delivery = _verified(headers, body, signing_secrets)
    if "events" in delivery:
        raise ValueError("the delivery is a batch, which webhook_events reads")
    event: Event = delivery
    return event


def webhook_events(headers: Mapping[str, str] | email.message.Message, body: bytes, *signing_secrets: str) -> list[Event]:
    """Is verify_webhook for every webhook, with a batch or without: returns the events of the delivery, in order.

    The response acknowledges all of them, or none. An event may arrive again, also in
    another batch. It is the same one if seq and at are.
    """
    delivery = _verified(headers, body, signing_secrets)
    events: list[Event] = delivery["events"] if "events" in delivery else [delivery]
    if not isinstance(events, list) or not all(isinstance(event, dict) and event.get("type") for event in events):
        raise ValueError("the delivery has no list of events with types")
    return events


def _verified(headers: Mapping[str, str] | email.message.Message, body: bytes, signing_secrets: tuple[str, ...]) -> Any:
    """Verifies a delivery and returns its JSON."""
    header = {name.lower(): value for name, value in headers.items()}
    message_id, sent = header.get("webhook-id", ""), header.get("webhook-timestamp", "")
    if not message_id or not re.fullmatch(r"[0-9]{1,12}", sent) or abs(time.time() - int(sent)) > 300:
        raise WebhookError("the id or the time of the delivery is missing, or its time is more than five minutes off")
    valid = False
    for secret in signing_secrets:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
        if not key:
            raise ValueError("the secret of the webhook is empty")
        signature = hmac.digest(key, f"{message_id}.{sent}.".encode() + body, hashlib.sha256)
        expected = b"v1," + base64.b64encode(signature)
        for got in header.get("webhook-signature", "").encode().split():
            valid |= hmac.compare_digest(expected, got)
    if not valid:
        raise WebhookError("no signature of the delivery matches")
    return json.loads(body)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None  # the token must not reach another address


def _query(**parameters: object) -> str:
    return urllib.parse.urlencode({name: value for name, value in parameters.items() if value is not None})


def _path(reference: str, below: str = "") -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", reference):
        raise ValueError(f"{reference!r} is not a reference of an order")
    return f"/orders/{reference}{below}"


def _plain(response: http.client.HTTPResponse | urllib.error.HTTPError) -> IO[bytes]:
    """Returns the body without its compression."""
    return gzip.GzipFile(fileobj=response) if response.headers.get("Content-Encoding") == "gzip" else response  # type: ignore[return-value]


def _lines(response: http.client.HTTPResponse, end: dict[str, Any]) -> Iterator[Any]:
    """Returns the lines of a response before its summary, which it writes to end."""
    for line in _plain(response):
        document = json.loads(line) if line.endswith(b"\n") else {}
        if document.get("complete"):
            end.update(document)
            return
        if not document or "complete" in document:
            raise ClientError(document.get("problem", "the response broke off"), temporary=True)
        yield document
    raise ClientError("the response has no end", temporary=True)


def _refusal(response: urllib.error.HTTPError) -> ClientError:
    """Returns the error of a status that is no success."""
    code, message = "", ""
    with contextlib.suppress(OSError, http.client.HTTPException, EOFError, zlib.error, ValueError, AttributeError):
        body = json.loads(_plain(response).read())
        error = body.get("error", {})
        code, message = error.get("code", ""), error.get("message") or body.get("message", "")
    status, retry_after = response.code, _seconds(response.headers.get("Retry-After", ""))
    # A 409 without Retry-After stays.
    temporary = status in (408, 429) or status >= 500 or status == 409 and retry_after > 0
    request_id = response.headers.get("X-Request-Id", "")
    return ClientError(
        message or "the service refused the request",
        temporary=temporary, status=status, code=code, retry_after=retry_after, request_id=request_id,
        detail=response.headers.get("Error-Detail", ""),
    )


def _seconds(retry_after: str) -> float:
    """Returns the value of Retry-After, which is a number of seconds or a date."""
    if re.fullmatch(r"[0-9]{1,9}", retry_after):
        return int(retry_after)
    with contextlib.suppress(ValueError):
        return max(email.utils.parsedate_to_datetime(retry_after).timestamp() - time.time(), 0)
    return 0
