// Messages on the paths where signed aggregates are subscribed. Requests and errors have the types of `/ws`.

/** The `type` of a frame: signed aggregates by symbol. */
export const ORACLE_PRICES_TYPE = 'oracle_prices';
