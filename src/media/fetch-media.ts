/** How media get here from the network: the port, whichever runtime is behind it. */
import type { LoadFault } from './loaded-media.ts'

/** Never rejects. */
export type FetchMedia = (url: string, limits: FetchLimits) => Promise<Fetched | LoadFault>

export interface FetchLimits {
  /** Ends it, wherever it is. */
  readonly signal: AbortSignal
  /** Asked before bytes are kept: `null`, or why there must be no more. */
  readonly refuse: (bytes: number) => LoadFault | null
}

export interface Fetched {
  readonly bytes: Uint8Array
  /** As its server calls it. */
  readonly type: string | null
}

/** Of an address and of those that it refers to. */
export const MAX_HOPS = 4

export const FETCH_HEADERS = {
  accept: 'image/*, application/pdf, audio/*, video/*, */*;q=0.5',
  'user-agent': 'backstory',
}

export function faultOfStatus(status: number): LoadFault | null {
  if (status >= 200 && status < 300 && status !== 204) return null
  return { fault: status >= 500 || status === 429 ? 'media-unreachable' : 'media-gone' }
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** Where an answer refers to; `null` if it is one by itself. */
export function referredTo(status: number, location: string | null, from: URL): string | null {
  if (!REDIRECTS.has(status) || location === null) return null
  return URL.parse(location, from.href)?.href ?? ''
}
