import type uWS from 'uWebSockets.js';
import type { Logger } from 'pino';
import { certificateId, createApp, type ListenOptions } from './app.js';
import type { ReplaceableListener } from './replaceable_listener.js';

/**
 * Returns a function for reloads. If the files of TLS have changed, later connections use the new certificate; a certificate that cannot be used
 * changes nothing.
 */
export function certificateRenewal(
  ws: typeof uWS,
  at: ListenOptions,
  logger: Pick<Logger, 'info' | 'error'>,
  listener: () => ReplaceableListener | undefined,
): () => void {
  const { tls } = at;
  if (tls === undefined) return () => {};
  let certificate = certificateId(tls);
  return () => {
    const next = certificateId(tls);
    if (next === certificate) return;
    try {
      createApp(ws, at).close();
    } catch (error) {
      logger.error({ err: error }, 'the new certificate cannot be used; the old one stays');
      return;
    }
    certificate = next;
    // A listener that is not open yet reads the files when it opens.
    listener()
      ?.replace()
      .then(
        () => logger.info('the certificate was read again'),
        (error) => logger.error({ err: error }, 'no listener for the new certificate'),
      );
  };
}
