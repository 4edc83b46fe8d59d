// The messages on the paths on which clients subscribe signed aggregates. Requests and errors have the types of `/ws`.

/** The `type` of a frame: signed aggregates by symbol. */
export const ORACLE_PRICES_TYPE = 'oracle_prices';

/** The `type` of every answer, even of the answer to `unsubscribe`, because clients recognise answers by this type. */
export const SUBSCRIPTIONS_TYPE = 'subscribe';
