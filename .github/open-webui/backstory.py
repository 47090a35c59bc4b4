"""
title: Backstory
author: Backstory
version: 1.0.0
license: MIT
required_open_webui_version: 0.10.0
description: Shows why the model got what it got, forgets deleted chats, and sets the headers of the connection.
icon_url: data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIHZpZXdCb3g9IjAgMCAyNCAyNCIgZmlsbD0ibm9uZSIgc3Ryb2tlPSJjdXJyZW50Q29sb3IiIHN0cm9rZS13aWR0aD0iMiIgc3Ryb2tlLWxpbmVjYXA9InJvdW5kIj48Y2lyY2xlIGN4PSIxMiIgY3k9IjEyIiByPSIxMCIvPjxwYXRoIGQ9Ik05IDlhMyAzIDAgMSAxIDQgMi44Yy0uNy4zLTEgLjgtMSAxLjdNMTIgMTd2LjAxIi8+PC9zdmc+
"""

# Functions for Open WebUI. Open WebUI reads one class from each function, so the id under which this file is saved
# chooses the class: an id with `forget` makes an Event function, one with `headers` a Filter, any other an Action.
# The README of this folder says how to install them. Only the standard library is used, besides what Open WebUI has.

import asyncio
import base64
import hashlib
import hmac
import html
import json
import logging
import os
import re
import time
import urllib.error
import urllib.parse
import urllib.request

from open_webui.models.config import Config
from pydantic import BaseModel, Field

log = logging.getLogger(__name__)

HEADERS = {
    "X-Backstory-Chat": "{{CHAT_ID}}",
    "X-Backstory-Message": "{{MESSAGE_ID}}",
    "X-Backstory-User-Message": "{{USER_MESSAGE_ID}}",
    "X-Backstory-User-Parent": "{{USER_MESSAGE_PARENT_ID}}",
    "X-Backstory-Task": "{{TASK}}",
    "X-Backstory-User": "{{USER_ID}}",
}

TIMEOUT_SECONDS = 20

MARKER = re.compile(r"^ {0,3}\[([0-9A-HJKMNP-TV-Z]{20})\]: #[ \t]*$", re.MULTILINE)


class GatewayValves(BaseModel):
    gateway_url: str = Field(
        default="",
        description="Base URL of Backstory, e.g. http://backstory:8787/v1. Empty: all connections with an X-Backstory header.",
    )
    api_key: str = Field(default="", description="Only with gateway_url: a key of Backstory. Empty: the connection's.")


