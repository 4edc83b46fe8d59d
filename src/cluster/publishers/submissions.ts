import { NODE_MAX } from '../../model/node_list.js';
import type { CallerName } from '../../prices/caller_name.js';
import type { PublishRights } from '../../prices/gate.js';
import { unpackForeignMessage } from '../../prices/packed_message.js';
import type { PublisherSession, PublishOutcome, PublishReceiver } from '../../prices/publisher_session.js';
import type { Bus } from '../bus.js';
import { submitTopic, submitterOf } from '../subjects.js';
import { decodeSubmit, encodeOutcome, type Submit } from './submit.js';

/** The largest number of known connections of a node. Above it, the node's connection that has been silent longest is forgotten. */
const SESSIONS_MAX = 20_000;
/**
 * The largest number of kept outcomes of a node. No message reports that a connection has ended, so outcomes that nobody will request again
 * would otherwise accumulate.
 */
const OUTCOMES_MAX = 100_000;

export interface SubmissionsOptions {
  readonly bus: Pick<Bus, 'answer'>;
  readonly epoch: number;
  readonly receiver: PublishReceiver;
  /** Returns the caller's current rights. The returned object is the same while the caller has rights. */
  readonly rightsOf: (caller: CallerName) => PublishRights | undefined;
}

interface KnownSession {
  readonly session: PublisherSession;
  /** The number of the last message that was received in order. */
  last: number;
  /** The outcomes of messages that may be sent again. */
  readonly outcomes: Map<number, Promise<PublishOutcome>>;
}

/** The publishers of one other node. Nodes share no limits, so a node with many connections displaces no connection of another node. */
interface SubmittingNode {
  /** The known sessions, the longest-silent session first. */
  readonly sessions: Map<string, KnownSession>;
  /** The number of outcomes of all sessions. */
  outcomes: number;
}

/** The publishers of other nodes, on the node that leads. The leader receives their messages in order. Each message takes effect once. */
export class Submissions {
  readonly #options: SubmissionsOptions;
  readonly #nodes = new Map<number, SubmittingNode>();
  #stopAnswering: (() => void) | undefined;
  #isStopped = false;

  constructor(options: SubmissionsOptions) {
    this.#options = options;
  }

  start(): void {
    const { bus, epoch } = this.#options;
    this.#stopAnswering = bus.answer(submitTopic('*', epoch), async (bytes, topic) => {
      const outcome = await this.#takeSubmission(submitterOf(topic), decodeSubmit(bytes));
      // The publisher's node must ask the next leader. Only that leader knows the outcome for certain.
      if (this.#isStopped) throw new Error('this node leads no more');
      return encodeOutcome(outcome);
    });
  }

  stop(): void {
    this.#isStopped = true;
    this.#stopAnswering?.();
  }

  #takeSubmission(node: number, submit: Submit): Promise<PublishOutcome> {
    const { number, oldest, caller, message } = submit;
    const rights = this.#options.rightsOf(caller);
    if (rights === undefined)
      return Promise.resolve({
        ok: false,
        traceId: message.traceId,
        error: 'the token or key has been removed',
      });
    const from = this.#nodeOf(node);
    const known = knownOf(from, submit, rights);
    for (const answered of known.outcomes.keys()) {
      // The outcomes are in order, so the loop ends at the first outcome that is still needed. A session may have a thousand outcomes.
      if (answered >= oldest) break;
      known.outcomes.delete(answered);
      from.outcomes--;
    }
    if (number <= known.last) {
      const outcome = known.outcomes.get(number);
      return outcome ?? Promise.reject(new Error('it was answered before'));
    }
    // An earlier message is missing. If no answer arrives, the sender repeats both messages in order.
    if (number !== Math.max(known.last + 1, oldest)) return Promise.reject(new Error('a message is missing'));
    known.last = number;
    const outcome = this.#receiveMessage(known.session, submit);
    outcome.catch(() => {});
    known.outcomes.set(number, outcome);
    from.outcomes++;
    return outcome;
  }

  async #receiveMessage(session: PublisherSession, { again, message }: Submit): Promise<PublishOutcome> {
    return this.#options.receiver.receive(session, unpackForeignMessage(message, again));
  }

  #nodeOf(node: number): SubmittingNode {
    const known = this.#nodes.get(node);
    if (known !== undefined) return known;
    if (!(Number.isInteger(node) && node >= 1 && node <= NODE_MAX))
      throw new RangeError(`there is no node ${node}`);
    const added = { sessions: new Map(), outcomes: 0 };
    this.#nodes.set(node, added);
    return added;
  }
}

function knownOf(
  node: SubmittingNode,
  { session: name, type, durable }: Submit,
  rights: PublishRights,
): KnownSession {
  let known = node.sessions.get(name);
  node.sessions.delete(name);
  const { session } = known ?? {};
  if (session?.rights !== rights || session.type !== type || session.isDurable !== durable)
    known = {
      session: { type, rights, isDurable: durable, unsettled: [] },
      last: known?.last ?? 0,
      outcomes: known?.outcomes ?? new Map(),
    };
  node.sessions.set(name, known!);
  forgetSilent(node);
  return known!;
}

function forgetSilent(node: SubmittingNode): void {
  for (const [name, { outcomes }] of node.sessions) {
    const isOver = node.sessions.size > SESSIONS_MAX || node.outcomes > OUTCOMES_MAX;
    if (!isOver || node.sessions.size === 1) return;
    node.sessions.delete(name);
    node.outcomes -= outcomes.size;
  }
}
