/** The word in {@link signedPriceField} and {@link pushedAssetsPath} where the configuration sets none. */
export const DEFAULT_SERVICE_NAME = 'service';

/** What a service may be called, as a regular expression. */
export const SERVICE_NAME_PATTERN = '[a-z][a-z0-9_]{0,31}';

/** The field of an aggregate that holds the service's signature, such as `service_signed_price`. */
export function signedPriceField(serviceName: string): string {
  return `${serviceName}_signed_price`;
}

/** The REST path of the pushed assets, such as `/v0/deployments/service_pushed_assets`. */
export function pushedAssetsPath(serviceName: string): string {
  return `/v0/deployments/${serviceName}_pushed_assets`;
}
