import { type Test, test } from 'tap';
import { EquivocationError, ProtocolError, type TicksealError } from '../../../src/client/connect/errors.js';
import { NODE } from '../../../src/client/connect/node_platform.js';
import { ClientContext, type ClientOptions } from '../../../src/client/prices/client_context.js';
import { LogLookup } from '../../../src/client/prices/log_lookup.js';
import { AggregatePrice } from '../../../src/client/prices/market_data.js';
import { parseEvidence } from '../../../src/client/verify/evidence_file.js';
import { verifyEvidence } from '../../../src/client/verify/log_evidence.js';
import { verifyByNode } from '../../../src/tlog/ed25519_key.js';
import { parsePolicy } from '../../../src/tlog/log_policy.js';
import { AuditedLog, SERVICE_ADDRESS, signedPrice, startOf } from '../../publiclog/witness/audited_log.js';
import { policyText } from '../../tlog/witnessed_log.js';

// Tests of the option `log` with services whose prices are signed while their logs say nothing.

const URL_OF_SERVICE = 'http://prices.example.com';
const POLICY = policyText('group G 2 W1 W2 W3\nquorum G');
const PROMISED_S = 21;
const SLACK_S = 15;

/** Opens a lookup with a fake clock, which a pause moves on. */
function open(t: Test, log: AuditedLog, policy = POLICY) {
  const clock = { ms: 0 };
  const served = { log, onPause: () => {} };
  const answer = async (path: string) => {
    if (path === '/v1/signers') return Buffer.from(`{"data":[],"log":{"max_delay":${PROMISED_S}}}`);
    return path.startsWith('/tlog/')
      ? served.log.read(path.slice('/tlog/'.length), Number.POSITIVE_INFINITY)
      : undefined;
  };
  const options: ClientOptions = {
    urls: URL_OF_SERVICE,
    signers: [SERVICE_ADDRESS],
    fetch: async (url) => {
      const bytes = await answer(url.slice(URL_OF_SERVICE.length));
      return new Response(bytes ?? '{"error":"none"}', { status: bytes === undefined ? 404 : 200 }) as never;
    },
  };
  const context = new ClientContext(options, {
    ...NODE,
    steadyMs: () => clock.ms,
    schedule(run, delayMs) {
      const timer = setImmediate(() => {
        clock.ms += delayMs;
        served.onPause();
        run();
      });
      return () => clearImmediate(timer);
    },
  });
  const errors: TicksealError[] = [];
  let found = 0;
  context.listeners.on('error', (error) => errors.push(error));
  context.listeners.on('logged', () => {
    found += 1;
  });
  const lookup = new LogLookup(policy, context);
  t.teardown(() => lookup.close());
  const lookUp = (text: string, timestampNs: bigint) => {
    const fields = {
      symbol: 'BTCUSD',
      price: 1n,
      timestampNs,
      signer: SERVICE_ADDRESS,
      verdict: 'verified' as const,
      attributes: {},
      url: URL_OF_SERVICE,
    };
    return lookup.lookUp(new AggregatePrice(fields, () => 0, text, [], undefined), undefined);
  };
  return { clock, served, errors, found: () => found, lookUp };
}

test('a price that no checkpoint covers is an error after promise and slack, and an honest one is not', async (t) => {
  const log = new AuditedLog().grow(5);
  const { clock, errors, found, served, lookUp } = open(t, log);
  const timeNs = startOf(5) + 5n;
  await lookUp(signedPrice(timeNs, 1n), timeNs);
  t.equal(clock.ms, (PROMISED_S + SLACK_S) * 1_000);
  t.match(errors.splice(0), [ProtocolError]);

  const startMs = clock.ms;
  served.onPause = () => {
    if (clock.ms - startMs > PROMISED_S * 1_000) log.grow(1);
  };
  const later = new AuditedLog().grow(6).prices[5]!;
  await lookUp(later, timeNs);
  t.same(errors, []);
  t.equal(found(), 1);
});

test('a smaller checkpoint is said once, and a fork is proven', async (t) => {
  const log = new AuditedLog().grow(40);
  const { served, errors, lookUp } = open(t, log);
  await lookUp(log.prices[7]!, startOf(7) + 5n);
  t.same(errors, []);
  const timeNs = startOf(45);
  served.log = new AuditedLog().grow(15);
  await lookUp(signedPrice(timeNs, 1n), timeNs);
  t.match(errors.splice(0), [
    { message: /: the log serves a checkpoint of 15 entries, which is smaller than before: 40$/ },
    {
      message:
        /36 s after it came, with 21 s promised: the log signs a checkpoint of 15 entries, and withholds files: tile\S+ has/,
    },
  ]);

  const fork = new AuditedLog().grow(39);
  fork.append([]);
  served.log = fork;
  await lookUp(signedPrice(timeNs, 1n), timeNs);
  t.match(errors, [EquivocationError]);
  const evidence = parseEvidence((errors[0] as EquivocationError).evidence);
  const expected = { policy: parsePolicy(POLICY), signers: [SERVICE_ADDRESS], verifyEd25519: verifyByNode };
  t.match(await verifyEvidence(evidence, expected), { verdict: 'verified', statement: /signed two pasts/ });
});
