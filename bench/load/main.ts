import { writeFileSync } from 'node:fs';
import { findLimit } from './find_limit.js';
import { brokenBounds, HEAD, rowOf, summaryOf } from './load_report.js';
import { type LoadAmounts, type LoadResult, runLoad } from './load_run.js';
import { type LoadOptions, loadCommand, parseLoadOptions } from './options.js';

// Loads a running service, measures the figures that its clients observe, and checks the figures against bounds. bench/README.md
// describes the options.

const COLUMN = 9;

/** The result of a load with some amounts, and a sentence for each broken bound. */
interface Attempt {
  readonly result: LoadResult;
  readonly broken: readonly string[];
}

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  if (args.length === 0 || args.includes('--help')) {
    print(loadCommand().helpInformation());
    return args.length === 0 ? 2 : 0;
  }
  let options: LoadOptions;
  try {
    options = parseLoadOptions(args);
  } catch (error) {
    console.error((error as Error).message);
    return 2;
  }
  try {
    return options.findLimit === undefined
      ? await measure(options)
      : await search(options, options.findLimit);
  } catch (error) {
    console.error((error as Error).message);
    return 1;
  }
}

async function measure(options: LoadOptions): Promise<number> {
  const attempt = await run(options, options);
  write(options, attempt, {});
  return attempt.broken.length === 0 ? 0 : 1;
}

async function search(options: LoadOptions, what: keyof LoadAmounts): Promise<number> {
  let last: Attempt | undefined;
  const knee = await findLimit(options[what], async (amount) => {
    print(`\n--${what} ${amount}`);
    try {
      const attempt = await run(options, { ...options, [what]: amount });
      if (last === undefined || attempt.broken.length === 0) last = attempt;
      return attempt.broken.length === 0;
    } catch (error) {
      // A service that refuses the larger load, for example a connection above its limit, does not hold it.
      if (last === undefined) throw error;
      print(`broken: ${(error as Error).message}`);
      return false;
    }
  });
  print(
    knee.holds === undefined
      ? `\nThe first amount, --${what} ${knee.breaks}, breaks a bound.`
      : knee.breaks === undefined
        ? `\nNo bound broke up to --${what} ${knee.holds}.`
        : `\nThe knee: all bounds hold with --${what} ${knee.holds}, and not with --${what} ${knee.breaks}.`,
  );
  write(options, last!, { knee: { what, ...knee } });
  return knee.holds === undefined ? 1 : 0;
}

async function run(options: LoadOptions, amounts: LoadAmounts): Promise<Attempt> {
  print(lineOf(HEAD));
  const result = await runLoad(options, amounts, (figures) => print(lineOf(rowOf(figures))));
  for (const line of summaryOf(result)) print(line);
  const broken = brokenBounds(result, options);
  for (const line of broken) print(`broken: ${line}`);
  return { result, broken };
}

function write({ json, url }: LoadOptions, { result, broken }: Attempt, more: object): void {
  if (json !== undefined)
    writeFileSync(json, `${JSON.stringify({ url: url.href, ...more, broken, ...result }, null, 2)}\n`);
}

function lineOf(cells: readonly string[]): string {
  return cells.map((cell) => cell.padStart(COLUMN)).join('');
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
