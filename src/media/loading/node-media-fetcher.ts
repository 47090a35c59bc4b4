/**
 * Loads media on Node. A host name is resolved when the connection is made, and the connection uses
 * exactly the checked addresses, so a later DNS change has no effect. Redirect targets are checked
 * like the first URL.
 */
import { lookup as systemLookup, type LookupAddress } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib'
import Agent from 'undici/lib/dispatcher/agent.js'
import { concatBytes } from '../../core/stream/concat-bytes.ts'
import {
  findStatusFault,
  MEDIA_FETCH_HEADERS,
  followMediaRedirects,
  readRedirectUrl,
  type FetchedMedia,
  type FetchLimits,
  type FetchMedia,
} from './follow-media-redirects.ts'
import type { LoadFault } from './load-result-types.ts'
import { isAllowedHost, type AllowedHost } from './check-url-safety.ts'
import { isPublicIpAddress } from './is-public-ip-address.ts'

/** Resolves a name to all its addresses, like `dns.lookup` with `all: true`. */
export type DnsLookup = (
  hostname: string,
  options: { readonly all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

export interface NodeMediaFetcher {
  readonly fetchMedia: FetchMedia
  readonly close: () => Promise<void>
}

export function createNodeMediaFetcher(
  { allowed, maxBytes }: { readonly allowed: readonly AllowedHost[]; readonly maxBytes: number },
  lookup: DnsLookup = systemLookup,
): NodeMediaFetcher {
  const openAgent = new Agent({ ...CONNECTION_OPTIONS, connect: { timeout: CONNECT_TIMEOUT_MS } })
  const guardedAgent = new Agent({
    ...CONNECTION_OPTIONS,
    connect: { timeout: CONNECT_TIMEOUT_MS, lookup: createGuardedLookup(lookup) },
  })
  const fetchMedia: FetchMedia = (text, limits) =>
    followMediaRedirects(text, allowed, async (url) => {
      const agent = isAllowedHost(url, allowed) ? openAgent : guardedAgent
      const response = await requestUrl(agent, url, limits)
      if ('fault' in response) return response
      const { status, headers } = response
      const redirectUrl = readRedirectUrl(status, headers['location'] ?? null, url)
      return redirectUrl === null ? decompressBody(response, maxBytes) : { redirectUrl }
    })
  return {
    fetchMedia,
    close: async () => void (await Promise.all([openAgent.destroy(), guardedAgent.destroy()])),
  }
}

const CONNECT_TIMEOUT_MS = 10_000

/** Connections close after 1 second, because an address check must not be reused for long. */
const CONNECTION_OPTIONS = { pipelining: 1, keepAliveTimeout: 1000, keepAliveMaxTimeout: 1000 }

/** Creates a DNS lookup that fails for a name if any of its addresses is not public. */
function createGuardedLookup(lookup: DnsLookup): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { all: true }, (error, addresses) => {
      const [first] = addresses ?? []
      if (error !== null || first === undefined) {
        return callback(error ?? new Error('There is no such host.'), '', 0)
      }
      if (!addresses.every(({ address }) => isPublicIpAddress(address))) {
        return callback(new PrivateAddressError(), '', 0)
      }
      if (options.all === true) return callback(null, addresses)
      callback(null, first.address, first.family)
    })
  }
}

class PrivateAddressError extends Error {
  readonly code = 'BLOCKED'
}

interface MediaResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly bytes: Uint8Array
}

/** Requests one URL; the body of a redirect or an error is not read. */
function requestUrl(
  agent: Agent,
  url: URL,
  { signal, checkBytes }: FetchLimits,
): Promise<MediaResponse | LoadFault> {
  return new Promise((resolve) => {
    let abort: (() => void) | null = null
    const finish = (result: MediaResponse | LoadFault): void => {
      signal.removeEventListener('abort', timeOut)
      resolve(result)
      abort?.()
    }
    const timeOut = (): void => finish({ fault: 'media-late' })
    if (signal.aborted) return timeOut()
    signal.addEventListener('abort', timeOut, { once: true })
    const chunks: Uint8Array[] = []
    let head = { status: 0, headers: {} as Readonly<Record<string, string>> }
    agent.dispatch(
      {
        origin: url.origin,
        path: url.pathname + url.search,
        method: 'GET',
        headers: { ...MEDIA_FETCH_HEADERS, 'accept-encoding': 'identity' },
      },
      {
        onRequestStart(controller) {
          abort = () => controller.abort(new Error('no longer needed'))
          if (signal.aborted) abort()
        },
        onResponseStart(_, status, headers) {
          if (status < 200) return
          head = { status, headers: keepFirstValues(headers) }
          if (status >= 300) finish({ ...head, bytes: NO_BYTES })
        },
        onResponseData(_, chunk) {
          const fault = checkBytes(chunk.length)
          if (fault !== null) return finish(fault)
          chunks.push(chunk)
        },
        onResponseEnd: () => finish({ ...head, bytes: concatBytes(chunks) }),
        onResponseError: (_, error) => finish({ fault: getFaultCode(error) }),
      },
    )
  })
}

const NO_BYTES = new Uint8Array()

function getFaultCode(error: Error): LoadFault['fault'] {
  const { code } = error as { readonly code?: unknown }
  if (code === 'BLOCKED') return 'media-blocked'
  return typeof code === 'string' && code.endsWith('_TIMEOUT') ? 'media-late' : 'media-unreachable'
}

function keepFirstValues(
  headers: Record<string, string | string[] | undefined>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : (value?.[0] ?? ''),
    ]),
  )
}

/**
 * Decompresses the body, up to the size limit. Servers may compress it although the request forbids
 * that.
 */
function decompressBody(
  { status, headers, bytes }: MediaResponse,
  maxBytes: number,
): FetchedMedia | LoadFault {
  const fault = findStatusFault(status)
  if (fault !== null) return fault
  const encoding = headers['content-encoding'] ?? 'identity'
  const type = headers['content-type'] ?? null
  if (encoding === 'identity' || encoding === '') return { bytes, contentType: type }
  const decompress = DECOMPRESSORS[encoding]
  if (decompress === undefined) return { fault: 'media-mislabelled' }
  try {
    return { bytes: decompress(bytes, { maxOutputLength: maxBytes }), contentType: type }
  } catch (error) {
    const isTooLarge = (error as { readonly code?: unknown }).code === 'ERR_BUFFER_TOO_LARGE'
    return { fault: isTooLarge ? 'media-oversized' : 'media-mislabelled' }
  }
}

type Decompress = (bytes: Uint8Array, options: { readonly maxOutputLength: number }) => Uint8Array

const DECOMPRESSORS: Readonly<Partial<Record<string, Decompress>>> = {
  gzip: gunzipSync,
  'x-gzip': gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
}
