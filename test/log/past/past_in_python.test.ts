import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { GROUP_HEAD_BYTES } from '../../../src/log/past/hour_group.js';
import { hourOf, hourPath, pastFolderOf } from '../../../src/log/past/hour_paths.js';
import { aggregatesOf, HOUR_START_NS, textOf } from './sample_past.js';
import { sealAll, WrittenPast } from './written_past.js';

/** A reader of the files of an hour, which needs nothing but the standard library. */
const PROGRAM = `
import gzip, json, re, sys
lines, inputs = open(sys.argv[1], "rb").read(), open(sys.argv[2], "rb").read()
at = 0
while at < len(lines):
    head = json.loads(gzip.decompress(lines[at : at + ${GROUP_HEAD_BYTES}]))
    for member in map(json.loads, gzip.decompress(lines[head["index"] : head["end"]]).decode().splitlines()):
        start, size, _ = member["inputs"]
        places, known, fresh, current = gzip.decompress(inputs[start : start + size]).decode().splitlines(), [], [], []
        for text in gzip.decompress(lines[member["at"] : member["at"] + member["bytes"]]).decode().splitlines():
            while places[0].startswith('{"publisher_key"'):
                known.append(places.pop(0))
                fresh.append(known[-1])
            place = json.loads(places.pop(0))
            if isinstance(place, dict):
                current = [known[number] for number in place["all"]]
            for number in place if isinstance(place, list) else []:
                current[number : number + 1] = [fresh.pop(0)]
            fresh = []
            print(text if place is None else text[:-1] + ',"signed_prices":[' + ",".join(current) + "]}")
    at = head["end"]
`;

test('an hour is read with few lines of Python', async (t) => {
  const dir = t.testdir();
  const all = ['BTCUSD', 'ETHUSD'].flatMap((symbol) => [...aggregatesOf(symbol, HOUR_START_NS, 300)]);
  const past = await WrittenPast.open(dir);
  await past.write(all.sort((a, b) => (a.signedAtNs < b.signedAtNs ? -1 : 1)));
  await past.close();
  await sealAll(dir);
  const [lines, inputs] = (['jsonl', 'inputs'] as const).map((kind) =>
    hourPath(pastFolderOf(dir), hourOf(HOUR_START_NS), kind),
  );
  // The hash of an EVM aggregate or input follows from its other fields, and is left out.
  const withoutHashes = (text: string) => text.replace(/"msg_hash":"0x\w+"/g, '"msg_hash":""');
  const sorted = (texts: readonly string[]) => [...texts].sort();
  const texts = all.map((one) => withoutHashes(textOf(one)));
  if (spawnSync('python3', ['--version']).status !== 0) return void t.comment('there is no Python here');
  const program = join(dir, 'past.py');
  writeFileSync(program, PROGRAM);
  const read = execFileSync('python3', [program, lines!, inputs!], { maxBuffer: 2 ** 26 })
    .toString()
    .trim();
  t.same(sorted(read.split('\n')), sorted(texts));
});