class GatewayError(Exception):
    """An answer of the gateway with an error status. `str()` is its message."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


async def read_connections():
    """Returns the OpenAI connections of Open WebUI: their URLs, keys and settings by index."""
    names = ("openai.api_base_urls", "openai.api_keys", "openai.api_configs")
    values = await Config.get_many(*names)
    urls, keys, configs = (values.get(name) for name in names)
    return list(urls or []), list(keys or []), dict(configs or {})


def config_of(configs, index, url):
    return configs.get(str(index), configs.get(url, {})) or {}


def is_same_url(one, other):
    return one.rstrip("/") == other.rstrip("/")


async def find_gateways(valves, model=None):
    """Returns the URL and key of each gateway; that of the model first."""
    if valves.gateway_url and valves.api_key:
        return [(valves.gateway_url, valves.api_key)]
    urls, keys, configs = await read_connections()
    model_index = (model or {}).get("urlIdx")
    found = []
    for index, url in enumerate(urls):
        headers = config_of(configs, index, url).get("headers") or {}
        is_ours = any(name.lower().startswith("x-backstory-") for name in headers)
        if is_same_url(url, valves.gateway_url) if valves.gateway_url else is_ours:
            gateway = (url, keys[index] if index < len(keys) else "")
            found.insert(0 if index == model_index else len(found), gateway)
    if not found and valves.gateway_url:
        return [(valves.gateway_url, "")]
    return found


def sign_user(user, secret):
    """Signs the user as Open WebUI does for its connections, so that the gateway grants the rights of this user."""

    def encode(part):
        data = part if isinstance(part, bytes) else json.dumps(part).encode()
        return base64.urlsafe_b64encode(data).rstrip(b"=").decode()

    now = int(time.time())
    claims = {"iss": "open-webui", "sub": str(user["id"]), "role": user.get("role", "user"), "iat": now, "exp": now + 300}
    text = f"{encode({'alg': 'HS256', 'typ': 'JWT'})}.{encode(claims)}"
    return f"{text}.{encode(hmac.new(secret.encode(), text.encode(), hashlib.sha256).digest())}"


def identify(user):
    """Returns the headers that name the user, signed if Open WebUI signs its users."""
    secret = (os.environ.get("FORWARD_USER_INFO_HEADER_JWT_SECRET") or "").strip()
    if secret:
        name = os.environ.get("FORWARD_USER_INFO_HEADER_JWT", "X-OpenWebUI-User-Jwt")
        return {name: sign_user(user, secret)}
    return {"X-Backstory-User": str(user["id"]), "X-OpenWebUI-User-Id": str(user["id"])}


async def call_gateway(gateway, method, path, user):
    """Returns the body of the answer as text. Raises GatewayError, or OSError if the gateway cannot be reached."""
    url, key = gateway
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    request = urllib.request.Request(url.rstrip("/") + path, headers={**headers, **identify(user)}, method=method)

    def send():
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as response:
                return response.read().decode()
        except urllib.error.HTTPError as error:
            raise GatewayError(error.code, read_error(error)) from None

    return await asyncio.to_thread(send)


def read_error(error):
    text = error.read().decode(errors="replace")
    try:
        return json.loads(text)["error"]["message"]
    except (ValueError, KeyError, TypeError):
        return f"Backstory answered with status {error.code}."


def quote(text):
    return urllib.parse.quote(str(text), safe="")


class WhyAction:
    """A button below each answer that shows what the model was sent, and why."""

    class Valves(GatewayValves):
        pass

    def __init__(self):
        self.valves = self.Valves()

    async def action(self, body, __user__=None, __event_call__=None, __event_emitter__=None, __model__=None):
        try:
            report = await self.explain(body, __user__ or {}, __model__)
        except GatewayError as error:
            await notify(__event_emitter__, str(error))
        except OSError as error:
            await notify(__event_emitter__, f"Backstory could not be reached: {error}")
        else:
            await show_report(__event_call__, report)

    async def explain(self, body, user, model):
        gateways = await find_gateways(self.valves, model)
        if not gateways:
            message = "No connection has X-Backstory headers. Set gateway_url and api_key in the valves of this function."
            raise GatewayError(404, message)
        failure = GatewayError(404, "Backstory keeps no request for this answer.")
        for gateway in gateways:
            for path in list_explain_paths(body):
                try:
                    return await call_gateway(gateway, "GET", path, user)
                except GatewayError as error:
                    # The marker may find what the id of the message does not, e.g. in a chat that was imported.
                    if error.status != 404:
                        raise
                    failure = error
        raise failure


def list_explain_paths(body):
    """The answer is named by the ids of the message and the chat, or by the last marker in its text."""
    message = str(body.get("id") or "")
    contents = [entry.get("content") for entry in body.get("messages") or [] if entry.get("id") == message]
    markers = [marker for text in contents if isinstance(text, str) for marker in MARKER.findall(text)]
    named = [f"/context/explain/{quote(message)}?chat={quote(body.get('chat_id') or '')}&round=last&format=text"]
    return named + [f"/context/explain/{marker}?round=last&format=text" for marker in markers[-1:]]


async def show_report(event_call, report):
    """Shows the report in a dialog, so that it becomes no part of the chat."""
    style = "max-height:60vh;overflow:auto;font:9px/1.4 ui-monospace,monospace;white-space:pre"
    message = f'<pre style="{style}">{html.escape(report)}</pre>'
    await event_call({"type": "confirmation", "data": {"title": "Why?", "message": message}})


async def notify(event_emitter, content):
    await event_emitter({"type": "notification", "data": {"type": "warning", "content": content}})


class ForgetEvent:
    """Deletes what is stored of a chat or a user that was deleted in Open WebUI."""

    class Valves(GatewayValves):
        forget_users_without_chats: bool = Field(
            default=False,
            description="When users delete all their chats, delete everything that is stored of them, facts included.",
        )

    def __init__(self):
        self.valves = self.Valves()

    async def event(self, event):
        name = event.get("event")
        subject = str((event.get("subject") or {}).get("id") or "")
        if not subject:
            return
        if name == "chat.deleted":
            owner = (event.get("data") or {}).get("owner_id") or (event.get("actor") or {}).get("id")
            await self.delete(f"/memory/chats/{quote(subject)}", {"id": owner})
        elif name == "user.deleted" or (name == "chat.deleted_all" and self.valves.forget_users_without_chats):
            await self.delete(f"/memory/users/{quote(subject)}", {"id": subject})

    async def delete(self, path, user):
        for gateway in await find_gateways(self.valves):
            try:
                await call_gateway(gateway, "DELETE", path, user)
            except GatewayError as error:
                # Nothing is stored of most chats, e.g. of those with text only.
                if error.status != 404:
                    log.warning("Backstory has not forgotten %s: %s", path, error)
            except OSError as error:
                log.warning("Backstory could not be reached, so it has not forgotten %s: %s", path, error)


class HeadersFilter:
    """Adds the recommended headers to the connection. A Filter cannot change the headers of a single request."""

    class Valves(BaseModel):
        priority: int = Field(default=0)
        gateway_url: str = Field(default="", description="Base URL of Backstory, as in its connection.")
        full_status: bool = Field(default=False, description="Shows above each answer what was restored and cached.")

    def __init__(self):
        self.valves = self.Valves()

    async def inlet(self, body):
        try:
            await self.set_headers()
        except Exception:
            # A chat must not fail because of its headers.
            log.exception("The headers of Backstory could not be set")
        return body

    async def set_headers(self):
        if not self.valves.gateway_url:
            return
        urls, _, configs = await read_connections()
        wanted = {**HEADERS, **({"X-Backstory-Status": "full"} if self.valves.full_status else {})}
        changed = dict(configs)
        for index, url in enumerate(urls):
            if not is_same_url(url, self.valves.gateway_url):
                continue
            config = config_of(configs, index, url)
            headers = config.get("headers") or {}
            present = {name.lower() for name in headers}
            missing = {name: value for name, value in wanted.items() if name.lower() not in present}
            if missing:
                changed[str(index)] = {**config, "headers": {**headers, **missing}}
        if changed != configs:
            await Config.upsert({"openai.api_configs": changed})


# `__name__` is `function_<id>_<random>` here, in older versions `function_<id>`.
if "forget" in __name__:
    Event = ForgetEvent
elif "headers" in __name__:
    Filter = HeadersFilter
else:
    Action = WhyAction
