import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { registerLog } from '../../src/cli/log_command.js';
import { registerVerify } from '../../src/cli/verify_command.js';
import { runCommand } from '../cli/run_command.js';
import { SERVICE_KEYS, startTestService } from './harness.js';
import {
  STREAM_LOG_KEY,
  STREAM_ORIGIN,
  signedFrames,
  verifyInLog,
  writeStreamPolicy,
} from './logged_payloads.js';
import { priceOf } from './logged_prices.js';

const KEYS = { ...SERVICE_KEYS, streamLog: STREAM_LOG_KEY };

function sectionsOf(threads: number) {
  return {
    listen: { port: 0, threads },
    keys: { evm: { file: 'unused' }, stark: { file: 'unused' }, stream_log: { file: 'unused' } },
    assets: [
      { id: 1, symbol: 'BTCUSD', max_age: '600s' },
      { id: 2, symbol: 'DYDXUSD', signature_type: 'stark' },
    ],
    log: { origin: 'prices.example.com/tlog', batch: '100ms', checkpoint: '200ms' },
  };
}

function folderOf(t: Test): string {
  const dir = t.testdir();
  return dir;
}

const nowNs = () => BigInt(Date.now()) * 1_000_000n;

for (const threads of [1, 2])
  test(`verify finds each signed payload in the log of its node, ${threads} threads`, async (t) => {
    const dir = folderOf(t);
    const policy = writeStreamPolicy(dir);
    let service = await startTestService(t, sectionsOf(threads), { dir, keys: KEYS });
    const signer = service.evmAddress;
    await priceOf(service, 'BTCUSD', 'evm', 100n, nowNs());
    const both = await Promise.all([1, 2].map(() => signedFrames(service.socketUrl, 3)));
    // A restart keeps the hashes that no checkpoint covered.
    await service.stop();
    service = await startTestService(t, sectionsOf(threads), { dir, keys: KEYS });
    const file = join(dir, 'frames.txt');
    writeFileSync(file, both.flat().join('\n'));
    const found = await verifyInLog(file, service.url, policy, signer);
    t.equal(found.exitCode, 0, found.stderr);
    const places = found.stdout.filter((line) => line.startsWith('payload: logged'));
    t.equal(places.length, 6);
    t.ok(places.every((line) => line.includes(` of ${STREAM_ORIGIN}, of which no witness has seen `)));

    const checkpoint = await fetch(`${service.url}/tlog/streams/checkpoint`);
    t.equal(checkpoint.headers.get('Content-Type'), 'text/plain; charset=utf-8');
    t.equal(checkpoint.headers.get('Cache-Control'), 'public, max-age=1');
    t.match(await checkpoint.text(), new RegExp(`^${STREAM_ORIGIN}\\n`));
    t.equal((await fetch(`${service.url}/tlog/checkpoint`)).status, 404, 'this service has no log of prices');
    for (const path of ['', '..%2ftlog-state/signed', 'streams/checkpoint'])
      t.equal((await fetch(`${service.url}/tlog/streams/${path}`)).status, 404, path);

    const signers = (await (await fetch(`${service.url}/v1/signers`)).json()) as object;
    t.notOk('log' in signers);
    t.match(signers, {
      stream_log: { origin: STREAM_ORIGIN, policy: readFileSync(policy, 'utf8'), max_delay: 20 },
    });
    const metrics = await (await fetch(`${service.adminUrl}/metrics`)).text();
    t.match(metrics, /^tickseal_tlog_size\{log="streams"\} [1-9]/m);
    t.match(metrics, /^tickseal_tlog_checkpoint_age_seconds\{log="streams"\} [\d.]+$/m);

    const audit = (...args: string[]) =>
      runCommand(registerLog, [
        ...['log', 'audit', service.url, '--payloads', '--policy', policy],
        ...['--folder', join(dir, 'audit'), '--once', ...args],
      ]);
    for (let run = 0; run < 2; run++) {
      const audited = await audit();
      t.same([audited.exitCode, audited.stderr], [0, '']);
      t.match(audited.stdout, [/^[1-9]\d* batches checked$/]);
    }
    t.match((await audit('--stream', '--token', 'x')).stderr, /the log of payloads has none/);

    // A payload of this time that the node did not sign.
    const [frame] = both[0]!;
    const forged = frame!.replace(/..(?="\})/, (digits) => (digits === 'ff' ? '00' : 'ff'));
    const missing = await runCommand(registerVerify, [
      ...['verify', forged, '--log', service.url, '--policy', policy],
    ]);
    t.equal(missing.exitCode, 1);
    t.match(missing.stdout.at(-1), /^payload: NOT LOGGED: /);
    const without = await runCommand(registerVerify, ['verify', frame!, '--proof', file, '--policy', policy]);
    t.match(without, { exitCode: 1, stderr: /name its node with --log/ });
  });
