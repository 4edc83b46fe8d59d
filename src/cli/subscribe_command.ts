import { type Command, InvalidArgumentError, Option } from 'commander';
import { NODE } from '../client/connect/node_platform.js';
import { Coverage } from '../client/prices/coverage.js';
import { PayloadVerifier } from '../client/prices/payload_verifier.js';
import { SignedMemory } from '../client/prices/signed_memory.js';
import { Subscriber } from '../client/prices/subscriber.js';
import { writeExactJson } from '../client/verify/exact_json.js';
import { type PayloadReport, verifyPayload } from '../client/verify/verify_payload.js';
import { instantText } from '../model/instant.js';
import { NS_PER_MS } from '../model/time.js';
import { ATTRIBUTE_NAMES } from '../wire/attribute_facts.js';
import { SIGNATURE_TYPES } from '../wire/signatures.js';
import {
  CHANNEL_INTERVALS_MS,
  CHANNELS,
  type Channel,
  DEFAULT_CHANNEL,
  DEFAULT_MESSAGE_TYPE,
  MESSAGE_TYPES,
  type MessageType,
} from '../wire/stream.js';
import {
  type CommandStreams,
  describeDown,
  EXIT_NOT_VERIFIED,
  notVerified,
  SIGNER_OPTION,
  tellClientError,
  withConnectionOptions,
} from './client_command.js';
import { decodedFrame, timeOf } from './decoded_frame.js';
import { type NamingOptions, resolveAssets } from './named_assets.js';
import { parseAttributes } from './option_forms.js';
import { subscribeQuorum } from './quorum_subscription.js';
import { RaisedTaxonomy } from './raised_taxonomy.js';
import { LineWriter, ownText, reasonText, type Shown, shown, writeLine } from './shown_line.js';

interface SubscribeOptions extends NamingOptions {
  readonly channel?: Channel;
  readonly messageType?: MessageType;
  readonly attrs?: readonly string[];
  readonly count?: number;
  readonly decode: boolean;
  readonly quorum?: string;
}

/** A longer silence makes a person think that the command hangs. */
const WAIT_MS = 3_000;

/**
 * Adds `tickseal subscribe`. The exit status is 1 if the connection failed or an asset is unknown. With `--decode`, the status is
 * also 1 if a frame has no signature or fails a check, or if a key has signed two values for one time. The status is 3 if no check failed
 * but the user named no signer.
 * @param waitMs the time without a price after which standard error says what the command waits for
 */
export function registerSubscribe(
  program: Command,
  streams: CommandStreams = process,
  waitMs = WAIT_MS,
): void {
  withConnectionOptions(
    program.command('subscribe').description('print a stream of prices, one frame a line'),
    streams,
    false,
  )
    .argument('<assets...>', 'symbols, or streaming IDs such as #700')
    .addOption(
      new Option(
        '--quorum <file>',
        'print the median prices on which the operators of FILE agree; assets are symbols',
      ).conflicts(['url', 'messageType', 'attrs', 'decode', 'signer']),
    )
    .addOption(
      new Option('--channel <channel>', `delivery rate (the service's default: ${DEFAULT_CHANNEL})`).choices(
        CHANNELS,
      ),
    )
    .addOption(
      new Option(
        '--message-type <type>',
        `frame type (the service's default: ${DEFAULT_MESSAGE_TYPE})`,
      ).choices(MESSAGE_TYPES),
    )
    .addOption(
      new Option(
        '--type <type>',
        'signature type of the assets that symbols name (default: evm for a symbol that has both)',
      ).choices(SIGNATURE_TYPES),
    )
    .option(
      '--attrs <names>',
      `further attributes of each asset: ${ATTRIBUTE_NAMES.join(', ')}`,
      parseAttributes,
    )
    .option('--count <n>', 'end after this many frames', parseCount)
    .option(
      '--decode',
      'ask for signed_ecdsa payloads, check each, and print what it says, its signer and the verdict; --signer implies it',
      false,
    )
    .option(...SIGNER_OPTION)
    .action(async (assets: string[], given: SubscribeOptions, command: Command) => {
      if (given.quorum !== undefined) {
        const quorumExit = await subscribeQuorum(
          assets,
          { ...given, quorum: given.quorum },
          streams,
          process.env,
        );
        if (quorumExit !== 0) process.exitCode = quorumExit;
        return;
      }
      if (given.token === undefined) command.error("error: required option '--token <token>' not specified");
      const decode = given.decode || given.signer !== undefined;
      const options = {
        ...given,
        decode,
        ...(decode && { messageType: given.messageType ?? 'signed_ecdsa' }),
      };
      const exitCode = await subscribeAssets(assets, options, streams, waitMs);
      if (exitCode !== 0) process.exitCode = exitCode;
    });
}

