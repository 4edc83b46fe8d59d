import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { eventually } from '../../../scripts/load/wait.js';
import { freePorts } from '../../../src/cli/demo/free_ports.js';
import { registerLog } from '../../../src/cli/log_command.js';
import { registerVerify } from '../../../src/cli/verify_command.js';
import { checksumAddress, evmAddress } from '../../../src/client/verify/evm_signatures.js';
import { ServedLog } from '../../../src/client/verify/served_log.js';
import { logFileReader } from '../../../src/publiclog/witness/log_file_reader.js';
import { parseBatchEntry } from '../../../src/tlog/batch_entry.js';
import { verifyByNode } from '../../../src/tlog/ed25519_key.js';
import { parsePolicy } from '../../../src/tlog/log_policy.js';
import { openCheckpoint } from '../../../src/tlog/open_checkpoint.js';
import { runCommand } from '../../cli/run_command.js';
import { natsServers, needsNatsServer } from '../../cluster/nats/servers.js';
import { emptyFolder } from '../../publiclog/witness/small_witness.js';
import { ServeProcess, writeConfig } from '../child.js';
import type { TestService } from '../harness.js';
import { signedFrames, streamLogOf, verifyInLog } from '../logged_payloads.js';
import { priceOf } from '../logged_prices.js';
import { cosignedBy, LOGS, WitnessProcess } from '../witness_process.js';
import { nodesOf } from './nodes.js';

type Addresses = Awaited<ReturnType<ServeProcess['ready']>>;

/** The log of prices of the cluster. */
const PRICE_LOG = LOGS[0]!;

interface LoggedNodeOptions {
  readonly t: Test;
  readonly dir: string;
  readonly node: number;
  readonly role: 'aggregator' | 'edge';
  /** The addresses of the NATS servers. */
  readonly servers: readonly string[];
  /** The policy of the node's logs; default: a policy without witnesses. */
  readonly policy?: string;
  readonly logsPrices?: boolean;
}

/** A node of a cluster in a process of its own, with its own keys of streams and of their log. */
class LoggedNode {
  readonly signer: string;
  readonly log: ReturnType<typeof streamLogOf>;
  readonly #t: Test;
  readonly #dir: string;
  readonly #config: string;
  #process: ServeProcess | undefined;
  #addresses: Addresses | undefined;

