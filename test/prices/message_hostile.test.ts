import { test } from 'tap';
import { readPublishMessage } from '../../src/prices/message.js';
import { messageText, updateObject } from './updates.js';

/**
 * The longest time for which a message may block the event loop: the shortest processor time of several runs. An idle machine
 * takes 14 ms. Work of quadratic time takes seconds, a clear difference even on a busy machine.
 */
const HOSTILE_MS_MAX = 200;
const RUNS = 5;
/** A MiB minus the size of the text around the data. Longer messages are refused before they are read. */
const MEBIBYTE = 2 ** 20 - 2_048;

function withMetadata(json: string, envelope?: object): string {
  const update = updateObject('BTCUSD');
  update.signed_price.metadata = '@';
  return messageText({ BTCUSD: update }, envelope).replace('"@"', () => json);
}

test('hostile messages get an answer, and soon', async (t) => {
  const deep = 30_000;
  const messages = {
    'arrays 500,000 deep': '['.repeat(500_000) + ']'.repeat(500_000),
    'as many keys as the commas allow': withMetadata(
      `{${Array.from({ length: 17_900 }, (_, i) => `"k${i}":"${'v'.repeat(40)}"`).join()}}`,
    ),
    'as much as is read exactly': withMetadata(
      `{${Array.from({ length: 3_900 }, (_, i) => `"k${i}":${i + 1e14}`).join()},"n":"${'\\ud800'.repeat(5_000)}"}`,
    ),
    'strings full of keys': withMetadata(`{"k":"${'\\":'.repeat(MEBIBYTE / 4)}"}`),
    'depth that the exact parser meets': withMetadata('{"n":1}').replace(
      '"oracle_id"',
      `"x":${'['.repeat(deep)}${']'.repeat(deep)},"oracle_id"`,
    ),
    'a mebibyte of digits in metadata': withMetadata(`{"n":${'7'.repeat(MEBIBYTE)}}`),
    'a mebibyte of digits as timestamp': messageText({ BTCUSD: updateObject('BTCUSD') }).replace(
      '"1772460000000000001"',
      '7'.repeat(MEBIBYTE),
    ),
    'many timestamps, each with spaces': `{${'"timestamp"   '.repeat(Math.floor(MEBIBYTE / 16))}}`,
    'many backslashes': withMetadata(`{"k":"${'\\\\'.repeat(MEBIBYTE / 2)}","n":1}`),
    'numbers without measure': withMetadata(`{"n":[1e400,-1e-400,1e99999999999,${'9'.repeat(400)}.5]}`),
  };
  for (const [name, text] of Object.entries(messages)) {
    let tookMs = Number.POSITIVE_INFINITY;
    let message = readPublishMessage(text, 1000);
    for (let run = 0; run < RUNS; run++) {
      const start = process.cpuUsage();
      message = readPublishMessage(text, 1000);
      const { user, system } = process.cpuUsage(start);
      tookMs = Math.min(tookMs, (user + system) / 1_000);
    }
    t.ok(tookMs < HOSTILE_MS_MAX, `${name} took ${tookMs.toFixed(1)} ms`);
    if (!message.ok) t.ok(message.error.length < 300, message.error);
  }
});
