import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { eventually, pause } from '../../../scripts/load/wait.js';
import { freePorts } from '../../../src/cli/demo/free_ports.js';
import { ServedLog } from '../../../src/client/verify/served_log.js';
import { verifyByNode } from '../../../src/tlog/ed25519_key.js';
import { GrowingTree } from '../../../src/tlog/growing_tree.js';
import { type LogPolicy, parsePolicy } from '../../../src/tlog/log_policy.js';
import { toBase64 } from '../../../src/tlog/log_text.js';
import { nodeSha256 } from '../../../src/tlog/node_sha256.js';
import { openCheckpoint } from '../../../src/tlog/open_checkpoint.js';
import { natsServers, needsNatsServer } from '../../cluster/nats/servers.js';
import { emptyFolder } from '../../publiclog/witness/small_witness.js';
import { ServeProcess, writeConfig } from '../child.js';
import { LOGS, WitnessProcess } from '../witness_process.js';

const [{ origin, seed, vkey }] = LOGS as unknown as [(typeof LOGS)[number]];
const CHECKPOINTS = Number(process.env['TICKSEAL_TEST_CHECKPOINTS'] ?? 1_000);
const ROUNDS_MAX = CHECKPOINTS;
const ROUND_MS = 4_000;
const DOWN_MS = 1_000;
const POLL_MS = 50;

interface Node {
  readonly url: string;
  readonly restart: () => Promise<void>;
}

/** The cosigned checkpoints that the nodes have shown. */
class SeenCheckpoints {
  /** The root of each size, in base64. */
  readonly roots = new Map<bigint, string>();
  readonly faults: string[] = [];
  isOver = false;
  readonly #policy: LogPolicy;

  constructor(policyText: string) {
    this.#policy = parsePolicy(policyText);
  }

