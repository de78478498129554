"""The contract through the official Python SDK, over stdio, on one plug-in.

    contract.py STORY PROGRAM COMPONENT [CASE...]

STORY names a file of ../stories: what the plug-in lists, and calls of it. Each case gets a place of its own and is run once
for each way in which this client can begin: with `initialize`, by asking first (`auto`), and straight at 2026-07-28. Prints
a line a case; any failure is a traceback and exit code 1.
"""

import asyncio
import importlib
import importlib.util
import json
import os
import sys
import tempfile
import traceback
from pathlib import Path

import cases
from kit import MODES, TESTS, Place


def main() -> int:
    name, program, component, *wanted = sys.argv[1:]
    story = json.loads((TESTS / "stories" / f"{name}.json").read_text())
    chosen = list(cases.CASES)
    if importlib.util.find_spec(name):
        chosen += importlib.import_module(name).CASES
    failed = run = 0
    with tempfile.TemporaryDirectory(prefix="counterfoil-cache-") as kept:
        os.environ.setdefault("COUNTERFOIL_TEST_CACHE", kept)
        for case in chosen:
            if wanted and case.__name__ not in wanted:
                continue
            for mode in MODES:
                run += 1
                title = f"{case.__name__.replace('_', ' ')} ({mode})"
                with tempfile.TemporaryDirectory(prefix="counterfoil-") as root:
                    try:
                        place = Place(root, story, Path(program).resolve(), Path(component).resolve())
                        asyncio.run(case(place, mode))
                        print(f"ok      {title}", flush=True)
                    except BaseException:
                        failed += 1
                        print(f"FAILED  {title}", flush=True)
                        traceback.print_exc()
    print(f"{run - failed} of {run} passed")
    return 1 if failed or not run else 0


if __name__ == "__main__":
    sys.exit(main())
