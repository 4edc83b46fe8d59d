import { register } from 'node:module';

// Preloaded by a test that must fail: `mutants.ts` names the mutant in this variable.
register('./loader.js', { parentURL: import.meta.url, data: JSON.parse(process.env['TICKSEAL_MUTANT']!) });
