"""Submits checkpoints to a witness by the client of aics-witness.

Reads a line of JSON for each checkpoint from standard input: `note`, `older`, and `proof` in Base64. Prints the cosignature, or the error.
"""

import base64
import json
import sys

from aics_witness.feeder import WitnessClient

with WitnessClient(sys.argv[1], sys.argv[2]) as client:
    for line in sys.stdin:
        request = json.loads(line)
        proof = [base64.b64decode(text) for text in request["proof"]]
        try:
            answer = client.submit(request["note"], (request["older"], proof))
        except Exception as error:
            answer = f"{type(error).__name__}: {error}"
        print(answer.replace("\n", " "), flush=True)