  /** Reads the checkpoint of a node repeatedly, also after a request without an answer. */
  async follow(node: Node): Promise<void> {
    let last = 0n;
    while (!this.isOver) {
      await pause(POLL_MS);
      const note = await fetch(`${node.url}/tlog/checkpoint`).then(
        async (response) => (response.status === 200 ? response.text() : undefined),
        () => undefined,
      );
      if (note === undefined) continue;
      const { checkpoint, cosigners } = await openCheckpoint(note, this.#policy, verifyByNode);
      const root = toBase64(checkpoint.root);
      const known = this.roots.get(checkpoint.size);
      if (known !== undefined && known !== root) this.faults.push(`two trees of ${checkpoint.size}`);
      if (cosigners.size !== 1) this.faults.push(`${checkpoint.size} without its cosignature`);
      if (checkpoint.size < last) this.faults.push(`${checkpoint.size} after ${last} at one node`);
      this.roots.set(checkpoint.size, root);
      last = checkpoint.size;
    }
  }
}

/** Returns the roots of all sizes of a served log, computed from its entries. */
async function rootsOf(url: string, size: bigint): Promise<Map<bigint, string>> {
  const log = new ServedLog(async (path) => {
    const response = await fetch(`${url}/tlog/${path}`);
    return response.status === 200 ? new Uint8Array(await response.arrayBuffer()) : undefined;
  }, nodeSha256);
  const tree = new GrowingTree(0n, undefined, nodeSha256);
  const roots = new Map<bigint, string>();
  while (tree.size < size)
    for (const entry of await log.entries(tree.size, size)) {
      tree.append(entry);
      roots.set(tree.size, toBase64(tree.root()));
    }
  return roots;
}

test(
  `witnesses cosign ${CHECKPOINTS} checkpoints through kill -9 of each part of a cluster`,
  needsNatsServer(),
  async (t) => {
    const dir = emptyFolder(t);
    const servers = await natsServers(t, 3);
    const [witnessPort, ...ports] = (await freePorts(4)) as [number, ...number[]];
    const witness = new WitnessProcess(t, dir, 1, witnessPort);
    witness.start();
    const policyText = `log ${vkey}\n${witness.line}\nquorum W1\n`;
    const outputs: ServeProcess[] = [];
    const start = async (node: number): Promise<Node> => {
      const folder = join(dir, `node-${node}`);
      mkdirSync(folder);
      writeFileSync(join(folder, 'log.hex'), seed.toString('hex'), { mode: 0o600 });
      writeFileSync(join(folder, 'log.policy'), policyText);
      const isEdge = node === 3;
      const keys = { evm: { file: 'evm.hex' }, stark: { file: 'stark.hex' }, log: { file: 'log.hex' } };
      const config = writeConfig(folder, {
        listen: { host: '127.0.0.1', port: ports[node - 1]! },
        keys: isEdge ? { stream: { file: 'evm.hex' } } : keys,
        ...(!isEdge && {
          log: {
            origin,
            batch: '100ms',
            checkpoint: '200ms',
            policy: { file: 'log.policy' },
            require_quorum: true,
          },
        }),
        cluster: {
          role: isEdge ? 'edge' : 'aggregator',
          node,
          servers: [...servers.urls.slice(node - 1), ...servers.urls.slice(0, node - 1)],
          replicas: 3,
          durable: 'memory',
        },
        storage: { dir: join(folder, 'data') },
      });
      let process: ServeProcess | undefined;
      const run = async () => {
        process = new ServeProcess(['--config', config]);
        outputs.push(process);
        await process.ready();
      };
      t.teardown(() => process?.kill());
      await run();
      const restart = async () => {
        await process!.kill();
        await pause(DOWN_MS);
        await run();
      };
      return { url: `http://127.0.0.1:${ports[node - 1]}`, restart };
    };
    const nodes = await Promise.all([1, 2, 3].map(start));
    const seen = new SeenCheckpoints(policyText);
    const following = nodes.map((node) => seen.follow(node));
    const kills = [
      () => nodes[0]!.restart(),
      async () => {
        await servers.signal(0, 'SIGKILL');
        await pause(DOWN_MS);
        await servers.start(0);
      },
      () => nodes[1]!.restart(),
      async () => {
        await witness.kill();
        await pause(DOWN_MS);
        witness.start();
      },
      () => nodes[2]!.restart(),
      async () => {
        await servers.signal(1, 'SIGKILL');
        await pause(DOWN_MS);
        await servers.start(1);
      },
    ];
    let rounds = 0;
    for (; rounds < ROUNDS_MAX && seen.roots.size < CHECKPOINTS; rounds++) {
      await kills[rounds % kills.length]!();
      await pause(ROUND_MS);
    }
    const largest = [...seen.roots.keys()].reduce((a, b) => (a > b ? a : b), 0n);
    // All nodes still publish newer checkpoints.
    for (const { url } of nodes)
      await eventually(
        async () => {
          const note = await (await fetch(`${url}/tlog/checkpoint`)).text();
          return BigInt(note.split('\n')[1] ?? 0) > largest;
        },
        { what: `a later checkpoint at ${url}`, withinMs: 60_000 },
      );
    seen.isOver = true;
    await Promise.all(following);
    t.comment(`${seen.roots.size} checkpoints, ${rounds} kills, ${largest} batches`);
    t.ok(seen.roots.size >= CHECKPOINTS, `${seen.roots.size} checkpoints`);
    t.same(seen.faults, []);
    for (const { url } of nodes) {
      const roots = await rootsOf(url, largest);
      const lost = [...seen.roots].filter(([size, root]) => size <= largest && roots.get(size) !== root);
      t.same(lost, [], 'each checkpoint that was shown is a beginning of the log');
    }
    const refusals = outputs.flatMap(({ stdout }) =>
      stdout.split('\n').filter((line) => /it has cosigned|another tree|has stopped/.test(line)),
    );
    t.same(refusals, [], 'no witness refused a tree');
  },
);
