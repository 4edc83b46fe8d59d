import { TOKEN } from './config.js';

/** The body of one answer. @throws Error for any status but 200. */
export async function fetchBody(port: number, path: string): Promise<string> {
  const headers = { Authorization: `Basic ${TOKEN}` };
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers });
  const body = await response.text();
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${body}`);
  return body;
}
