import { mock } from 'node:test';
import { test } from 'tap';
import type { Fetch } from '../../../src/client/index.js';
import { oneAtATime } from '../../../src/client/page/one_at_a_time.js';
import { pacedFetch } from '../../../src/client/page/paced_fetch.js';

const INIT = {} as Parameters<Fetch>[1];

test('requests are spaced, and at the rate limit they wait as long as the service says', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  const { now } = performance;
  t.teardown(() => {
    mock.timers.reset();
    performance.now = now;
  });
  let nowMs = 0;
  performance.now = () => nowMs;
  const sent: string[] = [];
  const refusals: (string | null)[] = [];
  const paced = pacedFetch(async (url) => {
    sent.push(`${url} ${nowMs}`);
    const retryAfter = refusals.shift();
    const status = retryAfter === undefined ? 200 : 429;
    return { status, headers: { get: () => retryAfter ?? null }, text: async () => '' };
  });
  const pass = async (ms: number) => {
    for (let i = 0; i < ms; i += 100) {
      await new Promise((resolve) => setImmediate(resolve));
      nowMs += 100;
      mock.timers.tick(100);
    }
    await new Promise((resolve) => setImmediate(resolve));
  };

  const answers = ['a', 'b', 'c'].map((url) => paced(url, INIT));
  await pass(600);
  await Promise.all(answers);
  t.same(sent.splice(0), ['a 0', 'b 300', 'c 600']);

  refusals.push('2', null);
  const refused = paced('d', INIT);
  await pass(300);
  const behind = paced('e', INIT);
  await pass(4_000);
  t.same([(await refused).status, (await behind).status], [200, 200]);
  t.same(sent.splice(0), ['d 900', 'd 2900', 'e 3200', 'd 3900']);

  refusals.push('60', '60', '60');
  const given = paced('f', INIT);
  await pass(7_000);
  t.equal((await given).status, 429, 'a service that goes on refusing');
  t.equal(sent.length, 3);
});

test('calls during a run are one run after it', async (t) => {
  const ends: (() => void)[] = [];
  const run = oneAtATime(() => new Promise((resolve) => ends.push(resolve)));
  const done = Promise.all([run(), run(), run()]);
  t.equal(ends.length, 1);
  ends[0]!();
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(ends.length, 2);
  ends[1]!();
  await done;
  t.equal(ends.length, 2);
});
