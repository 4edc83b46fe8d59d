import { createInterface } from 'node:readline';
import { type Command, InvalidArgumentError } from 'commander';
import type { CommandStreams } from './client_command.js';
import type { HostAsset } from './host_config.js';
import type { HostFiles } from './host_files.js';
import { type NamedPublisher, parseOracleId, parsePublisher } from './option_forms.js';
import { parsePort } from './port_option.js';
import { errorText, ownText, writeLine } from './shown_line.js';

interface InitOptions {
  readonly publisher?: readonly NamedPublisher[];
  readonly sources: boolean;
  readonly assets?: readonly HostAsset[];
  readonly publicUrl?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly host?: string;
  readonly port?: number;
  readonly data: string;
  readonly adminHost: string;
  readonly adminPort: number;
  readonly oracleId: string;
}

/** The options that a terminal is asked for, in this order, when none of them decides where prices come from. */
const ASKED = ['publisher', 'assets', 'publicUrl', 'tlsCert', 'tlsKey'];

/**
 * Adds `tickseal init`. The exit status is 2 if the options make no valid configuration, and 1 if the files cannot be written.
 */
export function registerInit(program: Command, streams: CommandStreams = process): void {
  program
    .command('init')
    .description(
      'make the files of a service on this host: configuration, keys, tokens, systemd units; asks on a terminal',
    )
    .argument('<dir>', 'the folder to make')
    .option(
      '--publisher <keys>',
      'the addresses or Stark public keys of publishers, separated by commas',
      (text, before?: readonly NamedPublisher[]) => [
        ...(before ?? []),
        ...text.split(',').map(parsePublisher),
      ],
    )
    .option('--sources', 'without other publishers: publish prices of real markets from this host', false)
    .option(
      '--assets <symbols>',
      'the assets, such as BTCUSD,AAPL=us_equities with the name of a calendar; with --sources all that scripts/deploy/sources.yaml has, unless given',
      parseAssets,
    )
    .option('--public-url <url>', 'the address for readers and publishers, such as wss://prices.example.com')
    .option('--tls-cert <file>', 'the full chain of the certificate; without one, readers come over a proxy')
    .option('--tls-key <file>', 'the key of the certificate')
    .option('--data <folder>', 'the data folder; relative paths start at the folder to make', 'data')
    .option('--host <host>', 'the host to listen on; 127.0.0.1, or 0.0.0.0 with a certificate, unless given')
    .option(
      '--port <port>',
      'the port for readers and publishers; 8080, or 8443 with a certificate',
      parsePort,
    )
    .option('--admin-host <host>', 'the host of the admin listener, which asks for no token', '127.0.0.1')
    .option('--admin-port <port>', 'the port of the admin listener', parsePort, 9090)
    .option('--oracle-id <id>', 'the name of the service in Stark prices, for ever', parseOracleId, 'servc')
    .action(async (dir: string, _: unknown, command: Command) => {
      try {
        await initFolder(dir, command, streams);
      } catch (error) {
        writeLine(streams.stderr, errorText(error));
        process.exitCode ||= 1;
      }
    });
}

