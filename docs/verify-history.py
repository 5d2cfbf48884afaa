#!/usr/bin/env python3
"""Verifies a history exported with `placet history export`, without Placet.

    verify-history.py EXPORT.jsonl KEY [--anchors ANCHORS.jsonl]

EXPORT.jsonl is the export as JSON Lines, `-` for stdin; KEY is history.key of the data directory. Each line holds the
fact byte for byte as it was hashed, the hash of the one before it, and its own:

    hash = HMAC-SHA256(key, "placet fact/1" 00 prev fact)

The first line may be the stub that pruning left; the first fact then follows the hash that it holds. A stub is
believed here as it stands: `placet history verify` checks its signature too, and the end of the chain.

Exit code: 0 intact, 1 broken, 2 something cannot be read.
"""

import argparse
import hashlib
import hmac
import json
import sys

BEFORE = b'{"prev":"'
MIDDLE = b'","hash":"'
FACT = b'","fact":'
ZEROS = bytes(32)


class Broken(Exception):
    """The first line that is not as it was written."""


def parts(line):
    """The hash before, the hash, and the bytes of the fact."""
    prev = line[len(BEFORE) : len(BEFORE) + 64]
    at = len(BEFORE) + 64
    digest = line[at + len(MIDDLE) : at + len(MIDDLE) + 64]
    end = at + len(MIDDLE) + 64
    shaped = line.startswith(BEFORE) and line[at:].startswith(MIDDLE) and line[end:].startswith(FACT)
    if not shaped or not line.endswith(b"}"):
        raise Broken("it is no line of an export")
    try:
        return bytes.fromhex(prev.decode()), bytes.fromhex(digest.decode()), line[end + len(FACT) : -1]
    except ValueError as error:
        raise Broken("it is no line of an export") from error


def walk(lines, key, anchors):
    """How many facts there are, and the last one's number and hash."""
    seq, head, facts, stub = 0, ZEROS, 0, 0
    for number, line in enumerate(lines, 1):
        line = line.rstrip(b"\n")
        try:
            if number == 1 and line.startswith(b'{"stub":'):
                left = json.loads(line)["stub"]
                seq = stub = left["through_seq"]
                head = bytes.fromhex(left["hash"])
                continue
            prev, digest, body = parts(line)
            if not hmac.compare_digest(hmac.new(key, b"placet fact/1\0" + prev + body, hashlib.sha256).digest(), digest):
                raise Broken("it was changed")
            fact = json.loads(body)
            if fact["seq"] != seq + 1:
                raise Broken(f"fact {seq + 1} is missing before it")
            if prev != head:
                raise Broken("it does not follow the one before it")
            seq, head, facts = fact["seq"], digest, facts + 1
            if anchors.pop(seq, digest) != digest:
                raise Broken("it is not the fact that was anchored")
        except Broken as broken:
            raise Broken(f"line {number}: {broken}") from broken
        except (ValueError, KeyError, TypeError) as error:
            raise Broken(f"line {number}: it is no line of an export") from error
    cut = sorted(anchor for anchor in anchors if anchor > max(seq, stub))
    if cut:
        raise Broken(f"the chain ends at fact {seq}, but fact {cut[-1]} was anchored: the newest were cut off")
    return facts, seq, head


def read_anchors(path):
    anchors = {}
    with open(path, "rb") as file:
        for line in file:
            anchor = json.loads(line)
            anchors[anchor["seq"]] = bytes.fromhex(anchor["hash"].removeprefix("sha256:"))
    return anchors


def main():
    parser = argparse.ArgumentParser(description="Verifies an exported history of Placet.")
    parser.add_argument("export", help="JSON Lines as `placet history export` writes them, or - for stdin")
    parser.add_argument("key", help="history.key of the data directory")
    parser.add_argument("--anchors", help="the anchor file, where there is one")
    asked = parser.parse_args()
    try:
        with open(asked.key, "rb") as file:
            key = file.read()
        anchors = read_anchors(asked.anchors) if asked.anchors else {}
        with sys.stdin.buffer if asked.export == "-" else open(asked.export, "rb") as lines:
            facts, seq, head = walk(lines, key, anchors)
    except Broken as broken:
        print(f"BROKEN: {broken}")
        return 1
    except (OSError, ValueError, KeyError, TypeError) as error:
        print(f"cannot be read: {error}", file=sys.stderr)
        return 2
    print(f"intact: {facts} facts, the last one is {seq} with {head.hex()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
