/**
 * Loads media with `fetch` alone, e.g. on Workers. Only the URL is checked, not the resolved
 * addresses: Workers have no private network.
 */
import { concatBytes } from '../../core/stream/concat-bytes.ts'
import {
  findStatusFault,
  MEDIA_FETCH_HEADERS,
  followMediaRedirects,
  readRedirectUrl,
  type FetchedMedia,
  type FetchLimits,
  type FetchMedia,
  type MediaRequestResult,
} from './follow-media-redirects.ts'
import type { LoadFault } from './load-result-types.ts'
import type { AllowedHost } from './check-url-safety.ts'

export function createWorkersMediaFetcher(allowed: readonly AllowedHost[]): FetchMedia {
  return async (text, limits) => {
    try {
      return await followMediaRedirects(text, allowed, (url) => requestUrl(url, limits))
    } catch {
      return { fault: limits.signal.aborted ? 'media-late' : 'media-unreachable' }
    }
  }
}

async function requestUrl(url: URL, limits: FetchLimits): Promise<MediaRequestResult> {
  const response = await fetch(url, {
    headers: MEDIA_FETCH_HEADERS,
    redirect: 'manual',
    credentials: 'omit',
    signal: limits.signal,
  })
  const { status, headers } = response
  const redirectUrl = readRedirectUrl(status, headers.get('location'), url)
  if (redirectUrl === null) return readBody(response, limits)
  await response.body?.cancel()
  return { redirectUrl }
}

/** Reads the decompressed body; the size limit counts decompressed bytes. */
async function readBody(
  response: Response,
  { checkBytes }: FetchLimits,
): Promise<FetchedMedia | LoadFault> {
  const fault = findStatusFault(response.status)
  const reader = response.body?.getReader()
  if (fault !== null || reader === undefined) {
    await reader?.cancel()
    return fault ?? { fault: 'media-gone' }
  }
  const chunks: Uint8Array[] = []
  for (;;) {
    const { done, value } = await reader.read()
    if (done)
      return { bytes: concatBytes(chunks), contentType: response.headers.get('content-type') }
    const limitFault = checkBytes(value.length)
    if (limitFault !== null) {
      await reader.cancel()
      return limitFault
    }
    chunks.push(value)
  }
}
