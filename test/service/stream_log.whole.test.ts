import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { registerLog } from '../../src/cli/log_command.js';
import { registerVerify } from '../../src/cli/verify_command.js';
import { checksumAddress, evmAddress } from '../../src/client/verify/evm_signatures.js';
import { Ed25519Key } from '../../src/tlog/ed25519_key.js';
import { formatVerifierKey } from '../../src/tlog/verifier_key.js';
import { runCommand } from '../cli/run_command.js';
import { ServeProcess, writeConfig } from './child.js';
import { distinctNowNs } from './feed.js';
import { SERVICE_KEYS, TestSocket } from './harness.js';
import { priceOf } from './logged_prices.js';

const ORIGIN = 'prices.example.com/tlog/node-0';
const LOG_KEY = Buffer.alloc(32, 0x44);
const SIGNER = checksumAddress(evmAddress(SERVICE_KEYS.evm));
const ROUNDS = 3;
/** The number of frames that a reader receives before the process is killed. The newest 10 of them are of the last second. */
const FRAMES = 15;

/** Returns the next signed frames of a stream. */
async function signedFrames(socketUrl: string, count: number): Promise<string[]> {
  const socket = await TestSocket.open(`${socketUrl}/ws?channel=100ms&message_type=signed_ecdsa`);
  socket.send({ type: 'subscribe', assets: [1] });
  const frames: string[] = [];
  while (frames.length < count) {
    const text = await socket.next();
    if (text.includes('"signed_ecdsa"')) frames.push(text);
  }
  await socket.close();
  return frames;
}

for (const threads of [1, 2])
  test(`${threads} threads: kill -9 loses no signed payload that is older than a second`, async (t) => {
    const dir = t.testdir();
    const policy = join(dir, 'streams.policy');
    writeFileSync(policy, `log ${formatVerifierKey(new Ed25519Key(LOG_KEY).logKey(ORIGIN))}\nquorum none\n`);
    writeFileSync(join(dir, 'streams.hex'), LOG_KEY.toString('hex'), { mode: 0o600 });
    const config = writeConfig(dir, {
      listen: { port: 0, threads },
      keys: { evm: { file: 'evm.hex' }, stark: { file: 'stark.hex' }, stream_log: { file: 'streams.hex' } },
      assets: [{ id: 1, symbol: 'BTCUSD', max_age: '600s' }],
      log: { origin: 'prices.example.com/tlog', batch: '100ms', checkpoint: '2s' },
    });
    const frames: string[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const child = new ServeProcess(['--config', config]);
      t.teardown(() => child.kill());
      const service = await child.ready();
      await priceOf(service, 'BTCUSD', 'evm', BigInt(100 + round), distinctNowNs());
      const read = await signedFrames(service.socketUrl, FRAMES);
      frames.push(...read.slice(0, FRAMES - 10));
      if (round === ROUNDS - 1) await checkLog(service.url);
      await child.kill();
    }

    /** Checks that the log of a service has the frames, and no other payload. */
    async function checkLog(url: string): Promise<void> {
      const file = join(dir, 'frames.txt');
      writeFileSync(file, frames.join('\n'));
      const verify = (input: string) =>
        runCommand(registerVerify, ['verify', input, '--signer', SIGNER, '--log', url, '--policy', policy]);
      const found = await eventually(async () => {
        const run = await verify(file);
        return run.stdout.join().includes('does not have it yet') ? undefined : run;
      });
      t.equal(found.exitCode, 0, found.stderr);
      const places = found.stdout.filter((line) => line.startsWith('payload: logged'));
      t.equal(places.length, frames.length);
      t.ok(places.every((line) => line.includes(` of ${ORIGIN}, of which no witness has seen `)));
      // A payload of this time that the node did not sign.
      const forged = frames[0]!.replace(/..(?="\})/, (digits) => (digits === 'ff' ? '00' : 'ff'));
      const missing = await runCommand(registerVerify, ['verify', forged, '--log', url, '--policy', policy]);
      t.equal(missing.exitCode, 1);
      t.match(missing.stdout.at(-1), /^payload: NOT LOGGED: /);
      const audited = await runCommand(registerLog, [
        ...['log', 'audit', url, '--payloads', '--policy', policy],
        ...['--folder', join(dir, 'audit'), '--once'],
      ]);
      t.match(audited, { exitCode: 0, stderr: '', stdout: [/^[1-9]\d* batches checked$/] });
    }
  });
