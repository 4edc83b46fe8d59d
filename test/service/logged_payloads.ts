import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../../scripts/load/wait.js';
import { registerVerify } from '../../src/cli/verify_command.js';
import { Ed25519Key } from '../../src/tlog/ed25519_key.js';
import { formatVerifierKey } from '../../src/tlog/verifier_key.js';
import { runCommand } from '../cli/run_command.js';
import { TestSocket } from './harness.js';

export const STREAM_ORIGIN = 'prices.example.com/tlog/node-0';
export const STREAM_LOG_KEY = Buffer.alloc(32, 0x44);

/** Writes the policy that names the log of streaming payloads. Returns its path. */
export function writeStreamPolicy(dir: string): string {
  const file = join(dir, 'streams.policy');
  const vkey = formatVerifierKey(new Ed25519Key(STREAM_LOG_KEY).logKey(STREAM_ORIGIN));
  writeFileSync(file, `log ${vkey}\nquorum none\n`);
  return file;
}

/** Returns the next signed frames of a stream. */
export async function signedFrames(socketUrl: string, count: number): Promise<string[]> {
  const socket = await TestSocket.open(`${socketUrl}/ws?channel=100ms&message_type=signed_ecdsa`);
  socket.send({ type: 'subscribe', assets: [1] });
  const frames: string[] = [];
  while (frames.length < count) {
    const text = await socket.next();
    if (text.includes('"signed_ecdsa"')) frames.push(text);
  }
  await socket.close();
  return frames;
}

/** Runs `verify` with the log of a service until the log covers the payloads, and returns its result. */
export function verifyInLog(input: string, url: string, policy: string, signer: string) {
  return eventually(async () => {
    const args = ['verify', input, '--signer', signer, '--log', url, '--policy', policy];
    const run = await runCommand(registerVerify, args);
    const text = run.stdout.join('\n');
    return text.includes('does not have it yet') || run.stderr.includes('does not serve') ? undefined : run;
  });
}
