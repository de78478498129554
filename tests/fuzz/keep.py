"""Chooses which inputs of a fuzz target are kept: those that together reach most, the shortest first, and no more than MOST.

    keep.py TARGET-PROGRAM CORPUS FOUND...

CORPUS is written anew from what is in it and in the folders FOUND. The names are digests of the contents.
"""

import hashlib
import pathlib
import subprocess
import sys
import tempfile

MOST = 48
LONGEST = 2048

program, corpus, *found = map(pathlib.Path, sys.argv[1:])
inputs = {}
for folder in [corpus, *found]:
    for file in folder.iterdir() if folder.is_dir() else []:
        content = file.read_bytes()
        if len(content) <= LONGEST:
            inputs[hashlib.sha256(content).hexdigest()[:16]] = content

with tempfile.TemporaryDirectory() as work:
    work = pathlib.Path(work)
    (work / "all").mkdir()
    (work / "none").mkdir()
    for name, content in inputs.items():
        (work / "all" / name).write_bytes(content)
    control = work / "control"
    # Of a set cover all features of each input are written down; without counters they are the edges.
    merge = [program, "-set_cover_merge=1", "-use_counters=0", f"-merge_control_file={control}", work / "none", work / "all"]
    subprocess.run(merge, check=True, stderr=subprocess.DEVNULL)
    lines = control.read_text().splitlines()

# The number of files, how many of them are there already, their names; then for each, by number, what it reaches.
names = [pathlib.Path(line).name for line in lines[2 : 2 + int(lines[0])]]
edges = {}
for line in lines[2 + len(names) :]:
    kind, number, *rest = line.split()
    if kind == "FT":
        edges[names[int(number)]] = set(rest)

kept, reached = [], set()
while len(kept) < MOST:
    gain = lambda name: (len(edges[name] - reached), -len(inputs[name]), name)
    best = max(edges, key=gain, default=None)
    if best is None or not edges[best] - reached:
        break
    kept.append(best)
    reached |= edges[best]

corpus.mkdir(parents=True, exist_ok=True)
for file in corpus.iterdir():
    file.unlink()
for name in kept:
    (corpus / name).write_bytes(inputs[name])
everything = set().union(*edges.values())
print(f"{len(kept)} of {len(inputs)} inputs are kept: {len(reached)} of {len(everything)} edges")
