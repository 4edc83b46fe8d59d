// Messages on the paths for subscriptions to signed aggregates. Requests and errors have the types of `/ws`.

/** The `type` of a frame: signed aggregates by symbol. */
export const ORACLE_PRICES_TYPE = 'oracle_prices';
