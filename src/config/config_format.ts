import { z } from 'zod';

/** The version of configuration files. */
export const CONFIG_FORMAT = 1;

/** The schema of `format`. A file without it has this version. */
export const configFormat = z
  .literal(CONFIG_FORMAT, {
    error: ({ input }) =>
      `the file has format ${String(input)}, and this program reads format ${CONFIG_FORMAT}: use the version of the program that the file was written for`,
  })
  .prefault(CONFIG_FORMAT);
