import { readFileSync } from 'node:fs';

// The module that is loaded into all threads of a service. Its wall clock is ahead of the real one by the milliseconds in a file,
// whose path is in the query of this module's URL.

/** The largest delay until a step is noticed. */
const READ_INTERVAL_MS = 2;

const file = new URL(import.meta.url).searchParams.get('file')!;
const realNow = Date.now;
let aheadMs = readAhead();
let readMs = realNow();

Date.now = () => {
  const nowMs = realNow();
  if (nowMs - readMs >= READ_INTERVAL_MS) {
    readMs = nowMs;
    aheadMs = readAhead();
  }
  return nowMs + aheadMs;
};

function readAhead(): number {
  return Number(readFileSync(file, 'utf8'));
}
