import * as batch from './batch_bytes.js';
import { createCryptoJobs } from './jobs.js';

// The program of each thread of the pool. The pool calls the functions of this module by name. Each function takes one flat
// message and returns another flat message.

const jobs = createCryptoJobs();

export function verifyEvm(message: Uint8Array): Uint8Array {
  return batch.encodeVerdicts(jobs.verifyEvm(batch.decodeVerifyEvm(message)));
}

export function verifyStark(message: Uint8Array): Uint8Array {
  return batch.encodeVerdicts(jobs.verifyStark(batch.decodeVerifyStark(message)));
}

export function signEvm(message: Uint8Array): Uint8Array {
  const { digests, key } = batch.decodeSignEvm(message);
  return jobs.signEvm(digests, key);
}

export function signStark(message: Uint8Array): Uint8Array {
  const { messages, key } = batch.decodeSignStark(message);
  return batch.encodeStarkSignatures(jobs.signStark(messages, key));
}
