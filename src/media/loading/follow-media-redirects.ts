/**
 * Defines the interface for loading media over the network, which Node and Workers implement, and
 * follows redirects for both.
 */
import type { LoadFault } from './load-result-types.ts'
import { parseFetchableUrl, type AllowedHost } from './check-url-safety.ts'

/** Loads the media at a URL. Resolves to a fault, and never rejects, if that fails. */
export type FetchMedia = (url: string, limits: FetchLimits) => Promise<FetchedMedia | LoadFault>

export interface FetchLimits {
  /** Aborts the request and its redirects. */
  readonly signal: AbortSignal
  /**
   * Called before bytes are stored in memory; returns a fault if they exceed a limit, else `null`.
   */
  readonly checkBytes: (bytes: number) => LoadFault | null
}

export interface FetchedMedia {
  readonly bytes: Uint8Array
  /** The `content-type` header. */
  readonly contentType: string | null
}

/** The result of one request: media, a fault, or the target of a redirect. */
export type MediaRequestResult = FetchedMedia | LoadFault | { readonly redirectUrl: string }

/** Loads a URL and follows up to 3 redirects; each target is checked like the first URL. */
export async function followMediaRedirects(
  first: string,
  allowed: readonly AllowedHost[],
  requestUrl: (url: URL) => Promise<MediaRequestResult>,
): Promise<FetchedMedia | LoadFault> {
  let address = first
  for (let hop = 0; hop < MAX_HOPS; hop++) {
    const url = parseFetchableUrl(address, allowed)
    if (url === null) return BLOCKED_FAULT
    const result = await requestUrl(url)
    if (!('redirectUrl' in result)) return result
    address = result.redirectUrl
  }
  return BLOCKED_FAULT
}

const MAX_HOPS = 4
const BLOCKED_FAULT: LoadFault = { fault: 'media-blocked' }

export const MEDIA_FETCH_HEADERS = {
  accept: 'image/*, application/pdf, audio/*, video/*, */*;q=0.5',
  'user-agent': 'backstory',
}

export function findStatusFault(status: number): LoadFault | null {
  if (status >= 200 && status < 300 && status !== 204) return null
  return { fault: status >= 500 || status === 429 ? 'media-unreachable' : 'media-gone' }
}

const REDIRECT_STATUSES: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/**
 * Returns the absolute URL of a redirect's target, or `''` if the target is no valid URL. Returns
 * `null` if the response is not a redirect.
 */
export function readRedirectUrl(status: number, location: string | null, from: URL): string | null {
  if (!REDIRECT_STATUSES.has(status) || location === null) return null
  return URL.parse(location, from.href)?.href ?? ''
}
