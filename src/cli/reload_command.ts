import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { type Command, InvalidArgumentError } from 'commander';
import { z } from 'zod';
import { boundedFetch } from '../client/connect/bounded_fetch.js';
import type { AdminConfig } from '../config/listen_section.js';
import { parseConfig } from '../config/load.js';
import { cannotBeRead } from '../config/unreadable_file.js';
import { ADMIN_PATHS } from '../wire/paths.js';
import { outputOf, ownText, writeLine } from './shown_line.js';

/** The time limit of a reload. The service reads its file, keys and certificates, and verifies them. */
const RELOAD_MS_MAX = 60_000;
const POLL_MS = 100;
/** The time limit of one answer. A service answers nothing while it applies a file with many assets. */
const ANSWER_MS_MAX = 10_000;

/**
 * Adds `reload FILE --pid PID`, which sends `SIGHUP` to a service and waits for its verdict. The command needs no key, because only the
 * service reads them. The exit status is 2 when the service or this command refuses the file, and 1 when no service decides.
 */
export function registerReload(program: Command): void {
  const command = program
    .command('reload')
    .description('make a running service read its configuration file again, and wait until it has')
    .argument('<file>', 'the configuration file, which names the admin listener')
    .requiredOption('--pid <pid>', 'the process of the service, $MAINPID in a unit of systemd', parsePid);
  command.action(async (file: string, { pid }: { readonly pid: number }) => {
    const { out, err } = outputOf(command);
    try {
      const { isOk, messages } = await reloadService(file, pid);
      for (const message of messages) writeLine(err, ownText(isOk ? `warning: ${message}` : message));
      if (isOk) writeLine(out, ownText('the service has read its configuration again'));
      else process.exitCode = 2;
    } catch (error) {
      writeLine(err, ownText((error as Error).message));
      process.exitCode = 1;
    }
  });
}

interface ReloadDecision {
  readonly isOk: boolean;
  readonly messages: readonly string[];
}

/** @throws Error when the process is no service with this admin listener, or does not decide in time */
async function reloadService(file: string, pid: number): Promise<ReloadDecision> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    return { isOk: false, messages: [`${file}: ${cannotBeRead(error)}`] };
  }
  const parsed = parseConfig(text, file);
  if (!parsed.ok) return { isOk: false, messages: parsed.errors };
  const url = lastReloadUrl(parsed.config.admin);
  const before = await requestLastReload(url);
  if (before.pid !== pid)
    throw new Error(`process ${pid} does not answer at ${url}, process ${before.pid} does: nothing was sent`);
  process.kill(pid, 'SIGHUP');
  for (const endMs = performance.now() + RELOAD_MS_MAX; performance.now() < endMs; await pause(POLL_MS)) {
    const now = await requestLastReload(url);
    if (now.pid === pid && now.number > before.number) return { isOk: now.ok, messages: now.messages };
  }
  throw new Error(`process ${pid} has not decided within ${RELOAD_MS_MAX / 1_000} s: see its log`);
}

const lastReload = z.object({
  data: z.object({
    pid: z.int(),
    number: z.int(),
    ok: z.boolean(),
    messages: z.array(z.string()).readonly(),
  }),
});

async function requestLastReload(url: string): Promise<z.output<typeof lastReload>['data']> {
  let body: string;
  try {
    body = await (await boundedFetch({ url, answerMsMax: ANSWER_MS_MAX })).wholeText();
  } catch (error) {
    throw new Error(
      `no service answers at ${url}, the admin listener of the file: ${(error as Error).message}`,
    );
  }
  try {
    return lastReload.parse(JSON.parse(body)).data;
  } catch {
    throw new Error(`${url} answers no verdict: is another program, or another version, there?`);
  }
}

function lastReloadUrl({ host, port }: AdminConfig): string {
  // A listener of all addresses is reached at the address of this machine.
  const reached = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host;
  return `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}${ADMIN_PATHS.lastReload}`;
}

function parsePid(text: string): number {
  if (!/^[1-9]\d{0,9}$/.test(text)) throw new InvalidArgumentError('expected the number of a process');
  return Number(text);
}
