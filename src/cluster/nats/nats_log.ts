import {
  JetStreamApiError,
  type JetStreamManager,
  type StoredMsg,
  type StreamInfo,
} from '@nats-io/jetstream';
import { headers, type Msg } from '@nats-io/transport-node';
import { type LogExtent, type LogPosition, type LogRecord, RecordsMissing, WrongEnd } from '../bus.js';
import { readBatch } from './nats_batch.js';
import type { BusConnection } from './nats_connection.js';
import { type Names, SUBJECT_WORD } from './nats_options.js';
import { noAnswer } from './nats_streams.js';

/**
 * The time limit of a write, and of a request about the log. What the servers lose in an election is repeated soon. A slower write that succeeds
 * later takes effect when the node receives its record.
 */
const ASK_MS_MAX = 800;
const READ_RECORDS_MAX = 2_000;
const READ_BYTES_MAX = 8 * 1024 ** 2;

/** The name of the error of a request that nobody answers. */
const NOT_ANSWERED = 'JetStreamNotEnabled';
/** JetStream's error code for "wrong last sequence". */
const WRONG_LAST_SEQUENCE = 10_071;
const NO_MESSAGE = 10_037;

/**
 * The log, which is a separate stream. Each record has its own subject, which ends with the record's ID. So a write can name its
 * predecessor by sequence and by ID: the servers compare the sequence with the last sequence of the predecessor's subject.
 *
 * The log must not use the header `Nats-Expected-Last-Msg-Id`, because each copy of the stream checks this header separately. In server
 * 2.15.1, a copy that has just caught up knows only an old ID. Such a copy accepts no more records, and reports this only in its own
 * server's log.
 */
export class Log {
  readonly #connection: BusConnection;
  readonly #manager: JetStreamManager;
  readonly #names: Names;
  readonly #idStart: number;

  constructor(connection: BusConnection, manager: JetStreamManager, names: Names) {
    this.#connection = connection;
    this.#manager = manager;
    this.#names = names;
    this.#idStart = names.record('').length;
  }

  async append(after: LogPosition, id: string, bytes: Uint8Array): Promise<number> {
    if (!SUBJECT_WORD.test(id))
      throw new RangeError('the ID of a record has other characters than letters, digits, _ and -');
    return (await this.#write(after, id, bytes)) ?? (await this.#explainRefusal(after, id, bytes));
  }

  async extent(): Promise<LogExtent> {
    const { first_seq, last_seq } = await this.#state();
    const id = last_seq === 0 ? '' : ((await this.#idAt(last_seq)) ?? '');
    // JetStream returns 0 as the first sequence of a log without records.
    return { firstSequence: Math.max(first_seq, 1), last: { sequence: last_seq, id } };
  }

  async read(afterSequence: number): Promise<readonly LogRecord[]> {
    const messages = await readBatch(this.#connection, this.#names.logStream, {
      seq: afterSequence + 1,
      batch: READ_RECORDS_MAX,
      max_bytes: READ_BYTES_MAX,
    });
    const records = messages.map((message) => this.#toRecord(message));
    const first = records[0]?.sequence ?? afterSequence + 1;
    if (first !== afterSequence + 1)
      throw new RecordsMissing(`the log lacks the records ${afterSequence + 1} to ${first - 1}`);
    const gap = records.findIndex(({ sequence }, index) => sequence !== first + index);
    return gap === -1 ? records : records.slice(0, gap);
  }

  onCommitted(listener: (record: LogRecord) => void): () => void {
    return this.#connection.subscribe(this.#names.live('*'), (message) => {
      if (this.#connection.isRecordOf(this.#names.logStream, message)) listener(this.#toRecord(message));
    });
  }

  /** @returns the sequence; `undefined` when the servers refused the record because its expected predecessor is not the log's end */
  async #write(after: LogPosition, id: string, bytes: Uint8Array): Promise<number | undefined> {
    const expected = headers();
    expected.set('Nats-Expected-Stream', this.#names.logStream);
    expected.set('Nats-Expected-Last-Sequence', String(after.sequence));
    if (after.id !== '') {
      expected.set('Nats-Expected-Last-Subject-Sequence', String(after.sequence));
      expected.set('Nats-Expected-Last-Subject-Sequence-Subject', this.#names.record(after.id));
    }
    const answer = await this.#connection.request(this.#names.record(id), bytes, ASK_MS_MAX, expected);
    const { seq, error } = answer.json<Acknowledgement>();
    if (error?.err_code === WRONG_LAST_SEQUENCE) return undefined;
    if (error !== undefined) throw new Error(`the log did not take a record: ${error.description}`);
    if (!Number.isSafeInteger(seq) || seq <= 0) throw new Error('the log answered without a sequence');
    return seq;
  }

  /** Finds the reason for a refused record. An earlier attempt may have succeeded, or may still be in progress. */
  async #explainRefusal(after: LogPosition, id: string, bytes: Uint8Array): Promise<number> {
    const { messages, last_seq } = await this.#state();
    const next = after.sequence + 1;
    if (last_seq < after.sequence)
      throw new WrongEnd(`the log ends at ${last_seq}, before ${after.sequence}`);
    if (last_seq >= next) {
      const found = await this.#idAt(next);
      if (found === id) return next;
      throw new WrongEnd(`the log has record ${found ?? '(deleted)'} at ${next}, not ${id}`);
    }
    // Every record has been deleted, so the servers no longer know the ID of the last record.
    if (messages === 0 && after.id !== '')
      return this.append({ sequence: after.sequence, id: '' }, id, bytes);
    const last = after.id === '' ? '' : await this.#idAt(last_seq);
    if (last !== after.id) throw new WrongEnd(`the log has record ${last} at ${last_seq}, not ${after.id}`);
    throw new Error('another record is being appended');
  }

  /**
   * Asks the server that leads the log for a record's ID, because this server has every committed record.
   * @returns `undefined` when the server does not have the record
   */
  async #idAt(sequence: number): Promise<string | undefined> {
    let message: StoredMsg | null;
    try {
      const { streams } = this.#manager;
      message = await this.#connection.untilLost(
        () => streams.getMessage(this.#names.logStream, { seq: sequence }),
        ASK_MS_MAX,
      );
    } catch (error) {
      if (error instanceof JetStreamApiError && error.code === NO_MESSAGE) return undefined;
      if ((error as Error).name === NOT_ANSWERED)
        throw new Error(noAnswer(`$JS.API.STREAM.MSG.GET.${this.#names.logStream}`), { cause: error });
      throw error;
    }
    return message?.subject.slice(this.#idStart);
  }

  async #state(): Promise<StreamInfo['state']> {
    const { streams } = this.#manager;
    return (await this.#connection.untilLost(() => streams.info(this.#names.logStream), ASK_MS_MAX)).state;
  }

  #toRecord({ headers: given, data }: Msg): LogRecord {
    const sequence = Number(given!.get('Nats-Sequence'));
    return {
      sequence: Number.isSafeInteger(sequence) ? sequence : 0,
      id: given!.get('Nats-Subject').slice(this.#idStart),
      bytes: data,
    };
  }
}

interface Acknowledgement {
  readonly seq: number;
  readonly error?: { readonly err_code: number; readonly description: string };
}
