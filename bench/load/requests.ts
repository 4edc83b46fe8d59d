import { Agent, type ClientRequest, get } from 'node:http';
import { get as getTls, Agent as TlsAgent } from 'node:https';
import { Delays, nowMicros } from './delays.js';
import type { RunningJob } from './job_main.js';
import { NO_COUNTS, type RequestsJob, WAIT_MICROS_MAX } from './jobs.js';
import { Schedule, STEP_MS } from './schedule.js';

const SOCKETS_MAX = 64;

/**
 * Sends requests at a constant rate. A delay is the time from the intended sending time of a request until its answer was read.
 */
export async function openRequests({ target, path, requestsPerSecond }: RequestsJob): Promise<RunningJob> {
  const { host, port, isTls } = target.address;
  const options = { keepAlive: true, maxSockets: SOCKETS_MAX };
  const agent = isTls ? new TlsAgent(options) : new Agent(options);
  const ask = isTls ? getTls : get;
  const headers = { Authorization: `Basic ${target.token}` };
  const delays = new Delays();
  let counts = { ...NO_COUNTS };
  /** The intended time of the first request that counts. */
  let sinceMicros = Number.POSITIVE_INFINITY;
  let isSending = true;
  /** The requests without an answer, with their intended times, in order. */
  const waiting = new Map<ClientRequest, number>();
  const end = (request: ClientRequest, outcome: 'done' | 'refused' | 'lost') => {
    const intended = waiting.get(request);
    waiting.delete(request);
    if (intended === undefined || intended < sinceMicros) return;
    counts[outcome]++;
    if (outcome !== 'refused') delays.recordMicros(nowMicros() - intended);
  };
  const send = (intended: number, isAgain = false) => {
    if (intended >= sinceMicros && !isAgain) counts.sent++;
    const request = ask({ host, port, path, headers, agent });
    waiting.set(request, intended);
    const failed = () => end(request, 'refused');
    request.on('error', (error: NodeJS.ErrnoException) => {
      // The service may end an idle connection while a request is on its way; HTTP clients send such a request again.
      const isAgain = waiting.has(request) && request.reusedSocket && error.code === 'ECONNRESET';
      if (!isAgain) return failed();
      waiting.delete(request);
      send(intended, true);
    });
    request.on('response', (response) => {
      response.resume();
      response.on('end', () => end(request, response.statusCode === 200 ? 'done' : 'refused'));
      response.on('error', failed);
    });
  };
  const schedule = new Schedule(nowMicros(), requestsPerSecond);
  setInterval(() => {
    const micros = nowMicros();
    for (let intended: number | undefined; isSending; send(intended)) {
      intended = schedule.next(micros);
      if (intended === undefined) break;
    }
    for (const [request, intended] of waiting) {
      if (micros - intended <= WAIT_MICROS_MAX) break;
      end(request, 'lost');
      request.destroy();
    }
  }, STEP_MS);
  return {
    begin() {
      sinceMicros = nowMicros();
      counts = { ...NO_COUNTS };
    },
    take() {
      const taken = counts;
      counts = { ...NO_COUNTS };
      return { ...taken, delays: delays.take() };
    },
    async finish() {
      isSending = false;
      while (waiting.size > 0) await new Promise((resolve) => setTimeout(resolve, STEP_MS));
    },
  };
}
