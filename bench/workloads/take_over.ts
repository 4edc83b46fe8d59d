import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { TOKEN, writeConfig } from '../../scripts/load/config.js';
import { SERVICE_KEY } from '../../scripts/load/keys.js';
import { publishFirstPrices } from '../../scripts/load/priced_service.js';
import { startService } from '../../scripts/load/server_process.js';
import { Updates } from '../../scripts/load/updates.js';
import { eventually, pause } from '../../scripts/load/wait.js';
import { createClient } from '../../src/client/node.js';
import { evmAddress } from '../../src/crypto/evm.js';
import { secp256k1 } from '../../src/crypto/secp256k1/secp256k1.js';
import { toHex } from '../../src/model/hex.js';
import { claimPort } from '../../src/server/uws/port_claim.js';

const HOST = '127.0.0.1';
const SYMBOL = 'A0';

export interface TakeOvers {
  readonly assets: number;
  readonly count: number;
  /** The time before each take-over. After 5 s the client counts its connection as good. */
  readonly pauseMs: number;
  /** The number of other processes that use a core all the time. */
  readonly busyProcesses: number;
  /** The number of threads of the service that serve. */
  readonly threads: number;
}

/**
 * Lets services take over from one another, and returns for each take-over the longest time, in seconds, between two verified ticks of a
 * reader. The reader is the client library on the channel of 10 ms.
 */
export async function measureTakeOvers(load: TakeOvers): Promise<number[]> {
  const port = await claimPort({ host: HOST, port: 0 });
  const adminPort = await claimPort({ host: HOST, port: 0 });
  const { assets, threads } = load;
  const { file } = writeConfig({ signatureType: 'evm', publishers: 1, assets, threads, port, adminPort });
  let service = await startService(file);
  await publishFirstPrices(port, assets, new Updates('evm'));
  const busy = Array.from({ length: load.busyProcesses }, startBusyProcess);
  const signers = [toHex(evmAddress(secp256k1.publicKey(SERVICE_KEY)))];
  const client = createClient({ urls: `http://${HOST}:${port}`, token: TOKEN, signers });
  try {
    const gaps = new Gaps();
    void gaps.read(client.stream([SYMBOL], { channel: '10ms' }));
    await eventually(async () => gaps.ticks > 0 || undefined);
    const seconds: number[] = [];
    for (let i = 0; i < load.count; i++) {
      await pause(load.pauseMs);
      gaps.longestMs = 0;
      const next = await startService(file, { args: ['--take-over'] });
      const { ticks } = gaps;
      await service.ended;
      await eventually(async () => gaps.ticks > ticks || undefined);
      seconds.push(gaps.longestMs / 1_000);
      service = next;
    }
    return seconds;
  } finally {
    await client.close();
    for (const child of busy) child.kill();
    await Promise.all(busy.map((child) => once(child, 'exit')));
    await service.stop();
  }
}

class Gaps {
  longestMs = 0;
  ticks = 0;

  async read(stream: AsyncIterable<unknown>): Promise<void> {
    let lastMs = performance.now();
    for await (const _ of stream) {
      const nowMs = performance.now();
      this.longestMs = Math.max(this.longestMs, nowMs - lastMs);
      lastMs = nowMs;
      this.ticks++;
    }
  }
}

function startBusyProcess(): ChildProcess {
  const program =
    'process.once("disconnect", process.exit); const run = () => { for (const end = Date.now() + 20; Date.now() < end; ); setImmediate(run); }; run();';
  return spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
}
