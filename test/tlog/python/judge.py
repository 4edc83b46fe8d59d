"""Judges the cases of a test by the Python implementation of logs, aics-tlog.

Reads a JSON array of cases from standard input, and prints a JSON array with a verdict for each. The fields are those of ../go/main.go.
"""

import base64
import json
import sys

import aics_tlog
from aics_tlog.note import verify_note_signature


def judge(case):
    read = lambda name: base64.b64decode(case[name])
    if case["kind"] == "note":
        return judge_note(read("note"), [aics_tlog.parse_vkey(key) for key in case["keys"]])
    if case["kind"] == "inclusion":
        hashes = [base64.b64decode(text) for text in case["hashes"]]
        args = (read("leaf"), case["index"], case["size"], hashes, read("root"))
        return {"Accepted": aics_tlog.verify_inclusion(*args)}
    if case["kind"] == "consistency":
        hashes = [base64.b64decode(text) for text in case["hashes"]]
        args = (case["older"], case["size"], read("other"), read("root"), hashes)
        return {"Accepted": aics_tlog.verify_consistency(*args)}
    return read_files(case, read("root"))


def judge_note(data, keys):
    note = aics_tlog.parse_note(data)
    checkpoint = aics_tlog.parse_checkpoint(note.text)
    verified = 0
    for line in note.signatures:
        for key in keys:
            if (line.name, line.key_id) != (key.name, key.key_id):
                continue
            if key.key_type == 1:
                holds = verify_note_signature(note, line, key)
            else:
                holds = aics_tlog.verify_cosignature(
                    line.signature, key.name, key.public_key, checkpoint.origin, checkpoint.size, checkpoint.root
                )
            if not holds:
                return {"Accepted": False}
            verified += 1
    return {"Accepted": verified > 0}


def read_files(case, root):
    reader = aics_tlog.FileSystemTileReader(case["folder"])
    size = case["size"]
    aics_tlog.audit_tiles(reader, size, root)
    encoded = lambda hashes: [base64.b64encode(one).decode() for one in hashes]
    return {
        "Accepted": True,
        "Root": base64.b64encode(aics_tlog.tree_root_from_tiles(reader, size)).decode(),
        "Inclusion": encoded(aics_tlog.inclusion_proof_from_tiles(reader, case["index"], size)),
        "Consistency": encoded(aics_tlog.consistency_proof_from_tiles(reader, case["older"], size)),
    }


def main():
    verdicts = []
    for case in json.load(sys.stdin):
        try:
            verdicts.append(judge(case))
        except Exception as error:  # A refusal, whatever the library raises.
            verdicts.append({"Accepted": False, "Reason": str(error)})
    json.dump(verdicts, sys.stdout)


main()
