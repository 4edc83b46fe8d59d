import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { checksumAddress, evmAddress } from '../../src/client/verify/evm_signatures.js';
import { ServeProcess, writeConfig } from './child.js';
import { SERVICE_KEYS } from './harness.js';
import { STREAM_LOG_KEY, signedFrames, verifyInLog, writeStreamPolicy } from './logged_payloads.js';
import { priceOf } from './logged_prices.js';

const ROUNDS = 3;
/** The number of frames that a reader receives before the process is killed. The newest 10 of them are of the last second. */
const FRAMES = 15;

for (const threads of [1, 2])
  test(`${threads} threads: kill -9 loses no signed payload that is older than a second`, async (t) => {
    const dir = t.testdir();
    const policy = writeStreamPolicy(dir);
    writeFileSync(join(dir, 'streams.hex'), STREAM_LOG_KEY.toString('hex'), { mode: 0o600 });
    const config = writeConfig(dir, {
      listen: { port: 0, threads },
      keys: {
        evm: { file: 'evm.hex' },
        stark: { file: 'stark.hex' },
        stream_log: { file: 'streams.hex' },
      },
      assets: [
        { id: 1, symbol: 'BTCUSD', max_age: '600s' },
        { id: 2, symbol: 'DYDXUSD', signature_type: 'stark' },
      ],
      log: { origin: 'prices.example.com/tlog', batch: '100ms', checkpoint: '2s' },
    });
    const signer = checksumAddress(evmAddress(SERVICE_KEYS.evm));
    const file = join(dir, 'frames.txt');
    const frames: string[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const child = new ServeProcess(['--config', config]);
      t.teardown(() => child.kill());
      const service = await child.ready();
      await priceOf(service, 'BTCUSD', 'evm', BigInt(100 + round), BigInt(Date.now()) * 1_000_000n);
      const read = await signedFrames(service.socketUrl, FRAMES);
      frames.push(...read.slice(0, FRAMES - 10));
      if (round === ROUNDS - 1) {
        writeFileSync(file, frames.join('\n'));
        const found = await verifyInLog(file, service.url, policy, signer);
        t.equal(found.exitCode, 0, found.stderr);
        t.equal(found.stdout.filter((line) => line.startsWith('payload: logged')).length, frames.length);
        t.notMatch(await (await fetch(`${service.adminUrl}/readyz`)).text(), /streams/);
      }
      await child.kill();
    }
  });
