"""A mail server for tests: server.py CERTIFICATE KEY. It prints its ports, without TLS, with
STARTTLS and with TLS, and then each e-mail, as JSON, one a line. It ends with its input."""
import asyncio
import json
import ssl
import sys

from aiosmtpd.smtp import SMTP, AuthResult


class Handler:
    async def handle_RCPT(self, server, session, envelope, address, options):
        for word, answer in (("refused", "550 5.1.1 no such user"), ("later", "451 4.3.0 try again")):
            if address.startswith(word):
                return answer
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        show({"from": envelope.mail_from, "to": envelope.rcpt_tos, "message": envelope.content.decode()})
        return "250 OK"


def show(value):
    print(json.dumps(value), flush=True)


def known(server, session, envelope, mechanism, data):
    return AuthResult(success=(data.login, data.password) == (b"orders", b"secret"), handled=False)


async def main():
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(*sys.argv[1:3])
    common = {"hostname": "localhost", "authenticator": known}
    secured = dict(common, auth_required=True)
    loop, ports = asyncio.get_running_loop(), []
    for ssl_context, options in (
        (None, common),
        (None, dict(secured, tls_context=tls, require_starttls=True)),
        (tls, dict(secured, auth_require_tls=False)),
    ):
        server = await loop.create_server(lambda o=options: SMTP(Handler(), **o), "127.0.0.1", 0, ssl=ssl_context)
        ports.append(server.sockets[0].getsockname()[1])
    show(ports)
    await loop.run_in_executor(None, sys.stdin.read)


asyncio.run(main())
