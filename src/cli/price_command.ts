import type { Command } from 'commander';
import type { AggregatePrice } from '../client/prices/market_data.js';
import { instantText } from '../model/instant.js';
import { ageRemark } from './age_remark.js';
import { type CommandStreams, EXIT_NOT_VERIFIED, notVerified } from './client_command.js';
import { parseInstant } from './instant_option.js';
import { openPast, type PastCommandOptions, pastFault, withPastOptions } from './past_client.js';
import { LineWriter, ownText, type Shown, shown, writeLine } from './shown_line.js';

interface PriceOptions extends PastCommandOptions {
  readonly at?: bigint;
  readonly json: boolean;
}

/**
 * Adds `tickseal price`. The exit status is 1 if an asset has no price or a check failed. The status is 3 if no check failed but
 * the user named no signer.
 */
export function registerPrice(program: Command, streams: CommandStreams = process): void {
  withPastOptions(
    program
      .command('price')
      .description('print the signed price of assets, verified: the newest, or the one in force at a time'),
    streams,
  )
    .argument('<symbols...>', 'symbols of assets')
    .option(
      '--at <time>',
      'a time such as 2026-11-20T12:00:00Z, 2026-11-20, -7d, or UNIX seconds or nanoseconds (default: now)',
      parseInstant,
    )
    .option('--json', 'print each aggregate as it was signed, for tickseal verify', false)
    .action(async (symbols: string[], options: PriceOptions) => {
      const fail = (problem: Shown) => {
        writeLine(streams.stderr, shown`price: ${problem}`);
        process.exitCode = 1;
      };
      const { at, type: signatureType } = options;
      const client = openPast(options);
      try {
        const prices = await (at === undefined
          ? client.latest(symbols, { signatureType })
          : client.at(symbols, at, { signatureType }));
        const out = new LineWriter(streams.stdout, () => {});
        for (const symbol of new Set(symbols)) {
          const price = prices[symbol];
          if (price === undefined) {
            fail(
              at === undefined
                ? shown`${symbol} has no price`
                : shown`${symbol} had no price at ${instantText(at)}`,
            );
            continue;
          }
          const remark = at === undefined ? ageRemark(price.ageMs) : undefined;
          if (remark !== undefined) writeLine(streams.stderr, shown`price: ${symbol}: ${ownText(remark)}`);
          if (options.json) out.json(price.text);
          else out.write(priceText(price));
          if (price.verdict === 'recovered' && process.exitCode !== 1) process.exitCode = EXIT_NOT_VERIFIED;
        }
      } catch (error) {
        fail(pastFault(error));
      } finally {
        await client.close();
      }
    });
}

function priceText({ symbol, decimal, timestampNs, signer, verdict, quality }: AggregatePrice): Shown {
  const inputs = quality === undefined ? shown`inputs: absent` : shown`${quality.publishers} publishers`;
  const conclusion = verdict === 'verified' ? shown`verified, signed by ${signer}` : notVerified(signer);
  return shown`${symbol} ${decimal}  ${instantText(timestampNs)}  ${inputs}  ${conclusion}`;
}
