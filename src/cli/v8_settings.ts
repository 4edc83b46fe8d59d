import { setFlagsFromString } from 'node:v8';

/** The V8 version of Node 20, with which the settings were measured. Later versions may behave differently. */
const V8_VERSION = '11.3.';

/**
 * Makes V8 allocate all objects in its young generation. By default, V8 allocates objects in the old generation if earlier objects
 * from the same code lived long. An update that is alone in its message waits for earlier updates, often until after a garbage
 * collection. In the old generation, the update and all objects that it references would live until V8 collects the whole
 * generation. The caller must call this function before the service starts, because V8 decides early.
 *
 * Measured with 50 assets, CPU time relative to the default:
 *
 * | Updates in a message | CPU time |
 * |---|---|
 * | 1 | 0.85 |
 * | 10 | 0.9 to 1 |
 * | 50 | 1 |
 */
export function makeObjectsYoung(): void {
  set(YOUNG_FLAG);
}

const YOUNG_FLAG = '--no-allocation-site-pretenuring';

/**
 * Makes V8 collect young objects on the thread that allocated them, without helper threads. A collection lasts until each helper has
 * finished, and on a busy machine a helper waits for a core. Few objects survive a collection of the service, so helpers save no time even on
 * idle cores.
 *
 * Measured with 5,000 updates a second on two cores:
 *
 * | Machine | Longest collection with helpers | Longest collection alone |
 * |---|---|---|
 * | other programs use both cores | 1.8 to 55 ms | 1.2 to 1.4 ms |
 * | a core is idle | 1.1 ms | 1 ms |
 */
export function collectAlone(): void {
  set(ALONE_FLAG);
}

const ALONE_FLAG = '--no-parallel-scavenge';

/** The bytes of bytecode that a function runs between two checks whether V8 optimizes it: V8's default, and the number for a start. */
const CHECK_BYTES = 67_584;
const CHECK_BYTES_OF_START = 1_000_000;

/**
 * Makes V8 optimize functions later, until {@link compileSooner}. Most code of a start runs only once, and V8's compiler threads take
 * more CPU time than the optimized code saves.
 *
 * Measured, CPU time of a start relative to the default:
 *
 * | Start | CPU time |
 * |---|---|
 * | 100 assets, no data | 0.94 |
 * | 1,000 assets, 1 GB of data | 0.93 |
 */
export function compileLater(): void {
  set(`--interrupt-budget=${CHECK_BYTES_OF_START}`);
}

/**
 * Calls a function with V8's default flags instead of those of {@link compileLater}, {@link makeObjectsYoung} and {@link collectAlone}. V8
 * accepts stored code only with the flags with which the code was stored, and a start loads the code before it sets flags.
 */
export function withDefaultFlags(call: () => void): void {
  set('--allocation-site-pretenuring');
  set('--parallel-scavenge');
  set(`--interrupt-budget=${CHECK_BYTES}`);
  call();
  makeObjectsYoung();
  collectAlone();
  compileLater();
}

/**
 * Makes V8 optimize a function at V8's first check of the function instead of the third. By default, code that runs 100 times a
 * second, such as a tick, stays unoptimized for most of its first minute. The caller must call this function when the service is
 * ready; otherwise V8 also optimizes code that runs only at the start.
 *
 * Measured from 8 to 14 s after the start, CPU time relative to the default:
 *
 * | Work | CPU time |
 * |---|---|
 * | tick for 100 connections | 0.8 to 0.95 |
 * | update in a message of its own | 0.8 to 0.9 |
 * | request | 1 |
 *
 * Compiling all code immediately to unoptimized machine code (`--always-sparkplug`) makes requests 33 % slower.
 */
export function compileSooner(): void {
  set(`--interrupt-budget=${CHECK_BYTES}`);
  set('--ticks-before-optimization=1');
}

function set(flag: string): void {
  if (process.versions.v8.startsWith(V8_VERSION)) setFlagsFromString(flag);
}
