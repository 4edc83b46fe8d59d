import { setImmediate as endOfTurn } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { clockOfThread } from '../../../clock/shared_clock.js';
import { Ticker } from '../../../clock/ticker.js';
import { usesStark } from '../../../config/stark_use.js';
import { createCryptoJobs } from '../../../crypto/pool/jobs.js';
import { fillStarkTables } from '../../../crypto/stark/stark_tables.js';
import { RingReader } from '../../../log/feed/byte_ring.js';
import type { FeedMessages, Snapshot } from '../../../log/feed/feed.js';
import { readFeedMessage } from '../../../log/feed/feed_bytes.js';
import { receivedSnapshot } from '../../../log/feed/sent_snapshot.js';
import { openFollower } from '../../../log/store/follower.js';
import { Catalogue } from '../../../model/catalogue.js';
import { createCounters } from '../../../model/counters.js';
import { loadWebSockets } from '../../../server/uws/native.js';
import { openSockets } from '../../../server/uws/open_sockets.js';
import { StallCounter } from '../../metrics/stall_counter.js';
import { type Edge, openEdge } from '../edge.js';
import { signInTurns } from './inline_signing.js';
import { answerWith, firstAtOnce, Outbox, PendingReplies } from './pending_replies.js';
import { RemoteReceiver } from './remote_receiver.js';
import {
  CLOSE_FUNCTION,
  type LogLevel,
  type ThreadCommand,
  type ThreadData,
  type ThreadEvent,
  type ThreadReport,
  type ThreadStart,
  withBuffers,
} from './thread_messages.js';
import { LivenessSignal } from './watchdog.js';

/** The largest number of attempts to close everything. After these attempts, the thread ends in any case. */
const CLOSE_TRIES_MAX = 100;

type Order = Exclude<ThreadCommand, { do: 'answer' | 'start' }>;

// The main program of a thread with one edge. The main thread sends prices to the edge. The edge asks the main thread for data that only
// the main thread has.

const { liveness, allowedSha256, fillsStark } = workerData as ThreadData;
const port = parentPort!;
let edge: Edge | undefined;
/** True when the thread opens nothing and ignores all commands. */
let isEnding = false;
process.on('uncaughtException', crash);
Object.assign(globalThis, { [CLOSE_FUNCTION]: closeNow });
const signal = new LivenessSignal(liveness);
signal.start();

const webSockets = loadWebSockets(allowedSha256);
const jobs = createCryptoJobs();
const replies = new PendingReplies();
if (fillsStark) await fillStarkTables(setImmediate);
/** The commands that arrived before the edge existed. */
const early: Order[] = [];
const start = await new Promise<ThreadStart>((resolve) => {
  port.on('message', (commands: readonly ThreadCommand[]) => {
    for (const command of commands) {
      if (command.do === 'start') resolve(command.start);
      else if (command.do === 'answer') replies.answered(command);
      else if (edge === undefined) early.push(command);
      else carryOut(command);
    }
  });
  const loaded: ThreadEvent = { on: 'loaded' };
  port.postMessage([loaded]);
});

const clock = clockOfThread(start.clock);
const feedMessages = new RingReader(start.ring);
const events = new Outbox<ThreadEvent>((together) => port.postMessage(together), firstAtOnce(setImmediate));
const counters = createCounters();
const marks = new Map(start.marks);
const settings = withBuffers(start.settings);
const follower = openFollower(settings.config.storage.dir, (reason) =>
  events.send({ on: 'damage', of: 'store', reason }),
);
const receiver = new RemoteReceiver(events, replies);
/** The current catalogue of this thread. The indexes of this catalogue are valid only on this thread. */
let catalogue: Catalogue | undefined;
let epoch = 0;
let troubles = '[]';

/** The feed for the edge and for the store that the edge reads. */
const feed: FeedMessages = {
  priced: (message) => edge!.priced(message),
  recorded(message) {
    follower.recorded(message.asset, message.holding);
    edge!.recorded(message);
  },
  withdrawn: (message) => edge!.withdrawn(message),
  ended: (message) => edge!.ended(message),
  applied: (receivedNs) => edge!.applied(receivedNs),
};

if (usesStark(settings.config)) await fillStarkTables(setImmediate);
const ticker = new Ticker(clock);

