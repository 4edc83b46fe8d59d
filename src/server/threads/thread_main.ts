import { parentPort, workerData } from 'node:worker_threads';
import type { Connection, ConnectionEvents, UpgradeDecision } from '../connections/connection.js';
import type { RestResponse } from '../http/messages.js';
import { createApp, listen, type OpenPort } from '../uws/app.js';
import { cloneable, serveRest } from '../uws/http.js';
import { loadWebSockets } from '../uws/native.js';
import { openSpareCork } from '../uws/spare_cork.js';
import { WebSockets } from '../uws/websockets.js';
import { EventOutbox } from './event_outbox.js';
import { FrameReader } from './frame_ring.js';
import { CLOSE_FUNCTION, type ThreadCommand, type ThreadStart } from './thread_messages.js';
import { LivenessSignal } from './watchdog.js';

// Serves sockets for the main thread, which decides everything: tells it what happens on them, and does what it says.

const start = workerData as ThreadStart;
const ws = loadWebSockets(start.allowedSha256);
const app = createApp(ws, start.listen);
const closers: (() => void)[] = [() => app.close()];
// A thread that ends while a uWebSockets.js app of it lives takes the process with it.
process.on('uncaughtExceptionMonitor', closeApps);
Object.assign(globalThis, { [CLOSE_FUNCTION]: closeApps });
const spareCork = await openSpareCork(ws);
closers.push(spareCork.close);

const liveness = new LivenessSignal(start.liveness);
liveness.start();
const frames = new FrameReader(start.ring);
const outbox = new EventOutbox(parentPort!, start.outbox, liveness);
const sockets = new Map<number, ServedConnection>();
const upgrades = new Map<number, (decision: UpgradeDecision) => void>();
const requests = new Map<number, (response: RestResponse) => void>();
let requestsSeen = 0;
let listening: OpenPort | undefined;

/** One WebSocket, which the main thread knows by its number. */
class ServedConnection implements ConnectionEvents {
  /** The main thread has been told that it lags, and not yet that it no longer does. */
  #lags = false;
  /** The main thread decided its commands before it knew of the lag. */
  #unheeded = false;

  constructor(
    readonly id: number,
    readonly socket: Connection,
  ) {}

  join(topic: number, sequence: number): void {
    // The main thread will have it leave when it hears of the lag.
    if (!this.#unheeded) this.socket.join(topic, sequence);
  }

  acknowledgeLag(): void {
    this.#unheeded = false;
  }

  text(text: string): void {
    outbox.post({ on: 'text', socket: this.id, text }, text.length);
  }

  oversize(messageBytes: number): void {
    outbox.post({ on: 'oversize', socket: this.id, messageBytes });
  }

  lagged(sequence: number): void {
    this.#lags = true;
    this.#unheeded = true;
    outbox.post({ on: 'lagged', socket: this.id, sequence });
  }

  drained(bufferedBytes: number): void {
    if (!this.#lags) return;
    this.#lags = bufferedBytes > 0;
    outbox.post({ on: 'drained', socket: this.id, bufferedBytes });
  }

  dropped(): void {
    this.#lags = true;
    outbox.post({ on: 'dropped', socket: this.id });
  }

  silent(): void {
    outbox.post({ on: 'silent', socket: this.id });
  }

  heard(): void {
    outbox.post({ on: 'heard', socket: this.id });
  }

  closed(): void {
    sockets.delete(this.id);
    outbox.post({ on: 'closed', socket: this.id });
  }
}

const webSockets = new WebSockets(
  app,
  start.paths,
  ({ path }, content, answer) => {
    const request = requestsSeen++;
    upgrades.set(request, answer);
    outbox.post({ on: 'upgrade', request, path, content: cloneable(content) });
  },
  spareCork.act,
);
serveRest(app, (content) => {
  const request = requestsSeen++;
  outbox.post({ on: 'request', request, content: cloneable(content) }, content.body?.length);
  return new Promise((resolve) => requests.set(request, resolve));
});

parentPort!.on('message', (commands: readonly ThreadCommand[]) => {
  for (const command of commands) carryOut(command);
});
listen(ws, app, start.listen).then(
  (opened) => {
    listening = opened;
    outbox.post({ on: 'listening' });
  },
  (error: Error) => {
    outbox.post({ on: 'failed', error: error.message });
    outbox.send();
    closeApps();
    parentPort!.close();
  },
);

function carryOut(command: ThreadCommand): void {
  switch (command.do) {
    case 'publish':
      for (let i = 0; i < command.count; i++) {
        const { topic, sequence, bytes } = frames.read();
        webSockets.publish(topic, bytes, sequence);
      }
      break;
    case 'send':
      sockets.get(command.socket)?.socket.send(command.text);
      break;
    case 'join':
      sockets.get(command.socket)?.join(command.topic, command.sequence);
      break;
    case 'leave':
      sockets.get(command.socket)?.socket.leave(command.topic);
      break;
    case 'acknowledgeLag':
      sockets.get(command.socket)?.acknowledgeLag();
      break;
    case 'close':
      sockets.get(command.socket)?.socket.close(command.code, command.reason);
      break;
    case 'respond':
      respond(command.request, command.response);
      break;
    case 'accept':
      accept(command.request, command.socket);
      break;
    case 'fence':
      outbox.post({ on: 'fence' });
      break;
    case 'setAccepting':
      listening?.setAccepting(command.accepting);
      break;
    case 'exit':
      closeApps();
      parentPort!.close();
  }
}

function closeApps(): void {
  for (const close of closers.splice(0)) close();
}

function respond(request: number, response: RestResponse): void {
  const answer = upgrades.get(request) ?? requests.get(request)!;
  upgrades.delete(request);
  requests.delete(request);
  answer(response);
}

function accept(request: number, id: number): void {
  const answer = upgrades.get(request)!;
  upgrades.delete(request);
  answer((socket) => {
    const served = new ServedConnection(id, socket);
    sockets.set(id, served);
    return served;
  });
  // The client may have gone while the main thread decided.
  if (!sockets.has(id)) outbox.post({ on: 'closed', socket: id });
}
