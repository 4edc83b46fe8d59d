import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { eventually } from '../../../scripts/load/wait.js';
import { addressOf } from '../../../src/cli/keygen_command.js';
import type { PrivateKeys } from '../../../src/config/private_keys.js';
import { Ed25519Key, verifyByNode } from '../../../src/tlog/ed25519_key.js';
import { parsePolicy } from '../../../src/tlog/log_policy.js';
import { openCheckpoint } from '../../../src/tlog/open_checkpoint.js';
import { formatVerifierKey } from '../../../src/tlog/verifier_key.js';
import { needsNatsServer } from '../../cluster/nats/servers.js';
import type { TestService } from '../harness.js';
import {
  changing,
  checkReaders,
  type Generation,
  generation,
  nowS,
  Operator,
  ROTATION_ASSETS,
  RotationLoad,
  RotationReader,
  unannouncedKeys,
  untilFollowed,
  untilTicks,
} from '../rotation.js';
import { TestCluster, untilReady } from './nodes.js';

const ORIGIN = 'rotated.example.com/tlog';

/** The keys of one generation, with the key of the public log. */
interface LoggedGeneration extends Generation {
  readonly log: Buffer;
}

/** The keys of three generations, in their order. */
const LOGGED_GENERATIONS = [1, 2, 3].map((n) => ({
  ...generation(n),
  log: Buffer.alloc(32, 0x50 + n),
})) as [LoggedGeneration, LoggedGeneration, LoggedGeneration];
const LINES = LOGGED_GENERATIONS.map(
  ({ log: seed }) => `log ${formatVerifierKey(new Ed25519Key(seed).logKey(ORIGIN))}\n`,
);
const QUORUM = 'quorum none\n';

/** Returns the section `log` of a log whose policy lists all keys. @param dir the folder for the policy's file */
function rotatedLog(dir: string): object {
  const file = join(dir, 'log.policy');
  writeFileSync(file, LINES.join('') + QUORUM);
  return { origin: ORIGIN, batch: '100ms', checkpoint: '200ms', policy: { file } };
}

/** Waits for a checkpoint that the key of this generation has signed. @returns its size, in batches */
function untilLogSignedBy(service: Pick<TestService, 'url'>, keys: LoggedGeneration): Promise<bigint> {
  const policy = parsePolicy(LINES[LOGGED_GENERATIONS.indexOf(keys)]! + QUORUM);
  return eventually(
    async () => {
      const response = await fetch(`${service.url}/tlog/checkpoint`);
      const note = await response.text();
      if (response.status !== 200) return undefined;
      try {
        return (await openCheckpoint(note, policy, verifyByNode)).checkpoint.size;
      } catch {
        return undefined;
      }
    },
    { what: 'a checkpoint of the next key of the log', withinMs: 60_000 },
  );
}

/** The keys of the aggregators, and the keys with which the edge signs payloads. */
const [FIRST, SECOND, THIRD] = LOGGED_GENERATIONS;
const EDGE = [generation(4).stream, generation(5).stream, generation(6).stream] as const;

