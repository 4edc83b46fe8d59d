import { z } from 'zod';

/** Stands for every origin. */
export const ANY_ORIGIN = '*';

/** The origin of web pages, written as browsers write it in the header `Origin`. */
export const allowedOrigin = z
  .string()
  .refine(
    (text) => text === ANY_ORIGIN || isOrigin(text),
    'expected "*", or the origin of web pages as browsers send it, such as https://app.example.com',
  );

/** Recognises an origin. Browsers send the host in lower case, the port only if it is not the scheme's own, and no slash behind it. */
function isOrigin(text: string): boolean {
  if (!/^https?:\/\/[^*]+$/.test(text) || !URL.canParse(text)) return false;
  return new URL(text).origin === text;
}
