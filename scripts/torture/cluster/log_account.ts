import { createHash } from 'node:crypto';
import type { LogRecord } from '../../../src/cluster/bus.js';
import { decodeLogBatch, type LogEntry } from '../../../src/cluster/log/log_batch.js';
import { openBus } from '../../../src/cluster/open_bus.js';
import { decodeAcceptedInput } from '../../../src/log/records/accepted_input.js';
import { decodeHolding } from '../../../src/log/records/holding.js';
import { toHex } from '../../../src/model/hex.js';
import { NS_PER_SECOND } from '../../../src/model/time.js';
import type { NatsServers } from '../../load/nats_servers.js';
import { eventually } from '../../load/wait.js';

const ANSWER_MS_MAX = 60_000;

/** The content of the whole log, read from the message servers. */
export class LogAccount {
  records = 0;
  epochs = 0;
  aggregates = 0;
  /** The accepted updates in the form `publisher key, symbol, timestamp`. */
  readonly inputs = new Set<string>();
  /** A sentence for each broken rule. */
  readonly violations: string[] = [];
  #epoch = 0;
  #last = '';
  #isResigned = false;
  readonly #signedNs = new Map<string, bigint>();
  readonly #hashes = new Map<string, string>();
  #newestNs = 0n;

  /** Reads the log as the edge with this number. */
  static async read(servers: NatsServers, edge: number): Promise<LogAccount> {
    const account = new LogAccount();
    const bus = await openBus({
      name: 'main',
      role: 'edge',
      servers: servers.urls,
      credentials: servers.credentialsOf(edge),
      replicas: 3,
      logRetentionMs: 0,
      candleRetentionMs: 0,
      onNotice: () => {},
    });
    const { firstSequence, last } = await answered(() => bus.extent());
    if (firstSequence !== 1) account.violations.push(`the log begins at ${firstSequence}`);
    for (let sequence = 0; sequence < last.sequence; )
      for (const record of await answered(() => bus.read(sequence))) {
        sequence = record.sequence;
        account.#take(record);
      }
    await bus.close();
    return account;
  }

  #take(record: LogRecord): void {
    const { epoch, sequence, after, claim, entries } = decodeLogBatch(record.bytes);
    const fail = (what: string) => this.violations.push(`record ${record.sequence} ${what}`);
    this.records++;
    if (after !== this.#last) fail(`follows ${after}, not ${this.#last}`);
    this.#last = record.id;
    if (claim !== undefined && !claim.resign) {
      if (epoch !== record.sequence || epoch <= this.#epoch) fail(`claims epoch ${epoch}`);
      this.epochs++;
      this.#epoch = epoch;
      this.#isResigned = false;
    }
    if (epoch !== this.#epoch) fail(`is of epoch ${epoch}, not ${this.#epoch}`);
    if (createHash('sha256').update(record.bytes).digest('hex') !== record.id)
      fail('does not have its ID as its hash');
    if (record.sequence !== sequence) fail(`was written for place ${sequence}`);
    if (this.#isResigned) fail('comes after the end of its epoch');
    this.#isResigned = claim?.resign === true;
    for (const entry of entries) this.#enter(entry, fail);
  }

  #enter({ symbol, publisherKey, publicLog, bytes }: LogEntry, fail: (what: string) => void): void {
    if (publicLog !== undefined) return;
    if (publisherKey !== undefined) {
      const { input, seen } = decodeAcceptedInput(bytes);
      const name = `${toHex(publisherKey)} ${symbol}`;
      this.inputs.add(`${name} ${input.timestampNs}`);
      // The node writes only the newest of several waiting updates. The record contains the times of the earlier updates.
      for (const { second, nanos } of seen?.updates ?? [])
        this.inputs.add(`${name} ${BigInt(second) * NS_PER_SECOND + BigInt(nanos)}`);
      return;
    }
    const { aggregate } = decodeHolding(bytes);
    if (aggregate === undefined) return;
    this.aggregates++;
    const { signedAtNs, msgHash } = aggregate;
    if (signedAtNs <= (this.#signedNs.get(symbol) ?? 0n))
      fail(`signs ${symbol} at ${signedAtNs}, not later than before`);
    this.#signedNs.set(symbol, signedAtNs);
    if (signedAtNs < this.#newestNs) fail(`signs ${symbol} before what stands ahead of it`);
    this.#newestNs = signedAtNs;
    const name = `${symbol} ${signedAtNs}`;
    const hash = toHex(msgHash);
    if ((this.#hashes.get(name) ?? hash) !== hash) fail(`has another value of ${name}`);
    this.#hashes.set(name, hash);
  }
}

/** Asks again while the servers refuse, as they do while they elect a leader. @throws Error when they refuse for a minute */
function answered<T>(ask: () => Promise<T>): Promise<T> {
  let refusal = '';
  const look = () =>
    ask().catch((error) => {
      refusal = String(error);
      return undefined;
    });
  return eventually(look, { what: 'the content of the log', withinMs: ANSWER_MS_MAX }).catch((error) => {
    throw new Error(`${error.message}: ${refusal}`);
  });
}