test('the keys of all nodes change under load', needsNatsServer(), async (t) => {
  const cluster = await TestCluster.start(t);
  const dir = t.testdir({});
  const sections = { assets: ROTATION_ASSETS, log: rotatedLog(dir) };
  const leader = await cluster.node(1, 'aggregator', sections, { keys: FIRST });
  await untilReady(leader);
  const standby = await cluster.node(2, 'aggregator', sections, { keys: FIRST });
  const edge = await cluster.node(3, 'edge', sections, { keys: { stream: EDGE[0] } });
  await Promise.all([standby, edge].map(untilReady));
  const operator = await Operator.open(dir);
  let version = 0;

  /** Reloads the nodes one after another. */
  const reload = (keys: PrivateKeys, edgeKeys: PrivateKeys) => {
    edge.reconfigure(sections, edgeKeys, operator.announcements);
    for (const node of [standby, leader]) node.reconfigure(sections, keys, operator.announcements);
  };
  /** Reloads all nodes with other keys, announces them, and reloads with the announcement. */
  const announce = async (keys: PrivateKeys, edgeKeys: PrivateKeys, readers: readonly RotationReader[]) => {
    reload(keys, edgeKeys);
    await operator.announce(edge, keys.stream!, edgeKeys.stream!);
    reload(keys, edgeKeys);
    await untilFollowed(readers, ++version);
    for (const node of [leader, standby, edge]) t.equal(await unannouncedKeys(node), '0');
  };
  await announce(FIRST, { stream: EDGE[0] }, []);
  const load = await RotationLoad.start(t, edge, leader, standby);
  const trust = { root: operator.root };
  const all = [leader, standby, edge].map(({ url }) => url);
  const [ofEdge, ofLeader, ofAll] = [
    await RotationReader.open(t, edge.url, trust),
    await RotationReader.open(t, leader.url, trust),
    await RotationReader.open(t, all, trust),
  ] as const;
  const readers = [ofEdge, ofLeader, ofAll];
  const away = await RotationReader.open(t, edge.url, trust);
  await untilTicks([...readers, away], 10);
  const known = away.signers.place;
  await away.end();
  checkReaders(t, 'the reader that goes away', [away]);
  const fromNs = BigInt(Date.now()) * 1_000_000n;
  const untilSignedBy = async (keys: Generation, stream: Buffer) => {
    await ofLeader.untilSignedBy(keys);
    await ofEdge.untilSignedBy({ ...keys, stream });
  };

  const atS = nowS() + 8;
  const byTime = {
    evm: changing(FIRST.evm, SECOND.evm, atS),
    stark: changing(FIRST.stark, SECOND.stark, atS + 1),
    stream: changing(FIRST.stream, SECOND.stream, atS + 2),
    log: SECOND.log,
  };
  const nodes = [leader, standby, edge];
  const sizes = [];
  for (const node of nodes) sizes.push(await untilLogSignedBy(node, FIRST));
  await announce(byTime, { stream: changing(EDGE[0], EDGE[1], atS + 1) }, readers);
  await untilSignedBy(SECOND, EDGE[1]);
  for (const node of nodes) sizes.push(await untilLogSignedBy(node, SECOND));

  const soonS = nowS() + 50;
  const next = {
    evm: changing(SECOND.evm, THIRD.evm, soonS),
    stark: changing(SECOND.stark, THIRD.stark, soonS),
    stream: changing(SECOND.stream, THIRD.stream, soonS),
    log: SECOND.log,
  };
  await announce(next, { stream: changing(EDGE[1], EDGE[2], soonS) }, readers);
  // A key counts from a minute before its time on, so a reload may change keys a little early.
  reload(THIRD, { stream: EDGE[2] });
  await untilSignedBy(THIRD, EDGE[2]);
  await announce(THIRD, { stream: EDGE[2] }, readers);
  await untilTicks(readers, 20);
  for (const node of nodes) sizes.push(await untilLogSignedBy(node, THIRD));
  t.ok(sizes[2]! < sizes[3]! && sizes[5]! < sizes[6]!, `one log under three keys: ${sizes.join()} batches`);
  checkReaders(t, 'a reader that was up', readers);
  t.same([...ofEdge.streamKeys], EDGE.map(addressOf));
  t.same(
    [...ofLeader.streamKeys],
    [FIRST, SECOND, THIRD].map(({ stream }) => addressOf(stream)),
  );

  const late = await RotationReader.open(t, all, { ...trust, known });
  await late.untilSignedBy({ ...THIRD, stream: EDGE[2] });
  await untilTicks([late], 20);
  t.equal(late.signers.list.version, version);
  const signers = await late.signersBetween(fromNs, BigInt(Date.now()) * 1_000_000n);
  t.same(
    signers,
    [FIRST, SECOND, THIRD].map(({ evm }) => addressOf(evm)),
    'the past of all keys',
  );
  checkReaders(t, 'the reader that was away', [late]);
  await load.stop();
  const ticks = readers.reduce((sum, reader) => sum + reader.ticks, 0);
  t.comment(`${load.published} prices published, ${ticks} ticks verified by ${readers.length} readers`);
});
