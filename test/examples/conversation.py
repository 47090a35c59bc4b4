"""A stored conversation, with nothing but the Python standard library."""

import json
import os
import urllib.request

BASE_URL = os.environ.get("BACKSTORY_URL", "http://127.0.0.1:8787/v1")
KEY = os.environ.get("BACKSTORY_KEY", "any")
MODEL = os.environ.get("MODEL", "demo")


def call(method, path, body=None):
    """Returns the JSON of the answer. An error status raises urllib.error.HTTPError."""
    headers = {"content-type": "application/json", "authorization": f"Bearer {KEY}"}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(BASE_URL + path, data, headers, method=method)
    with urllib.request.urlopen(request) as response:
        return json.load(response)


def ask(conversation, text):
    """Returns the text of the answer. The gateway stores the question and the answer."""
    body = {"model": MODEL, "conversation": conversation, "input": text}
    output = call("POST", "/responses", body)["output"]
    messages = [item for item in output if item["type"] == "message"]
    return "".join(part["text"] for message in messages for part in message["content"])


conversation = call("POST", "/conversations", {"metadata": {"topic": "weather"}})["id"]
print(ask(conversation, "My name is Ada."))
print(ask(conversation, "Who am I?"))

items = call("GET", f"/conversations/{conversation}/items?order=asc")["data"]
print([item["type"] for item in items])
print(call("DELETE", f"/conversations/{conversation}")["deleted"])
