/**
 * Corrects paths that result from a wrong base URL: `//v1/models/` and `/v1/v1/models` become
 * `/v1/models`. Uncorrected, they would match no route and be forwarded to an upstream.
 */
export function normalizePath(path: string): string {
  if (!NEEDS_CORRECTION.test(path)) return path
  const corrected = path.replaceAll(/\/{2,}/g, '/').replace(/^(?:\/v1)+(?=\/v1\/)/, '')
  return corrected.length > 1 && corrected.endsWith('/') ? corrected.slice(0, -1) : corrected
}

const NEEDS_CORRECTION = /\/\/|.\/$|^\/v1\/v1\//
