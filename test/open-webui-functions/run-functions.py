"""Runs Open WebUI's functions as its loader does, with stand-ins for what Open WebUI would pass in.

Each line of the input is a JSON object: the file of the functions, the id of the function, the values of its valves, the
method to call, its arguments, and the settings of the stand-in. Each line of the output is a JSON object: the class that
the loader takes, what the method returned, the events that it sent, and the settings afterwards; or an error.
"""

import asyncio
import json
import sys
import traceback
import types

try:
    import pydantic
except ImportError:
    # Enough of pydantic for the valves: class attributes are their default values.
    class BaseModel:
        def __init__(self, **values):
            self.__dict__.update(values)

    pydantic = types.ModuleType("pydantic")
    pydantic.BaseModel = BaseModel
    pydantic.Field = lambda default=None, **_: default
    sys.modules["pydantic"] = pydantic


class Config:
    values = {}

    @staticmethod
    async def get_many(*names):
        return {name: Config.values.get(name) for name in names}

    @staticmethod
    async def upsert(updates):
        Config.values.update(updates)


for name in ("open_webui", "open_webui.models", "open_webui.models.config"):
    sys.modules[name] = types.ModuleType(name)
sys.modules["open_webui.models.config"].Config = Config


def run(told):
    # As `load_function_module_by_id` of Open WebUI 0.12.4 does it.
    module = types.ModuleType(f"function_{told['id']}_0123456789abcdef0123456789abcdef")
    with open(told["file"], encoding="utf-8") as file:
        exec(file.read(), module.__dict__)
    kind = next(name for name in ("Pipe", "Filter", "Action", "Event") if hasattr(module, name))
    function = getattr(module, kind)()
    function.valves = function.Valves(**told.get("valves", {}))
    Config.values = told["config"]
    events = []

    async def send_event(event):
        events.append(event)
        return True

    extras = {
        "__event_call__": send_event,
        "__event_emitter__": send_event,
    }
    method = getattr(function, told["method"])
    accepted = method.__code__.co_varnames[: method.__code__.co_argcount]
    passed = {name: value for name, value in extras.items() if name in accepted}
    returned = asyncio.run(method(**{**passed, **told["arguments"]}))
    return {"kind": kind, "returned": returned, "events": events, "config": Config.values}


for line in sys.stdin:
    try:
        result = run(json.loads(line))
    except Exception:
        result = {"error": traceback.format_exc()}
    print(json.dumps(result), flush=True)
