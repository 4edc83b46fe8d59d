import type { Logger } from 'pino';
import type { Secp256k1 } from '../crypto/secp256k1/secp256k1_operations.js';
import type { SystemSecp256k1 } from '../crypto/secp256k1/secp256k1_system.js';

/** Logs which implementation of secp256k1 is in use. If a library was found or named but is not used, also logs the reason. */
export function logSecp256k1(
  logger: Pick<Logger, 'info' | 'warn'>,
  { implementation }: Pick<Secp256k1, 'implementation'>,
  { library, problem }: SystemSecp256k1,
): void {
  if (problem !== undefined) logger.warn(`the libsecp256k1 of this machine is not used: ${problem}`);
  if (implementation === 'noble')
    logger.warn('there is no native secp256k1 for this platform: to sign takes ten times as long');
  else if (implementation === 'system') logger.info(`signatures use ${library} of this machine`);
  else logger.info('signatures use the libsecp256k1 of the npm package');
}
