import { Agent, type ClientRequest, get } from 'node:http';
import { get as getTls, Agent as TlsAgent } from 'node:https';
import { pause } from '../../scripts/load/wait.js';
import { nowMicros } from './delays.js';
import type { RequestsJob, RunningJob } from './jobs.js';
import { PacedEvents, STEP_MS, WAIT_MICROS_MAX } from './paced_events.js';

const SOCKETS_MAX = 64;

/** Sends requests at a constant rate. A delay ends when the answer was read. */
export async function openRequests({ target, path, requestsPerSecond }: RequestsJob): Promise<RunningJob> {
  const { host, port, isTls } = target.address;
  const options = { keepAlive: true, maxSockets: SOCKETS_MAX };
  const agent = isTls ? new TlsAgent(options) : new Agent(options);
  const ask = isTls ? getTls : get;
  const headers = { Authorization: `Basic ${target.token}` };
  const events = new PacedEvents(requestsPerSecond);
  let isSending = true;
  /** The requests without an answer, with their intended times, in order. */
  const waiting = new Map<ClientRequest, number>();
  const end = (request: ClientRequest, outcome: 'done' | 'refused' | 'lost') => {
    const intended = waiting.get(request);
    waiting.delete(request);
    if (intended !== undefined) events.count(outcome, intended);
  };
  const send = (intended: number) => {
    const request = ask({ host, port, path, headers, agent });
    waiting.set(request, intended);
    const failed = () => end(request, 'refused');
    request.on('error', (error: NodeJS.ErrnoException) => {
      // The service may end an idle connection while a request is on its way; HTTP clients send such a request again.
      const isAgain = waiting.has(request) && request.reusedSocket && error.code === 'ECONNRESET';
      if (!isAgain) return failed();
      waiting.delete(request);
      send(intended);
    });
    request.on('response', (response) => {
      response.resume();
      response.on('end', () => end(request, response.statusCode === 200 ? 'done' : 'refused'));
      response.on('error', failed);
    });
  };
  setInterval(() => {
    const micros = nowMicros();
    while (isSending) {
      const intended = events.next(micros);
      if (intended === undefined) break;
      events.count('sent', intended);
      send(intended);
    }
    for (const [request, intended] of waiting) {
      if (micros - intended <= WAIT_MICROS_MAX) break;
      end(request, 'lost');
      request.destroy();
    }
  }, STEP_MS);
  return {
    begin: () => events.begin(),
    take: () => events.take(),
    async finish() {
      isSending = false;
      while (waiting.size > 0) await pause(STEP_MS);
    },
  };
}
