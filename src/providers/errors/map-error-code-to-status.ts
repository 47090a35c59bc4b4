/**
 * Maps the code or type of an error to an HTTP status, e.g. `rate_limit_exceeded` → 429, for errors
 * in an answer that began with status 200. Returns `null` for an unknown code.
 */
export function mapErrorCodeToStatus(code: string): number | null {
  if (/^[45]\d\d$/.test(code)) return Number(code)
  const status = STATUS.get(code)
  if (status !== undefined) return status
  return /^(?:invalid|unsupported|image|empty|failed_to_download)_/.test(code) ? 400 : null
}

const STATUS: ReadonlyMap<string, number> = new Map([
  ['rate_limit_exceeded', 429],
  ['insufficient_quota', 429],
  ['usage_not_included', 429],
  ['invalid_api_key', 401],
  ['authentication_error', 401],
  ['permission_error', 403],
  ['server_is_overloaded', 503],
  ['context_length_exceeded', 400],
  ['bio_policy', 400],
  ['cyber_policy', 400],
  ['data_residency_mismatch', 400],
  ['misalignment_policy_violation', 400],
])
