import { z } from 'zod';

/**
 * The address at which publishers reach the service. The publishers' agents connect to paths below this address.
 */
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

/** The parts of the configuration that determine the address. */
export interface PublicAddress {
  readonly service: { readonly publicUrl?: string };
  readonly listen: { readonly host: string; readonly tls?: unknown };
}

/**
 * Returns the address below which publishers connect: the configured address, or the address at which the service listens.
 * @param port the port in use
 */
export function publicUrlOf({ service, listen }: PublicAddress, port: number): string {
  const host = listen.host.includes(':') ? `[${listen.host}]` : listen.host;
  return service.publicUrl ?? `${listen.tls ? 'wss' : 'ws'}://${host}:${port}`;
}
