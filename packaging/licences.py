#!/usr/bin/env python3
"""licences.py PACKAGE TARGET: print the licences of all crates that a package of this workspace is built of."""

import json
import re
import subprocess
import sys
from pathlib import Path

package, target = sys.argv[1:]
command = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", target]
metadata = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
packages = {one["id"]: one for one in metadata["packages"]}
nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}

wanted = [one["id"] for one in metadata["packages"] if one["name"] == package]
found: set[str] = set()
while wanted:
    one = wanted.pop()
    if one in found:
        continue
    found.add(one)
    for dependency in nodes[one]["deps"]:
        # Development and build dependencies are not in the program.
        if any(kind["kind"] is None for kind in dependency["dep_kinds"]):
            wanted.append(dependency["pkg"])

for one in sorted((packages[found_id] for found_id in found), key=lambda one: one["name"]):
    if one["source"] is None:
        continue
    print(f"{'=' * 78}\n{one['name']} {one['version']}: {one['license'] or 'see below'}")
    print(f"{one['repository'] or ''}\n")
    folder = Path(one["manifest_path"]).parent
    texts = sorted(path for path in folder.iterdir() if re.match(r"(?i)(licen[cs]e|copying|notice|unlicense)", path.name))
    for text in texts:
        if text.is_file():
            print(f"--- {text.name}\n{text.read_text(encoding='utf-8', errors='replace').rstrip()}\n")
