/**
 * Fetches media where there is only `fetch`. Addresses are looked at as they are written; that a name
 * leads into no private network is the platform's to see to, which on Workers has none.
 */
import { joined } from '../conversation/bytes.ts'
import {
  faultOfStatus,
  FETCH_HEADERS,
  MAX_HOPS,
  referredTo,
  type Fetched,
  type FetchLimits,
  type FetchMedia,
} from '../media/fetch-media.ts'
import type { LoadFault } from '../media/loaded-media.ts'
import { fetchableUrl, type AllowedHost } from '../media/media-url.ts'

export function fetchedMedia(allowed: readonly AllowedHost[]): FetchMedia {
  return async (text, limits) => {
    try {
      return await following(text, allowed, limits)
    } catch {
      return { fault: limits.signal.aborted ? 'media-late' : 'media-unreachable' }
    }
  }
}

async function following(
  text: string,
  allowed: readonly AllowedHost[],
  limits: FetchLimits,
): Promise<Fetched | LoadFault> {
  let address = text
  for (let hop = 0; hop < MAX_HOPS; hop++) {
    const url = fetchableUrl(address, allowed)
    if (url === null) return { fault: 'media-blocked' }
    const response = await fetch(url, {
      headers: FETCH_HEADERS,
      redirect: 'manual',
      credentials: 'omit',
      signal: limits.signal,
    })
    const { status, headers } = response
    const next = referredTo(status, headers.get('location'), url)
    if (next === null) return bodyOf(response, limits)
    await response.body?.cancel()
    address = next
  }
  return { fault: 'media-blocked' }
}

/** As it is unpacked: that is what is counted. */
async function bodyOf(response: Response, { refuse }: FetchLimits): Promise<Fetched | LoadFault> {
  const fault = faultOfStatus(response.status)
  const reader = response.body?.getReader()
  if (fault !== null || reader === undefined) {
    await reader?.cancel()
    return fault ?? { fault: 'media-gone' }
  }
  const chunks: Uint8Array[] = []
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return { bytes: joined(chunks), type: response.headers.get('content-type') }
    const refused = refuse(value.length)
    if (refused !== null) {
      await reader.cancel()
      return refused
    }
    chunks.push(value)
  }
}
