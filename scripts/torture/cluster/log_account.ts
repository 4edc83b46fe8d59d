import { decodeLogBatch, type LogEntry } from '../../../src/cluster/log/log_batch.js';
import { openBus } from '../../../src/cluster/open_bus.js';
import { decodeAcceptedInput } from '../../../src/log/records/accepted_input.js';
import { toHex } from '../../../src/model/hex.js';
import { NS_PER_SECOND } from '../../../src/model/time.js';
import type { NatsServers } from '../../load/nats_servers.js';
import { eventually } from '../../load/wait.js';

const ANSWER_MS_MAX = 60_000;

/** The updates in the whole log, read from the message servers. The simulation of clusters checks the rules of the log. */
export class LogAccount {
  records = 0;
  /** The accepted updates in the form `publisher key, symbol, timestamp`. */
  readonly inputs = new Set<string>();

  /** Reads the log as the edge with this number. @throws Error when the log lacks its first records */
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
    if (firstSequence !== 1) throw new Error(`the log begins at ${firstSequence}`);
    for (let sequence = 0; sequence < last.sequence; )
      for (const record of await answered(() => bus.read(sequence))) {
        sequence = record.sequence;
        account.records++;
        for (const entry of decodeLogBatch(record.bytes).entries) account.#enter(entry);
      }
    await bus.close();
    return account;
  }

  #enter({ symbol, publisherKey, bytes }: LogEntry): void {
    if (publisherKey === undefined) return;
    const { input, seen } = decodeAcceptedInput(bytes);
    const name = `${toHex(publisherKey)} ${symbol}`;
    this.inputs.add(`${name} ${input.timestampNs}`);
    // The node writes only the newest of several waiting updates. The record contains the times of the earlier updates.
    for (const { second, nanos } of seen?.updates ?? [])
      this.inputs.add(`${name} ${BigInt(second) * NS_PER_SECOND + BigInt(nanos)}`);
  }
}

/** Asks again while the servers refuse, as they do while they elect a leader. @throws Error when they refuse for a minute */
function answered<T>(ask: () => Promise<T>): Promise<T> {
  const look = () => ask().catch(() => undefined);
  return eventually(look, { what: 'the content of the log', withinMs: ANSWER_MS_MAX });
}
