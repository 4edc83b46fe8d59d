// The paths that a client of streams requests. The bundle of such a client contains no other paths.

/** The path on which clients subscribe to streams of prices. */
export const STREAM_PATH = '/ws';

export const ASSETS_PATH = '/v1/prices/assets';
export const TAXONOMY_PATH = '/v1/taxonomy';
export const STREAM_TICKET_PATH = '/v1/stream_ticket';
