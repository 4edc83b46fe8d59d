import { z } from 'zod';
import type { Config } from './config.js';

/** Where publishers reach the service; their agents connect to paths below it. */
export const publicUrl = z.string().transform((text, context) => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain =
    url !== undefined &&
    /^wss?:$/.test(url.protocol) &&
    url.hostname !== '' &&
    ![url.username, url.password, url.search, url.hash].some((part) => part !== '');
  if (!isPlain)
    context.addIssue(
      'expected a ws or wss URL without user, password, query and fragment, such as wss://prices.example.com',
    );
  return isPlain ? text.replace(/\/+$/, '') : z.NEVER;
});

/**
 * The address below which publishers are told to connect: as configured, or where the service listens.
 * @param port the port in use
 */
export function publicUrlOf({ service, listen }: Pick<Config, 'service' | 'listen'>, port: number): string {
  const host = listen.host.includes(':') ? `[${listen.host}]` : listen.host;
  return service.publicUrl ?? `${listen.tls ? 'wss' : 'ws'}://${host}:${port}`;
}
