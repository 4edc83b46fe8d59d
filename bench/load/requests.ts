import { Agent, get } from 'node:http';
import { get as getTls, Agent as TlsAgent } from 'node:https';
import { Delays, nowMicros } from './delays.js';
import type { RunningJob } from './job_main.js';
import type { RequestsJob } from './jobs.js';

const STEP_MS = 2;
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
  let sent = 0;
  let done = 0;
  let refused = 0;
  const startMicros = nowMicros();
  let made = 0;
  const request = (intended: number) => {
    sent++;
    const failed = () => {
      refused++;
    };
    ask({ host, port, path, headers, agent }, (response) => {
      response.resume();
      response.on('end', () => {
        if (response.statusCode !== 200) return failed();
        done++;
        delays.recordMicros(nowMicros() - intended);
      });
      response.on('error', failed);
    }).on('error', failed);
  };
  setInterval(() => {
    const due = Math.floor(((nowMicros() - startMicros) / 1e6) * requestsPerSecond);
    for (; made < due; made++) request(startMicros + (made / requestsPerSecond) * 1e6);
  }, STEP_MS);
  return {
    take() {
      const report = { frames: 0, bytes: 0, gaps: 0, different: 0, closed: 0, sent, done, refused, lost: 0 };
      sent = 0;
      done = 0;
      refused = 0;
      return { ...report, delays: delays.take() };
    },
  };
}