async function initFolder(dir: string, command: Command, streams: CommandStreams): Promise<void> {
  const given = command.opts<InitOptions>();
  const isDecided = given.sources || given.publisher !== undefined;
  const isTerminal = (streams.stdin as { isTTY?: boolean }).isTTY === true;
  if (!isDecided && !isTerminal)
    throw new Error('name the publishers with --publisher, or publish prices of real markets with --sources');
  if (!isDecided) await askForOptions(command, streams);
  const { publisher = [], assets = [], publicUrl, tlsCert, tlsKey, ...options } = command.opts<InitOptions>();
  if (given.sources && publisher.length > 0)
    throw new Error('--sources is a publisher on this host, and --publisher names others: give one of them');
  if (publisher.length > 0 && assets.length === 0)
    throw new Error('name the assets of the publishers with --assets');
  if ((tlsCert === undefined) !== (tlsKey === undefined))
    throw new Error('--tls-cert and --tls-key belong together');
  const tls = tlsCert && tlsKey ? { cert_file: tlsCert, key_file: tlsKey } : undefined;
  const { host = tls ? '0.0.0.0' : '127.0.0.1', port = tls ? 8443 : 8080 } = options;
  const { InvalidPlan, writeHostFiles } = await import('./host_files.js');
  try {
    const plan = {
      ...options,
      dataDir: options.data,
      dir,
      publishers: publisher,
      assets,
      publicUrl,
      tls,
      host,
      port,
    };
    const scheme = tls ? 'wss' : 'ws';
    const url = publicUrl ?? `${scheme}://${host === '0.0.0.0' ? '127.0.0.1' : host}:${port}`;
    writeLine(streams.stdout, ownText(nextSteps(writeHostFiles(plan), url)));
  } catch (error) {
    if (!(error instanceof InvalidPlan)) throw error;
    writeLine(streams.stderr, ownText(error.message));
    process.exitCode = 2;
  }
}

/** Asks for options on a terminal, each until its answer is valid. An empty answer gives no value. */
async function askForOptions(command: Command, { stdin, stderr }: CommandStreams): Promise<void> {
  const lines = createInterface({ input: stdin });
  const answers = lines[Symbol.asyncIterator]();
  try {
    for (const option of command.options.filter((one) => ASKED.includes(one.attributeName()))) {
      const name = option.attributeName();
      if (name === 'tlsKey' && command.opts()['tlsCert'] === undefined) continue;
      while (command.opts()[name] === undefined) {
        writeLine(
          stderr,
          ownText(`${option.description}${name === 'publisher' ? '; none for --sources' : ''}?`),
        );
        const { value = '', done } = await answers.next();
        if (done) throw new Error('the questions were not answered, so nothing was written');
        const text = value.trim();
        if (text === '') break;
        try {
          command.setOptionValue(name, option.parseArg?.(text, undefined) ?? text);
        } catch (error) {
          if (!(error instanceof InvalidArgumentError)) throw error;
          writeLine(stderr, errorText(error));
        }
      }
    }
  } finally {
    lines.close();
  }
}

function nextSteps({ dir, dataDir, user, units, assets, signers }: HostFiles, url: string): string {
  const [, sources] = units;
  const start =
    sources === undefined
      ? ''
      : `
  TICKSEAL_TOKEN=$(cat ${dir}/tokens/sources) tickseal publish --from ${dir}/sources.yaml --key ${dir}/keys/publisher.hex`;
  const owner =
    user === 'tickseal'
      ? `
  useradd --system --home-dir ${dir} --shell /usr/sbin/nologin tickseal; chown -R tickseal: ${dir} ${dataDir}`
      : '';
  return `made in ${dir}: tickseal.yaml, keys, tokens, ${units.map((name) => `${name}.service`).join(', ')}
signs as: ${signers.join(', ')}
to try it:
  tickseal serve --config ${dir}/tickseal.yaml${start}
  TICKSEAL_TOKEN=$(cat ${dir}/tokens/reader) tickseal price ${assets[0]!.symbol} --signer ${signers[0]} --url ${url.replace(/^ws/, 'http')}
to run it, as root:${owner}
  install -m 0644 ${dir}/*.service /etc/systemd/system/ && systemctl daemon-reload && systemctl enable --now ${units.join(' ')}`;
}

function parseAssets(text: string): readonly HostAsset[] {
  return text.split(',').map((one) => {
    const [, symbol, calendar = 'none'] = /^\s*([^=\s]+)(?:=(\w+))?\s*$/.exec(one) ?? [];
    if (symbol === undefined)
      throw new InvalidArgumentError(`expected symbols such as BTCUSD,AAPL=us_equities, and not "${one}"`);
    return { symbol, calendar };
  });
}
