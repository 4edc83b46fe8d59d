import { Module } from 'node:module';

// The flag `--import` loads this module before a program. The program then finds no native secp256k1 and uses its fallback, the package
// `@noble/secp256k1`, as on a platform without a native build. All other modules stay the same.
type Resolve = (request: string, ...rest: unknown[]) => string;
const loader = Module as unknown as { _resolveFilename: Resolve };
const resolve = loader._resolveFilename;
loader._resolveFilename = (request, ...rest) => {
  if (request === 'secp256k1/bindings' || request === 'koffi')
    throw new Error('hidden, so that the fallback is measured');
  return resolve(request, ...rest);
};
