import { readFileSync } from 'node:fs';

// The module that Node loads into all threads of a service. The module sets the wall clock of the service ahead of the real clock by a
// number of milliseconds. A file contains this number, and the query of the module's URL contains the path of the file.

/** The largest delay, in ms, until a thread sees a step. */
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
