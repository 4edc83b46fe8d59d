import { TOKEN, writeConfig } from '../../scripts/load/config.js';
import { clientFrame, openFrameSocket } from '../../scripts/load/frame_socket.js';
import { startService } from '../../scripts/load/server_process.js';
import { median } from '../../scripts/load/statistics.js';
import { pause } from '../../scripts/load/wait.js';
import type { Measurement, Row, Scale } from '../harness/row.js';
import { recentUpdates, startNode, untilReady, withNatsServers } from '../workloads/cluster.js';

const ASSETS: Readonly<Record<Scale, number>> = { full: 1_000, smoke: 10 };
const STARTS: Readonly<Record<Scale, number>> = { full: 5, smoke: 1 };
/** The clock period. A long period keeps the log short: the row measures a start, and not the reading of a long log. */
const CLOCK_PERIOD = '10s';
const ROLES = ['aggregator', 'edge'] as const;
const STATES = ['new', 'restarted'] as const;
const AWAY_MS = 2_000;

export const clusterStart: Row = {
  name: 'cluster-start',
  title: 'A standby and an edge join a cluster with 1,000 assets',
  method:
    'A leader has 1,000 priced assets, with one nats-server. A second aggregator and an edge start, each with an empty folder and ' +
    'then with its folder after two seconds. The CPU time of the process from its start until it is ready is the median of five starts.',
  rounds: 1,
  variants: { cluster: measure },
  lines: () =>
    ROLES.flatMap((role) =>
      STATES.map((state) => ({
        name: `${role === 'edge' ? 'edge' : 'standby'}, ${state}`,
        unit: 's CPU time',
        ours: { variant: 'cluster', figure: `${role}, ${state}` },
        bound: { atMost: 1 },
        peers: [],
        shown: [
          { name: 'ready after', unit: 's', source: { variant: 'cluster', figure: `${role}, ${state}: s` } },
        ],
      })),
    ),
};

function measure(scale: Scale): Promise<Measurement> {
  return withNatsServers({ count: 1, roles: ['aggregator', 'aggregator', 'edge'] }, async (servers) => {
    const assets = ASSETS[scale];
    const leader = await startNode(
      servers,
      { role: 'aggregator', node: 1 },
      { assets, clockPeriod: CLOCK_PERIOD },
    );
    await publishAll(leader.port, assets);
    const figures: Record<string, number> = {};
    for (const [index, role] of ROLES.entries()) {
      const seconds = { new: [] as number[], restarted: [] as number[] };
      const cpu = { new: [] as number[], restarted: [] as number[] };
      for (let start = 0; start < STARTS[scale]; start++) {
        const node = index + 2;
        const cluster = { role, node, servers: servers.urls, credentials: servers.credentialsOf(node) };
        const { file } = writeConfig({
          signatureType: 'evm',
          publishers: 1,
          assets,
          clockPeriod: CLOCK_PERIOD,
          cluster,
        });
        for (const state of STATES) {
          const startMs = performance.now();
          const started = await startService(file);
          await untilReady(started);
          cpu[state].push(started.cpuSeconds());
          seconds[state].push((performance.now() - startMs) / 1000);
          await started.stop();
          await pause(AWAY_MS);
        }
      }
      for (const state of STATES) {
        figures[`${role}, ${state}`] = median(cpu[state]);
        figures[`${role}, ${state}: s`] = median(seconds[state]);
      }
    }
    await leader.stop();
    return { figures };
  });
}

/** Publishes a price of each asset, and waits until the log has all prices. */
async function publishAll(port: number, assets: number): Promise<void> {
  const updates = recentUpdates(1);
  let answered = () => {};
  const done = new Promise<void>((resolve) => {
    answered = resolve;
  });
  const path = '/evm/publish?ack=durable';
  const socket = await openFrameSocket({ port, path, token: TOKEN, onFrame: () => answered() });
  socket.write(
    clientFrame(
      updates.message(
        0,
        Array.from({ length: assets }, (_, asset) => asset),
      ),
    ),
  );
  await done;
  socket.close();
}
