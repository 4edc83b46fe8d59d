import type { Fetch } from './platform.js';

/**
 * Errors of Node's network in plain words, with what to do. The TLS library reports a wrong version number when a port with an `https` address
 * has no TLS. A port with TLS ends a connection without TLS.
 */
const NETWORK_REASONS: readonly (readonly [error: RegExp, text: string])[] = [
  [
    /wrong version number|packet length too long/,
    'no TLS answers at this address; a service without TLS has an address that begins with ws:// or http://',
  ],
  [
    /other side closed|socket hang up/,
    'the connection ended without an answer; a service with TLS has an address that begins with wss:// or https://',
  ],
  [
    /self[- ]signed certificate|unable to verify the first certificate|unable to get (?:local )?issuer certificate/,
    'no authority that this machine knows signed the certificate; for a private one, NODE_EXTRA_CA_CERTS names the file of its certificate in PEM',
  ],
  [
    /does not match certificate's altnames/,
    'the certificate is for other host names than this address has; use one of those',
  ],
  [
    /\bECONNREFUSED\b/,
    'nothing listens at this address (ECONNREFUSED): does the service run, and at this port?',
  ],
  [/\b(?:ENOTFOUND|EAI_AGAIN)\b/, 'the name of this host has no address: is it spelled right?'],
];

/** Returns a function that sends requests, with the errors of the network in plain words. */
export function withNetworkReasons(send: Fetch): Fetch {
  return async (url, init) => {
    try {
      return await send(url, init);
    } catch (error) {
      explainNetworkError(error as Error);
      throw error;
    }
  };
}

/** Replaces the message of an error of the network by plain words, or that of its cause. Other errors stay as they are. */
export function explainNetworkError(error: Error): void {
  const cause = ((error as { readonly cause?: unknown }).cause ?? error) as NodeJS.ErrnoException;
  // The error of a host with several addresses has only a code.
  const reason = cause.message || (cause.code ?? '');
  cause.message = NETWORK_REASONS.find(([pattern]) => pattern.test(reason))?.[1] ?? reason;
}
