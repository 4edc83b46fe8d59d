import { test } from 'tap';
import type { Secp256k1 } from '../../src/crypto/secp256k1/secp256k1_operations.js';
import type { SystemSecp256k1 } from '../../src/crypto/secp256k1/secp256k1_system.js';
import { logSecp256k1 } from '../../src/service/secp256k1_log.js';

function logOf(implementation: Secp256k1['implementation'], system: SystemSecp256k1): string[] {
  const lines: string[] = [];
  const logger = {
    info: (text: string) => lines.push(`info ${text}`),
    warn: (text: string) => lines.push(`warn ${text}`),
  };
  logSecp256k1(logger as unknown as Parameters<typeof logSecp256k1>[0], { implementation }, system);
  return lines;
}

test('the log names the secp256k1 in use, and why the library of the machine is not', async (t) => {
  const library = 'libsecp256k1.so.1';
  t.same(logOf('system', { library }), [`info signatures use ${library} of this machine`]);
  t.same(logOf('native', {}), ['info signatures use the libsecp256k1 of the npm package']);
  t.same(logOf('native', { problem: `${library} computes a signature wrongly` }), [
    `warn the libsecp256k1 of this machine is not used: ${library} computes a signature wrongly`,
    'info signatures use the libsecp256k1 of the npm package',
  ]);
  t.same(logOf('noble', {}), [
    'warn there is no native secp256k1 for this platform: to sign takes ten times as long',
  ]);
});
