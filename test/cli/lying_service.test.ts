import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { registerExport } from '../../src/cli/export_command.js';
import { registerLog } from '../../src/cli/log_command.js';
import { registerMcp } from '../../src/cli/mcp_command.js';
import { registerPrice } from '../../src/cli/price_command.js';
import { registerSubscribe } from '../../src/cli/subscribe_command.js';
import { registerVerify } from '../../src/cli/verify_command.js';
import { LIES, startLyingService } from '../client/lying_service.js';
import { runCommand } from './run_command.js';

// Commands that read a service that lies: they end soon, with an error that says what is wrong.

const MIB = 1024 ** 2;
const SENT_BYTES_MAX = 128 * MIB;
const MS_MAX = 12_000;
const SIGNER = `0x${'1'.repeat(40)}`;
const KEY = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW';
const POLICY = `log ${KEY}\nquorum none\n`;
const UNCLEAR = /Cannot read|undefined|not a function|not iterable/;

const mcpCall = (name: string, args: object) =>
  `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } })}\n`;

/** The commands. Each returns its output and the status of a failure. */
const COMMANDS: Readonly<Record<string, (url: string, folder: string) => ReturnType<typeof runCommand>>> = {
  price: (url) => runCommand(registerPrice, ['price', 'A1', '--url', url, '--signer', SIGNER]),
  'price --at': (url) =>
    runCommand(registerPrice, [
      'price',
      'A1',
      '--url',
      url,
      '--at',
      '2026-11-20T12:00:00Z',
      '--signer',
      SIGNER,
    ]),
  export: (url, folder) =>
    runCommand(registerExport, [
      ...['export', 'A1', '--url', url, '--from', '2026-11-20T12:00:00Z', '--signer', SIGNER],
      ...['-o', join(folder, 'a.ndjson')],
    ]),
  subscribe: (url) =>
    runCommand(registerSubscribe, [
      'subscribe',
      'A1',
      '--url',
      url,
      '--signer',
      SIGNER,
      '--decode',
      '--count',
      '1',
    ]),
  mcp: (url) =>
    runCommand(registerMcp, ['mcp', '--url', url, '--signer', SIGNER], {
      stdin: [mcpCall('latest', { symbols: ['A1'] })],
    }),
  'log audit': (url, folder) =>
    runCommand(registerLog, [
      ...['log', 'audit', url, '--policy', join(folder, 'policy'), '--folder', join(folder, 'audit')],
      ...['--once', '--every', '0.1'],
    ]),
  'log audit --stream': (url, folder) =>
    runCommand(registerLog, [
      ...['log', 'audit', url, '--policy', join(folder, 'policy'), '--folder', join(folder, 'audit')],
      ...['--once', '--every', '0.1', '--stream'],
    ]),
};

process.env['TICKSEAL_TOKEN'] = 'token-of-a-test';

for (const [name, lie] of Object.entries(LIES))
  test(`commands of a service that lies: ${name}`, async (t: Test) => {
    const folder = t.testdir({ policy: POLICY });
    for (const [command, run] of Object.entries(COMMANDS)) {
      // Lines may be compressed; the time limit of a line ends this lie.
      if (command === 'export' && name === 'gzip without content') continue;
      const service = await startLyingService(t, lie);
      const sinceMs = performance.now();
      const { stdout, stderr, exitCode } = await run(service.url, folder);
      const output = stderr + stdout.join('\n');
      t.ok(exitCode !== 0 || command === 'mcp', `${command}: ${output.slice(0, 300)}`);
      t.notMatch(output, UNCLEAR, `${command}: a clear error`);
      t.ok(output.length < 5_000, `${command}: ${output.length} characters`);
      t.ok(performance.now() - sinceMs < MS_MAX, `${command}: in time`);
      t.ok(service.sentBytes < SENT_BYTES_MAX, `${command}: ${service.sentBytes} bytes were taken`);
    }
  });

test('a file of nested or short lists is refused before it is parsed', async (t) => {
  const folder = t.testdir({});
  for (const text of ['['.repeat(4 * MIB), `[${'[],'.repeat(MIB)}[]]`]) {
    const file = join(folder, 'lists.json');
    writeFileSync(file, text);
    const sinceMs = performance.now();
    const { exitCode } = await runCommand(registerVerify, ['verify', file, '--signer', SIGNER]);
    t.not(exitCode, 0);
    t.ok(performance.now() - sinceMs < 2_000);
  }
});