  constructor({ t, dir, node, role, servers, ...options }: LoggedNodeOptions) {
    this.#t = t;
    this.#dir = join(dir, `node-${node}`);
    mkdirSync(this.#dir);
    const key = Buffer.alloc(32, 0x50 + node);
    this.signer = checksumAddress(evmAddress(key));
    this.log = streamLogOf(node);
    this.#write('stream.hex', key.toString('hex'));
    this.#write('log.hex', this.log.seed.toString('hex'));
    this.#write('log.policy', options.policy ?? `log ${this.log.vkey}\nquorum none\n`);
    this.#write('prices.hex', PRICE_LOG.seed.toString('hex'));
    const stream = { stream: { file: 'stream.hex' }, stream_log: { file: 'log.hex' } };
    const prices = {
      evm: { file: 'evm.hex' },
      stark: { file: 'stark.hex' },
      ...(options.logsPrices && { log: { file: 'prices.hex' } }),
    };
    this.#config = writeConfig(this.#dir, {
      keys: { ...stream, ...(role === 'aggregator' && prices) },
      assets: [
        { id: 1, symbol: 'BTCUSD', max_age: '600s' },
        { id: 2, symbol: 'DYDXUSD', signature_type: 'stark' },
      ],
      log: {
        origin: PRICE_LOG.origin,
        batch: '100ms',
        checkpoint: '200ms',
        ...(options.policy !== undefined && { policy: { file: 'log.policy' }, require_quorum: true }),
      },
      cluster: { role, node, servers, replicas: 1, durable: 'memory' },
      storage: { dir: join(this.#dir, 'data') },
    });
  }

  get addresses(): Addresses {
    return this.#addresses!;
  }

  async start(): Promise<void> {
    const process = new ServeProcess(['--config', this.#config]);
    this.#t.teardown(() => process.kill());
    this.#process = process;
    this.#addresses = await process.ready();
  }

  kill(): Promise<void> {
    return this.#process!.kill();
  }

  frames(count: number): Promise<string[]> {
    return signedFrames(this.addresses.socketUrl, count);
  }

  /** The policy that names the log of this node. */
  get policyFile(): string {
    return join(this.#dir, 'log.policy');
  }

  /** Runs `verify` with this node's log until the log covers the frames. */
  verify(frames: readonly string[]) {
    this.#write('frames.txt', frames.join('\n'));
    return verifyInLog(join(this.#dir, 'frames.txt'), this.addresses.url, this.policyFile, this.signer);
  }

  async shownKey(): Promise<string | undefined> {
    const answer = await fetch(`${this.addresses.url}/v1/signers`);
    return ((await answer.json()) as { stream_log?: { vkey: string } }).stream_log?.vkey;
  }

  async shownLogs(): Promise<{ node: number; origin: string; vkey: string }[] | undefined> {
    const answer = await fetch(`${this.addresses.url}/v1/signers`);
    return ((await answer.json()) as { stream_logs?: [] }).stream_logs;
  }

  /** Audits the log, and goes on from the audit before. */
  async checkAudit(t: Test): Promise<void> {
    const { exitCode, stdout, stderr } = await runCommand(registerLog, [
      ...['log', 'audit', this.addresses.url, '--payloads', '--policy', this.policyFile],
      ...['--folder', join(this.#dir, 'audit'), '--once'],
    ]);
    t.same([exitCode, stderr], [0, '']);
    t.match(stdout, [/^[1-9]\d* batches checked$/]);
  }

  /** Reads the entries of the whole log, which must be this node's log. */
  async entries() {
    const read = logFileReader(`${this.addresses.url}/tlog/streams/`, new AbortController().signal);
    const log = new ServedLog(read);
    const policy = parsePolicy(`log ${this.log.vkey}\nquorum none\n`);
    const { checkpoint } = await openCheckpoint(await log.checkpoint(), policy, verifyByNode);
    const entries: Uint8Array[] = [];
    while (BigInt(entries.length) < checkpoint.size)
      entries.push(...(await log.entries(BigInt(entries.length), checkpoint.size)));
    return entries.map((entry) => Buffer.from(entry).toString());
  }

  #write(name: string, text: string): void {
    writeFileSync(join(this.#dir, name), text, { mode: 0o600 });
  }
}

async function checkLogged(t: Test, node: LoggedNode, frames: readonly string[]): Promise<void> {
  const { exitCode, stdout, stderr } = await node.verify(frames);
  t.equal(exitCode, 0, stderr);
  const places = stdout.filter((line) => line.startsWith('payload: logged'));
  t.equal(places.length, frames.length);
  t.ok(places.every((line) => line.includes(` of ${node.log.origin}, `)));
}

/** Returns the numbers of the starts of a log's process. */
function startsIn(entries: readonly string[]): Set<string> {
  return new Set(entries.map((entry) => String(parseBatchEntry(Buffer.from(entry)).epoch)));
}

test(
  'each node of a cluster logs its own payloads, through kill -9 and a takeover',
  needsNatsServer(),
  async (t) => {
    const dir = emptyFolder(t);
    const { urls: servers } = await natsServers(t, 1);
    const nodes = (['aggregator', 'aggregator', 'edge', 'edge'] as const).map(
      (role, i) => new LoggedNode({ t, dir, node: i + 1, role, servers }),
    );
    const [leader, standby, edge, otherEdge] = nodes as [LoggedNode, LoggedNode, LoggedNode, LoggedNode];
    for (const node of nodes) await node.start();
    const publish = (price: bigint) =>
      priceOf(edge.addresses, 'BTCUSD', 'evm', price, BigInt(Date.now()) * 1_000_000n);
    await publish(100n);

    const shown = await Promise.all(nodes.map((node) => node.frames(3)));
    for (const [i, node] of nodes.entries()) await checkLogged(t, node, shown[i]!);
    const [elsewhere] = shown[3]!;
    const missing = await runCommand(registerVerify, [
      ...['verify', elsewhere!, '--signer', otherEdge.signer, '--log', edge.addresses.url],
      ...['--policy', edge.policyFile],
    ]);
    t.equal(missing.exitCode, 1);
    t.match(missing.stdout.at(-1), /^payload: NOT LOGGED: .*node-3 does not have it/);

    for (const node of nodes) t.equal(await node.shownKey(), node.log.vkey, 'each node shows its own key');
    for (const node of nodes)
      await eventually(async () => (await node.shownLogs())?.length === nodes.length || undefined);
    for (const node of nodes)
      t.same(
        await node.shownLogs(),
        nodes.map(({ log: { origin, vkey } }, i) => ({ node: i + 1, origin, vkey })),
        'and the keys of all nodes',
      );

    // A killed edge goes on with its log.
    const before = await edge.entries();
    await edge.checkAudit(t);
    const older = shown[2]!;
    await edge.kill();
    await edge.start();
    const newer = await eventually(async () => edge.frames(3));
    await checkLogged(t, edge, [...older, ...newer]);
    const after = await edge.entries();
    t.same(after.slice(0, before.length), before, 'the entries before the kill stay');
    t.equal(startsIn(after).size, 2);
    await edge.checkAudit(t);

    // A takeover leaves the logs of the edges as they are.
    const role = async () =>
      (await nodesOf(edge.addresses as TestService)).find(({ role }) => role === 'leader')?.node;
    const killed = (await eventually(role)) === 1 ? leader : standby;
    const during = edge.frames(40);
    await killed.kill();
    const next = killed === leader ? 2 : 1;
    await eventually(async () => (await role()) === next);
    await publish(110n);
    const frames = await during;
    await checkLogged(t, edge, [...older, ...newer, ...frames]);
    const later = await edge.entries();
    t.same(later.slice(0, after.length), after, 'the entries before the takeover stay');
    t.equal(startsIn(later).size, 2, 'and no new start follows');
    await edge.checkAudit(t);
    await checkLogged(t, otherEdge, shown[3]!);
    await checkLogged(t, nodes[next - 1]!, shown[next - 1]!);
    for (const node of [edge, otherEdge, nodes[next - 1]!])
      t.notMatch(await (await fetch(`${node.addresses.adminUrl}/readyz`)).text(), /streams:/);
  },
);

test(
  'one witness cosigns the log of prices and those of payloads, through kill -9 of an edge and of the witness',
  needsNatsServer(),
  async (t) => {
    const dir = emptyFolder(t);
    const { urls: servers } = await natsServers(t, 1);
    const [port] = (await freePorts(1)) as [number];
    const logs = [PRICE_LOG, streamLogOf(1), streamLogOf(2)];
    const witness = new WitnessProcess(t, dir, 1, port, logs);
    witness.start();
    const lines = logs.map(({ vkey }) => `log ${vkey}`);
    const text = [...lines, witness.line, 'quorum W1', ''].join('\n');
    const options = { t, dir, servers, policy: text };
    const leader = new LoggedNode({ ...options, node: 1, role: 'aggregator', logsPrices: true });
    const edge = new LoggedNode({ ...options, node: 2, role: 'edge' });
    await leader.start();
    await edge.start();
    const policy = parsePolicy(text);
    const untilAllGrow = async (more: bigint) => {
      const grows = async (node: LoggedNode, path?: string) => {
        const size = await cosignedBy(node.addresses, policy, ['W1'], 0n, path);
        return cosignedBy(node.addresses, policy, ['W1'], size + more, path);
      };
      const streams = '/tlog/streams/checkpoint';
      await Promise.all([grows(leader), grows(leader, streams), grows(edge, streams)]);
    };
    await untilAllGrow(5n);
    await priceOf(edge.addresses, 'BTCUSD', 'evm', 100n, BigInt(Date.now()) * 1_000_000n);
    const frames = await edge.frames(3);
    // A kill loses the newest hashes, so these frames are logged first.
    await checkLogged(t, edge, frames);
    for (let round = 0; round < 3; round++) {
      await edge.kill();
      if (round > 0) await witness.kill();
      await edge.start();
      if (round > 0) witness.start();
      await untilAllGrow(5n);
    }
    const { exitCode, stdout, stderr } = await edge.verify(frames);
    t.equal(exitCode, 0, stderr);
    const places = stdout.filter((line) => / of \S+\/node-2, of which W1 at \d+ has seen /.test(line));
    t.equal(places.length, 3);
    for (const { addresses } of [leader, edge]) {
      const metrics = await (await fetch(`${addresses.adminUrl}/metrics`)).text();
      t.match(metrics, /^tickseal_tlog_witnesses\{log="streams"\} 1$/m);
      t.match(metrics, /^tickseal_tlog_stopped\{log="streams"\} 0$/m);
    }
  },
);