/** @returns the exit status. */
async function subscribeAssets(
  assets: readonly string[],
  options: SubscribeOptions,
  streams: CommandStreams,
  waitMs: number,
): Promise<number> {
  let exitCode = 0;
  const warn = (problem: Shown) => writeLine(streams.stderr, shown`subscribe: ${problem}`);
  const fail = (problem: Shown) => {
    warn(problem);
    exitCode = 1;
  };
  if (options.decode && options.messageType !== 'signed_ecdsa') {
    fail(shown`frames of --message-type ${options.messageType ?? ''} have no signature to check`);
    return exitCode;
  }
  let wasUp = false;
  const patience = setTimeout(
    () =>
      warn(
        shown`${options.url}: ${ownText(wasUp ? 'connected, and no price yet' : 'no answer yet')}; waiting`,
      ),
    waitMs,
  );
  const resolved = await resolveAssets(assets, options);
  if (!('ids' in resolved)) {
    clearTimeout(patience);
    fail(resolved);
    return exitCode;
  }
  let frames = 0;
  let isClosing = false;
  let end: () => void = () => {};
  const ended = new Promise<void>((resolve) => {
    end = () => {
      isClosing = true;
      resolve();
    };
  });
  const out = new LineWriter(streams.stdout, end);
  const intervalMs = CHANNEL_INTERVALS_MS[options.channel ?? DEFAULT_CHANNEL] ?? 0;
  const coverage = new Coverage(BigInt(intervalMs) * NS_PER_MS, (fromNs, toNs) =>
    warn(shown`gap: prices from ${instantText(fromNs)} to ${instantText(toNs)} may be missing`),
  );
  const signers = options.signer ?? 'unchecked';
  const memory = new SignedMemory({
    verifier: new PayloadVerifier(signers, NODE, false),
    steadyMs: NODE.steadyMs,
    onError(error) {
      tellClientError(streams, shown`subscribe`, error);
      exitCode = 1;
      end();
    },
  });
  const received = new RaisedTaxonomy(resolved, {
    read: () => resolveAssets(assets, options),
    onFrame(frame, { ids, taxonomyId }) {
      clearTimeout(patience);
      if (isClosing) return;
      let report: PayloadReport | undefined;
      if (options.decode && frame.type === 'signed_ecdsa') {
        const hex = frame.payload;
        report = verifyPayload(hex, { signers, taxonomyId });
        const symbols = { symbolOf: (id: number) => assets[ids.indexOf(id)] };
        if (report.verdict !== 'failed')
          memory.addPayload({ report, hex }, { url: options.url, symbols, onFailed() {} });
        // The second of two contradicting payloads is not printed.
        if (isClosing) return;
      }
      frames += 1;
      const timeNs = timeOf(frame);
      if (timeNs !== undefined) coverage.seen(0, timeNs);
      out.json(report === undefined ? frame.text : writeExactJson(decodedFrame(report)));
      if (options.decode && report === undefined) {
        if (exitCode !== 1) warn(shown`frames come without a signature to check`);
        exitCode = 1;
      } else if (report?.verdict === 'failed') {
        exitCode = 1;
      } else if (report?.verdict === 'recovered' && exitCode === 0) {
        exitCode = EXIT_NOT_VERIFIED;
        warn(notVerified(report.signer));
      }
      if (frames === options.count) end();
    },
    async move(former, present) {
      await subscriber.unsubscribe(former);
      const result = await subscriber.subscribe(present);
      if (result.ok || isClosing) return;
      fail(reasonText(result.error));
      end();
    },
    onRead: warn,
    onDropped: () => coverage.lost(0),
  });
  const subscriber = new Subscriber({
    url: options.url,
    token: options.token,
    channel: options.channel,
    messageType: options.messageType,
    addtlAttrs: options.attrs,
    openSocket: NODE.openSocket,
    onFrame: (frame) => received.receive(frame),
    onTaxonomyChange: (former, returned) => warn(describeChange(former, returned)),
    onError: (error) => fail(reasonText(error)),
    onUp() {
      wasUp = true;
    },
    onDown(down) {
      if (isClosing) return;
      coverage.lost(0);
      warn(describeDown(options.url, down));
      // After the first connection, the client reconnects by itself.
      if (wasUp && !down.final) return;
      exitCode = 1;
      end();
    },
  });
  const stop = () => end();
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
  void subscriber.subscribe(resolved.ids).then((result) => {
    if (result.ok || !wasUp) return;
    fail(reasonText(result.error));
    end();
  });
  await ended;
  clearTimeout(patience);
  process.off('SIGINT', stop);
  process.off('SIGTERM', stop);
  await subscriber.close();
  return exitCode;
}

/**
 * Describes a changed configuration of the service, in one sentence.
 * @param former the former IDs of subscribed assets that ended
 * @param returned the present IDs of assets that had ended and are subscribed again
 */
function describeChange(former: readonly number[], returned: readonly number[]): Shown {
  const changes = [
    ...(former.length === 0 ? [] : [`the service has no asset ${idNames(former)} any more`]),
    ...(returned.length === 0 ? [] : [`asset ${idNames(returned)} is back and subscribed again`]),
  ];
  return ownText(changes.join('; ') || 'from the next frame on, IDs may mean other assets');
}

function idNames(ids: readonly number[]): string {
  return ids.map((id) => `#${id}`).join(', ');
}

function parseCount(text: string): number {
  const count = Number(text);
  if (!Number.isSafeInteger(count) || count < 1) throw new InvalidArgumentError('expected a number above 0');
  return count;
}
