import { type Mutant, mutantsOf } from './mutant.js';

/** The seeds 1 to 1,500 of the simulation, which are the same on each day. */
const SIMULATION = 'cluster/simulation.whole';
const APPEND = '    bus.append(after, record.id, record.bytes).then(\n';
/** Code that sends a second write before the first one is acknowledged. */
const SECOND_WRITE = `    const second = chainedRecord({ epoch: this.#options.epoch, sequence: record.sequence + 1, after: record.id, entries: [] });
    if (write.claim === undefined) bus.append({ sequence: record.sequence, id: AFTER }, second.id, second.bytes).catch(() => {});
`;

/** The mutants of a cluster's rules, which the simulation must find. */
export const CLUSTER_MUTANTS: readonly Mutant[] = [
  ...mutantsOf('cluster/log/log_writer', SIMULATION, [
    ['two writes are in flight', APPEND, SECOND_WRITE.replace('AFTER', 'record.id') + APPEND],
    [
      'two writes are in flight, and name no ID of the record before',
      APPEND,
      SECOND_WRITE.replace('AFTER', "''") + APPEND.replace('after', "{ sequence: after.sequence, id: '' }"),
    ],
    [
      'an update is acknowledged before the log has it',
      'if (this.#write === undefined && this.#waiting.length === 0) return Promise.resolve();',
      'return Promise.resolve();',
    ],
  ]),
  ...mutantsOf('cluster/leading/claimant', SIMULATION, [
    [
      'a claim follows the end of the log, which the node has not applied',
      '    bus\n      .append(after, record.id, record.bytes)\n',
      `    bus
      .extent()
      .then(({ last }) => {
        const epoch = last.sequence + 1;
        const isSame = epoch === sequence && last.id === after.id;
        const moved = chainedRecord({ epoch, sequence: epoch, after: last.id, claim: claim(), entries: [] });
        return isSame ? bus.append(after, record.id, record.bytes) : bus.append(last, moved.id, moved.bytes);
      })
`,
    ],
  ]),
  ...mutantsOf('cluster/log/log_follower', SIMULATION, [
    [
      'a node claims although another node has reported later records',
      'return this.#knownEnd > this.#position.sequence;',
      'return false;',
    ],
  ]),
  ...mutantsOf('cluster/leading/term', SIMULATION, [
    [
      'a leader sends ticks after its lease',
      'return this.#writer.acknowledgedSentMs + this.#tickLeaseMs;',
      'return Number.POSITIVE_INFINITY;',
    ],
  ]),
  ...mutantsOf('cluster/log/recent_records', SIMULATION, [
    ['lost records are not restored', 'const records = this.after(end);', 'const records: LogRecord[] = [];'],
  ]),
  ...mutantsOf('cluster/log/record_chain', SIMULATION, [
    [
      'a record is applied without a check of its hash, place and predecessor',
      "if (recordId(bytes) !== id) return { fault: 'does not have the hash that is its ID', isDamage: true };",
      'return decodeLogBatch(bytes);',
    ],
  ]),
  ...mutantsOf('cluster/publishers/forwarder', SIMULATION, [
    ['a message goes to the next leader as if it were new', 'again: attempt > 1,', 'again: false,'],
  ]),
  ...mutantsOf('cluster/node/checkpoints', SIMULATION, [
    ['inputs are not written again', 'if (firstS > nowS) return;', 'return;'],
  ]),
];
