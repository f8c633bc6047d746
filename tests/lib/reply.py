"""The reply to a grant: what gpuhelper-engine adds for the driver stands in it as two texts (helper/ask/driveredits.h)."""
import json

MOVED = ("hooks", "maskedPaths", "notes")


def whole(reply):
    """The reply with the texts' members among its own, as the wrapper merges them, if it can be read."""
    try:
        files, process = json.loads(reply.get("driver", "null")), json.loads(reply.get("process", "null"))
    except ValueError:
        return reply
    if files is None or "containerEdits" not in reply:
        return reply
    edits = reply["containerEdits"]
    edits["mounts"] = edits["mounts"] + files["mounts"]
    edits["env"] = edits["env"] + process["env"]
    edits["hooks"] = files["hooks"]
    reply.update(maskedPaths=files["maskedPaths"], notes=process["notes"])
    for key in "driver", "process", "mounted", "run":
        del reply[key]
    return reply


def apart(reply):
    """The other way round, with all but folders and variables in the texts; whether a variable was a policy's is not seen."""
    edits = reply["containerEdits"]
    files = [m for m in edits["mounts"] if "place" not in m]
    driver = {"mounts": files, "hooks": edits.pop("hooks", []), "maskedPaths": reply.pop("maskedPaths", [])}
    process = {"env": [], "notes": reply.pop("notes", [])}
    edits.update(mounts=[m for m in edits["mounts"] if "place" in m])
    return {**reply, "driver": json.dumps(driver), "process": json.dumps(process), "mounted": [m.get("hostPath") for m in files], "run": [h.get("path") for h in driver["hooks"]]}
