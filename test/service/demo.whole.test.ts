import { existsSync } from 'node:fs';
import { test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { parseFrame, verifyAggregate, verifyPayload } from '../../src/client/index.js';
import { childrenOf, ServeProcess } from './child.js';

import { TestSocket } from './harness.js';

// Tests of the demo as a new user starts it: `tickseal serve` without a configuration.

const NO_PROC = { skip: !existsSync('/proc/self/stat') && 'this system has no /proc' };

test('the demo prints its addresses and serves live prices of both kinds', async (t) => {
  const startMs = Date.now();
  const demo = new ServeProcess(['--data', t.testdir(), '--port', '0', '--admin-port', '0']);
  t.teardown(() => demo.kill());
  const printed = async (name: string) =>
    (await demo.line(new RegExp(`^ +${name} `))).trim().split(/\s+/)[1]!;
  const [url, token, stream] = [await printed('REST'), await printed('token'), await printed('streaming')];
  await demo.line(/npx wscat .*signed_ecdsa/);
  const [, curl] = /curl .*"(http[^"]*latest[^"]*)"/.exec(demo.stdout)!;
  t.match(demo.stdout, /simulated/);

  const ask = async (address: string) => {
    const response = await fetch(address, { headers: { Authorization: `Basic ${token}` } });
    return response.text();
  };
  const { data: symbols } = JSON.parse(await ask(`${url}/v1/prices/assets`)) as { data: string[] };
  const latest = await eventually(async () => {
    const text = await ask(`${url}/v1/prices/latest?assets=${symbols.join()}`);
    const { data, error } = JSON.parse(text) as { data?: object; error?: string };
    // The request may be refused, because the demo's token has the default of five requests a second.
    if (error !== undefined) return !/too many/.test(error) && Promise.reject(new Error(error));
    return Object.keys(data!).length === symbols.length && text;
  });
  t.comment(`all ${symbols.length} assets were live after ${Date.now() - startMs} ms`);
  await demo.line(/^ +signers /);
  const signers = [...demo.stdout.matchAll(/(0x[0-9a-fA-F]+) \((?:EVM|Stark) aggregates/g)].map(
    ([, key]) => key!,
  );
  t.equal(signers.length, 2, 'the banner names both keys');
  const reports = verifyAggregate(latest, { signers, oracleId: 'servc' });
  t.same(
    reports.filter(({ verdict }) => verdict !== 'verified'),
    [],
    'every aggregate verifies',
  );
  const types = new Set(latest.match(/"signature_type":"\w+"/g));
  t.equal(types.size, 2, 'EVM and Stark');
  const starkBitcoin = await eventually(async () => {
    const text = await ask(`${url}/v1/prices/latest?assets=BTCUSD&signature_type=stark`);
    return text.includes('"BTCUSD"') && text;
  });
  const [report] = verifyAggregate(starkBitcoin, { signers, oracleId: 'servc' });
  t.match(report, { verdict: 'verified', assetId: 'BTCUSD' }, 'BTCUSD is there in both');
  t.match(starkBitcoin, /"signature_type":"stark"/);
  t.match(curl, url);

  const socket = await TestSocket.open(
    `${stream}?channel=100ms&message_type=signed_ecdsa&addtl_attrs=ms`,
    token,
  );
  socket.send({ type: 'subscribe', assets: [1, 10, 42] });
  const frame = parseFrame(await socket.next());
  t.match(frame?.type === 'signed_ecdsa' && verifyPayload(frame.payload, { signers: [signers[0]!] }), {
    verdict: 'verified',
    payload: { assets: [{ id: 1, marketStatus: null }, { id: 10 }, { id: 42, marketStatus: null }] },
  });

  const publishers = childrenOf(demo.child.pid!);
  t.equal(publishers?.length, 1, 'the publishers are one process of their own', NO_PROC);
  demo.child.kill('SIGTERM');
  t.match(await socket.closed, { code: 1001 });
  t.same(await demo.exited, { code: 0, signal: null });
  t.throws(() => process.kill(publishers![0]!, 0), { code: 'ESRCH' }, 'the publishers are gone too', NO_PROC);
  t.equal(demo.stderr, '');
});
