import { readFileSync } from 'node:fs';

// Loaded into all threads of a service: its wall clock is ahead of the real one by as many milliseconds as a file says,
// whose path stands in the query of this module's URL.

/** A step is seen this late at most. */
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
