"""The least that can answer MCP over stdio in Python: every call gets the same result. What a tools/call costs beside it
is what everything else costs."""

import json
import sys

RESULT = {"content": [{"type": "text", "text": '{"status":"ok"}'}], "structuredContent": {"status": "ok"}}
INITIALIZED = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "null", "version": "0"},
}

for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        result = INITIALIZED if request["method"] == "initialize" else RESULT
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}) + "\n")
        sys.stdout.flush()