edge = await openEdge({
  settings,
  catalogueOf(next) {
    catalogue = new Catalogue(next, catalogue);
    return catalogue;
  },
  at: start.at,
  place: start.place,
  simulation: start.simulation,
  parts: {
    webSockets,
    access: start.access,
    clock,
    marks: {
      read: (_kind, number) => marks.get(number),
      write: (_kind, number, timeNs, onSettled) => {
        replies
          .ask<boolean>((ask) => events.send({ on: 'mark', ask, number, timeNs }))
          .then(onSettled, () => onSettled(false));
      },
    },
    store: follower,
    // This thread makes the signatures, because each thread has its own core.
    pool: {
      here: jobs,
      signEvm: signInTurns((digests, key) => jobs.signEvm(digests, key), setImmediate),
    },
    counters,
  },
  hooks: {
    receiver,
    askPast:
      settings.config.cluster &&
      ((question, tried) => replies.ask((ask) => events.send({ on: 'askPast', ask, question, tried }))),
    onWork: () => signal.worked(),
    onSigned: settings.config.streamLog && ((hashes) => events.send({ on: 'signed', hashes })),
    onPastDamage: (reason) => events.send({ on: 'damage', of: 'past', reason }),
    onDue: (timeNs) => ticker.noLaterThan(timeNs),
    logger: { info: logAs('info'), warn: logAs('warn'), error: logAs('error') },
  },
});
ticker.start([new StallCounter(counters), edge, { tick: tellTroubles }, { tick: () => signal.beat() }]);
signal.leave();
let isListening = false;
for (const command of early) carryOut(command);

function carryOut(command: Order): void {
  if (isEnding) return;
  switch (command.do) {
    case 'feed':
      ticker.runIfDue();
      for (let i = 0; i < command.count; i++) readFeedMessage(feedMessages.read(), epoch, feed, catalogue!);
      break;
    case 'begin':
      beginServing(receivedSnapshot(command.snapshot, catalogue!));
      break;
    case 'load':
      follower.load();
      void listen();
      break;
    case 'reload':
      if (usesStark(command.config)) void fillStarkTables(setImmediate);
      edge!.do(withBuffers(command));
      break;
    case 'handOver':
      edge!.do(command);
      void ticker.stop();
      signal.start();
      break;
    case 'report': {
      const lateNsMax = ticker.takeLateNsMax();
      const report: ThreadReport = { counters, serving: edge!.report(), lateNsMax };
      events.send({ on: 'answer', ask: command.ask, value: report });
      break;
    }
    case 'drain':
      answerWith(command.ask, edge!.drain(), (answer) => events.send({ on: 'answer', ...answer }));
      break;
    case 'exit':
      void exit();
      break;
    default:
      edge!.do(command);
  }
}

function beginServing(snapshot: Snapshot): void {
  ({ epoch } = snapshot);
  follower.behind(snapshot.live);
  edge!.begin(snapshot);
}

/** Listens when all data are present for the first time. */
async function listen(): Promise<void> {
  if (isListening) return;
  isListening = true;
  try {
    await edge!.listen();
    events.send({ on: 'listening' });
  } catch (error) {
    events.send({ on: 'failed', error: (error as Error).message });
    events.flush();
    await exit();
  }
}

/**
 * Closes everything that is open. The thread always calls this function before it ends. If a thread ended with an open uWebSockets.js
 * socket, the whole process would end.
 */
async function closeAll(): Promise<void> {
  isEnding = true;
  await edge?.close();
  // A `close` during the opening of a listener does not close that listener. So the loop repeats `close`.
  for (let tries = 0; openSockets() > 0 && tries < CLOSE_TRIES_MAX; tries++) {
    await endOfTurn();
    await edge?.close();
  }
}

function crash(error: Error): void {
  // The end of the thread causes exceptions, so the handler ignores them.
  if (isEnding) return;
  void closeAll().finally(() => {
    process.off('uncaughtException', crash);
    throw error;
  });
}

/** Closes all sockets. The caller may be in the middle of any code. */
function closeNow(): number {
  void closeAll().finally(() => process.exit());
  return openSockets();
}

async function exit(): Promise<void> {
  await closeAll();
  await ticker.stop();
  port.close();
}

function tellTroubles(): void {
  const now = edge!.troubles();
  const text = JSON.stringify(now);
  if (text === troubles) return;
  troubles = text;
  events.send({ on: 'troubles', troubles: now });
}

/** Returns a log function of this level. The main thread writes the log. */
function logAs(level: LogLevel) {
  return (about: unknown, text?: string) =>
    events.send({
      on: 'log',
      level,
      about: typeof about === 'string' ? {} : about,
      text: text ?? String(about),
    });
}
