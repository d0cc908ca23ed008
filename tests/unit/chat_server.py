"""A writer behind the chat API, for the tests: what it says depends on the seed and the question by fixed rules.

``python chat_server.py LOG`` serves it on the loopback address, prints the address, and appends the body of each
request to the file.
"""

import json
import math
import random
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

DECISIONS = ("complain", "wait")
SENTENCES = (
    "A receipt is there.",
    "The damage is small, so waiting costs little.",
    "Perhaps a neighbour saw it, too.",
    "The sum is known, and it is not large.",
    "An answer should come within two weeks.",
)


def said(body: dict) -> tuple[str, float]:
    """The words to a question, and the probability of the first decision. About a woman they are fewer."""
    question = body["messages"][-1]["content"]
    noise = random.Random(f"{body.get('seed')} {body['model']} {question}")
    share = noise.uniform(0.05, 0.95)
    decision = DECISIONS[noise.random() >= share]
    count = 1 if re.search(r"\bMs\b", question) else 3
    return f"Decision: {decision}. {' '.join(noise.sample(SENTENCES, count))}", share


def answered(body: dict) -> dict:
    """An answer of the chat API: as many words as the request allows, each a token."""
    text, share = said(body)
    words = re.findall(r"\S+\s*", text)
    most = body.get("max_tokens", len(words))
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": "".join(words[:most])},
        "finish_reason": "length" if most < len(words) else "stop",
    }
    if body.get("logprobs"):
        shares = (share, 1 - share)
        logarithms = [{"token": name, "logprob": math.log(p)} for name, p in zip(DECISIONS, shares, strict=True)]
        first = max(logarithms, key=lambda each: each["logprob"])
        choice["logprobs"] = {"content": [{**first, "top_logprobs": logarithms}]}
    read = sum(len(message["content"].split()) for message in body["messages"])
    usage = {"prompt_tokens": read, "completion_tokens": min(most, len(words))}
    return {"object": "chat.completion", "model": f"{body['model']}-1", "choices": [choice], "usage": usage}


def main(log: str) -> None:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with open(log, "a", encoding="utf-8") as file:
                file.write(json.dumps(body) + "\n")
            content = json.dumps(answered(body)).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(f"http://127.0.0.1:{server.server_port}/v1/chat/completions", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main(sys.argv[1])
