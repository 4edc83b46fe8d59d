"""Judges the cases of a test by the Python implementation of logs, aics-tlog.

Reads a JSON array of cases from standard input, and prints a JSON array with a verdict for each. The fields are those of ../go/main.go.
"""

import base64
import json
import sys
import time
import urllib.request

import aics_tlog
from aics_tlog.note import verify_note_signature
from aics_tlog.remote import HttpTileReader

RECORD_BYTES = 105
# A service answers 500 requests a second for files of the log, and as many at once.
RECOVERY_S = 1.1
REQUEST_S = 0.003


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
    if case["kind"] == "served":
        return judge_served(case)
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


def judge_served(case):
    """Checks a whole log over HTTP: the signature of its checkpoint, every tile, every entry, every record of every batch, and the
    consistency of the checkpoint with older ones."""
    time.sleep(RECOVERY_S)
    key = aics_tlog.parse_vkey(case["Keys"][0])
    reader = HttpTileReader([case["URL"]])
    tree = open_checkpoint(reader.read_checkpoint(), key)
    aics_tlog.audit_tiles(reader, tree.size, tree.root)
    records = sum(check_batch(case["URL"], i, aics_tlog.read_entry(reader, i, tree.size)) for i in range(tree.size))
    for text in case["Earlier"]:
        older = open_checkpoint(base64.b64decode(text), key)
        if older.size == 0:
            continue
        proof = aics_tlog.consistency_proof_from_tiles(reader, older.size, tree.size)
        if not aics_tlog.verify_consistency(older.size, tree.size, older.root, tree.root, proof):
            raise ValueError("an older checkpoint is not a beginning of the log")
    return {"Accepted": True, "Size": tree.size, "Records": records}


def open_checkpoint(data, key):
    note = aics_tlog.parse_note(data)
    lines = [line for line in note.signatures if (line.name, line.key_id) == (key.name, key.key_id)]
    if not lines or not all(verify_note_signature(note, line, key) for line in lines):
        raise ValueError("the checkpoint lacks a valid signature of the log")
    checkpoint = aics_tlog.parse_checkpoint(note.text)
    if checkpoint.origin != key.name:
        raise ValueError("a checkpoint of another log")
    return checkpoint


def check_batch(url, index, entry):
    """Returns the number of records of a batch, whose tree must have the root of the entry."""
    time.sleep(REQUEST_S)
    fields = dict(line.split(" ", 1) for line in entry.decode().splitlines()[1:])
    with urllib.request.urlopen(f"{url}/batch/{aics_tlog.tiles.tile_index_path(index)}", timeout=10) as response:
        data = response.read()
    if len(data) % RECORD_BYTES != 0 or int(fields["batch"]) != index:
        raise ValueError(f"batch {index} is malformed")
    records = [data[at : at + RECORD_BYTES] for at in range(0, len(data), RECORD_BYTES)]
    root = base64.b64encode(aics_tlog.MerkleTree(records).root()).decode()
    if root != fields["root"] or int(fields["records"]) != len(records):
        raise ValueError(f"the records of batch {index} do not give the root of its entry")
    return len(records)


def main():
    verdicts = []
    for case in json.load(sys.stdin):
        try:
            verdicts.append(judge(case))
        except Exception as error:  # A refusal, whatever the library raises.
            verdicts.append({"Accepted": False, "Reason": str(error)})
    json.dump(verdicts, sys.stdout)


main()
