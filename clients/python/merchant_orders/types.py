"""The types of orders, events and answers, as the interface shows them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Literal, TypedDict

if sys.version_info >= (3, 11):
    from typing import NotRequired
elif TYPE_CHECKING:
    from typing_extensions import NotRequired

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
