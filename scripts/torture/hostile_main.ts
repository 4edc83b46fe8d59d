import assert from 'node:assert/strict';
import { beHostile, HOSTILE_KINDS } from './hostile.js';

const kind = HOSTILE_KINDS.find((one) => one === process.argv[2]);
assert(kind, `one of ${HOSTILE_KINDS.join(', ')}`);
await beHostile(kind, Number(process.argv[3]), Number(process.argv[4]));
