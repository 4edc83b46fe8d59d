import { type Command, InvalidArgumentError, Option } from 'commander';

export interface SourcesFlags {
  readonly check: boolean;
  /** True for a process of `tickseal publish --from`, which ends when the publisher is gone. */
  readonly endWithInput?: boolean;
  readonly skipMissing: boolean;
  readonly metrics?: MetricsAddress;
  readonly record?: string;
  readonly replay?: string;
  readonly speed?: number;
}

/** The text of `--metrics` and its parts. */
export interface MetricsAddress {
  readonly text: string;
  readonly host: string;
  readonly port: number;
}

/** Adds the options that `tickseal publish --from` passes on to `tickseal sources`. */
export function withSourcesOptions(command: Command): Command {
  return command
    .option('--record <file>', 'keep all frames and decisions of the sources')
    .addOption(
      new Option('--metrics <host:port>', 'serve metrics of the sources to Prometheus').argParser(
        parseAddress,
      ),
    )
    .option(
      '--skip-missing',
      'go on without pairs and exchanges of the file that do not exist, instead of ending with status 2',
      false,
    );
}

function parseAddress(text: string): MetricsAddress {
  const [, inBrackets, plain, port] = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]\s]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = inBrackets ?? plain;
  if (host === undefined || Number(port) > 65_535)
    throw new InvalidArgumentError('expected a host and a port, such as 127.0.0.1:9091');
  return { text, host, port: Number(port) };
}
