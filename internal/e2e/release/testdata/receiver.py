# Takes every request of a webhook.
from http.server import BaseHTTPRequestHandler, HTTPServer


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(204)
        self.end_headers()


HTTPServer(("127.0.0.1", 9000), Receiver).serve_forever()
