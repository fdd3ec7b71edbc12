"""Accepts all orders that wait for an answer."""

import os

from merchant_orders import Client, ClientError

client = Client(os.environ["ORDERS_URL"], os.environ["ORDERS_TOKEN"])
for order in client.unanswered():
    try:
        client.accept(order["id"])
    except ClientError as error:  # somebody else has answered it, for example
        print(order["id"], error)
