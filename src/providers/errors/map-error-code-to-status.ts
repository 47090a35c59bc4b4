/**
 * The HTTP status that an error would have had, by its code or its type: it came inside of an answer
 * that had begun with 200. `null` for a word that says nothing of it.
 */
export function mapErrorCodeToStatus(word: string): number | null {
  if (/^[45]\d\d$/.test(word)) return Number(word)
  const known = STATUS.get(word)
  if (known !== undefined) return known
  return /^(?:invalid|unsupported|image|empty|failed_to_download)_/.test(word) ? 400 : null
}

const STATUS: ReadonlyMap<string, number> = new Map([
  ['rate_limit_exceeded', 429],
  ['insufficient_quota', 429],
  ['usage_not_included', 429],
  ['invalid_api_key', 401],
  ['server_is_overloaded', 503],
  ['context_length_exceeded', 400],
  ['bio_policy', 400],
  ['cyber_policy', 400],
  ['data_residency_mismatch', 400],
  ['misalignment_policy_violation', 400],
])
