/** The name in {@link signedPriceField} and {@link pushedAssetsPath} if the configuration has no name. */
export const DEFAULT_SERVICE_NAME = 'service';

/** The form of a service's name, as a regular expression. */
export const SERVICE_NAME_PATTERN = '[a-z][a-z0-9_]{0,31}';

/** Returns the field of an aggregate that contains the service's signature, such as `service_signed_price`. */
export function signedPriceField(serviceName: string): string {
  return `${serviceName}_signed_price`;
}

/** Returns the REST path of the pushed assets, such as `/v0/deployments/service_pushed_assets`. */
export function pushedAssetsPath(serviceName: string): string {
  return `/v0/deployments/${serviceName}_pushed_assets`;
}
