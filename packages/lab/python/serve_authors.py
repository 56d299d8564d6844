"""The authors' package behind Python's own HTTP server: parses a row, predicts, answers. Prints its port."""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np

package, data = sys.argv[1:3]
sys.path.insert(0, package)
from ranksim import RankSimilarityClassifier  # noqa: E402

rows = np.fromfile(f"{data}/rows.bin", dtype=np.uint8).reshape(6000, -1)
labels = np.fromfile(f"{data}/labels.bin", dtype=np.uint8).astype(int)
model = RankSimilarityClassifier(n_filters=300, random_state=1).fit(rows.astype(float), labels)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        found = model.predict(np.array(asked["rows"], dtype=float))
        body = json.dumps({"labels": found.tolist()}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 256
    daemon_threads = True


server = Server(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
