/** How media get here from the network: the port, whichever runtime is behind it. */
import type { LoadFault } from './load-result-types.ts'
import { parseFetchableUrl, type AllowedHost } from './check-url-safety.ts'

/** Never rejects. */
export type FetchMedia = (url: string, limits: FetchLimits) => Promise<FetchedMedia | LoadFault>

export interface FetchLimits {
  /** Ends it, wherever it is. */
  readonly signal: AbortSignal
  /** Asked before bytes are kept: `null`, or why there must be no more. */
  readonly refuse: (bytes: number) => LoadFault | null
}

export interface FetchedMedia {
  readonly bytes: Uint8Array
  /** As its server calls it. */
  readonly type: string | null
}

/** What one address answers: a medium, why there is none, or where to ask instead. */
export type FetchHop = FetchedMedia | LoadFault | { readonly to: string }

/** Asks an address, and those that it refers to; each of them is looked at as the first one is. */
export async function followMediaRedirects(
  first: string,
  allowed: readonly AllowedHost[],
  ask: (url: URL) => Promise<FetchHop>,
): Promise<FetchedMedia | LoadFault> {
  let address = first
  for (let hop = 0; hop < MAX_HOPS; hop++) {
    const url = parseFetchableUrl(address, allowed)
    if (url === null) return BLOCKED
    const answer = await ask(url)
    if (!('to' in answer)) return answer
    address = answer.to
  }
  return BLOCKED
}

const MAX_HOPS = 4
const BLOCKED: LoadFault = { fault: 'media-blocked' }

export const MEDIA_FETCH_HEADERS = {
  accept: 'image/*, application/pdf, audio/*, video/*, */*;q=0.5',
  'user-agent': 'backstory',
}

export function faultForStatus(status: number): LoadFault | null {
  if (status >= 200 && status < 300 && status !== 204) return null
  return { fault: status >= 500 || status === 429 ? 'media-unreachable' : 'media-gone' }
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** Where an answer refers to; `null` if it is one by itself. */
export function readRedirectUrl(status: number, location: string | null, from: URL): string | null {
  if (!REDIRECTS.has(status) || location === null) return null
  return URL.parse(location, from.href)?.href ?? ''
}
