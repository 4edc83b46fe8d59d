import { boundedFetch } from '../client/connect/bounded_fetch.js';
import { UnusableAddress } from '../server/uws/port_claim.js';
import { ADMIN_PATHS, DOCUMENT_PATHS } from '../wire/paths.js';

/** The ports to listen on, and the options or keys with which a user changes them. */
export interface PortChoice {
  readonly adminPort: number;
  readonly names: { readonly service: AddressNames; readonly admin: AddressNames };
}

/** The option or key of a port, and of its host if a user can choose the host. */
export interface AddressNames {
  readonly port: string;
  readonly host?: string;
}

/** The time limit for an answer from the program that uses the port. */
const ANSWER_MS_MAX = 3_000;

/**
 * Describes an error at the start in one line. If a port is in use, the line says whether a tickseal answers there, and which
 * option chooses another port.
 */
export async function describeStartError(error: unknown, { adminPort, names }: PortChoice): Promise<string> {
  if (!(error instanceof UnusableAddress)) return error instanceof Error ? error.message : String(error);
  const { at, isInUse, isOfHost, message } = error;
  const isAdmin = at.port === adminPort;
  const { port, host = port } = isAdmin ? names.admin : names.service;
  if (!isInUse) return `${message} (${isOfHost ? host : port})`;
  const path = isAdmin ? ADMIN_PATHS.metrics : DOCUMENT_PATHS.openApi;
  const user = (await isTickseal(`http://${hostInUrl(at.host)}:${at.port}${path}`))
    ? 'a tickseal answers there'
    : 'another program';
  return `${message}: ${user}. ${port} chooses another port`;
}

/** Requests a page that only a tickseal serves. */
async function isTickseal(url: string): Promise<boolean> {
  try {
    const answer = await boundedFetch({ url, answerMsMax: ANSWER_MS_MAX });
    return /tickseal_build_info|"title":\s*"tickseal/.test(await answer.wholeText());
  } catch {
    return false;
  }
}

/** Returns the host of a listener in the form for a URL on this machine. */
function hostInUrl(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}
