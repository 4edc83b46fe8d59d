import type uWS from 'uWebSockets.js';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { UWS_SHA256_VARIABLE } from './machine.js';

export type WebSocketLibrary = typeof uWS;

/**
 * Loads uWebSockets.js after checking that its binary is the reviewed binary. The check is necessary because a third party republishes the
 * binary, which runs with all rights of the process.
 * @param allowedSha256 the hash of another build that the operator trusts, such as the build of an official tag
 * @throws Error whose message is one sentence when the platform has no build, the build has another hash, or the system cannot load it
 */
export function loadWebSockets(allowedSha256: string | undefined): WebSocketLibrary {
  const require = createRequire(import.meta.url);
  const build = `uws_${process.platform}_${process.arch}_${process.versions.modules}`;
  // The file is in the same folder as the loaded module. A search by name might find another package in a parent folder.
  const file = join(dirname(require.resolve('uWebSockets.js')), `${build}.node`);
  if (!existsSync(file)) throw new Error(`uWebSockets.js has no build for this platform (${build})`);
  const sha256 = createHash('sha256').update(readFileSync(file)).digest('hex');
  if (sha256 !== SHA256_BY_BUILD[build] && sha256 !== allowedSha256)
    throw new Error(
      `${build}.node is not the build that is pinned (its SHA-256 is ${sha256}); to use it all the same, ` +
        `set ${UWS_SHA256_VARIABLE} to that hash`,
    );
  // The binary reads the variable once, when Node loads the binary. The limit applies only to requests that arrive in several
  // packets.
  process.env['UWS_HTTP_MAX_HEADERS_SIZE'] ??= String(REQUEST_HEAD_BYTES_MAX);
  try {
    // The binary is loaded itself, because the package's own module would run without a check of its hash.
    return require(file) as WebSocketLibrary;
  } catch (error) {
    const reason = (error as Error).message.trim();
    throw new Error(`${build}.node of uWebSockets.js cannot be loaded: ${reason}`, { cause: error });
  }
}

/**
 * Returns a text in the form in which it may be given to uWebSockets.js. Its build for Node 24 writes a string as Latin-1 when each character is
 * below U+0100, such as `É`. So only bytes, and strings of ASCII, are given to it.
 */
export function utf8(text: string | Uint8Array): Uint8Array {
  return typeof text === 'string' ? Buffer.from(text) : text;
}

/**
 * False for the build for Node 20: an answer to HEAD with the length of a body is incomplete for it. For later builds such an answer is
 * complete.
 */
export const ENDS_HEAD = process.versions.modules !== '115';

/**
 * The largest size of a request's head. Node's own server has the same default. The default of uWebSockets.js is only 4096, but
 * 100 symbols of 64 characters need 6500.
 */
const REQUEST_HEAD_BYTES_MAX = 16 * 1024;

/** The hashes of the builds in the npm package `uwebsockets` 3.0.6 for the Node versions that this program supports. */
const SHA256_BY_BUILD: Readonly<Record<string, string>> = {
  uws_linux_x64_115: 'f4fa5d7b697529b45ac8aa3d57385d9af51bc1d2b26aa9f5b68ca4361542e665',
  uws_linux_x64_127: '78e38a9a163b1cf33ce539619e5908111dea95a12e7943d95fbcdd524879caa8',
  uws_linux_x64_137: '3b549c14e01d9d1faf234cdf4b6f0fb08158605e3692cd0eb1b905e327bd3449',
  uws_linux_arm64_115: '034e0fcccdc08f90df3b130f421516311831b1352fe38eab91abc2984c2fdf3a',
  uws_linux_arm64_127: 'a7d9bc3ec166421a49416d5ea4f49118ae68ea1dbf8a765c4f45a79b0b6adb13',
  uws_linux_arm64_137: 'b6eb007d627e00bcce03ad38f197124e9027c03f6fe784b37f97b8a6ea709cb4',
  uws_darwin_x64_115: '7552dc27e278be4a5f9ca4f571676e9046929ef8753b1bb63b84f78e1a752a11',
  uws_darwin_x64_127: '1bcd63a9cd5cda811d899b80f9b1f7c9f29d128feafebe6976069ab1045a0335',
  uws_darwin_x64_137: '7df6e0b2be43048200370a64ee91d6563879f5d3b0207f846dc81377ffc4e189',
  uws_darwin_arm64_115: 'f6132ac4d0954ce32ed716d5b367270904c5885bc6e01dcc8ae5809a8967d504',
  uws_darwin_arm64_127: '84ab0c487fbbb895afbfa24c7ac02db5922b2eb468b3a4663aaca52af29b420c',
  uws_darwin_arm64_137: 'dd7623e7e600dcc1384c4a639ac05849f0c27125be8c431b702e0513e86613f0',
};
