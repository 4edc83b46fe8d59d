import { TOKEN } from './config.js';

/**
 * Makes one GET request on a new connection. The service may close an idle connection at the moment when a busy client writes to it. On a
 * reused connection, this would look like a failure.
 */
export function fetchOnce(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  return fetch(url, { headers: { ...headers, Connection: 'close' } });
}

/**
 * Returns the body of one answer.
 * @throws Error for any status except 200
 */
export async function fetchBody(port: number, path: string): Promise<string> {
  const response = await fetchOnce(`http://127.0.0.1:${port}${path}`, { Authorization: `Basic ${TOKEN}` });
  const body = await response.text();
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${body}`);
  return body;
}
