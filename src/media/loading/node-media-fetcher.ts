/**
 * Fetches media on Node. A name is looked up when it is connected to, and connected to is the very
 * address that was looked at: a name that means something else a moment later changes nothing. What
 * an answer refers to is looked at like what was asked for.
 */
import { lookup as systemLookup, type LookupAddress } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib'
import Agent from 'undici/lib/dispatcher/agent.js'
import { concatBytes } from '../../core/stream/concat-bytes.ts'
import {
  faultForStatus,
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

/** All addresses of a name, as the system's resolver gives them. */
export type DnsLookup = (
  hostname: string,
  options: { readonly all: true },
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

export interface NodeMediaFetcher {
  readonly fetchMedia: FetchMedia
  readonly close: () => Promise<void>
}

export function createNodeMediaFetcher(
  { allowed, maxBytes }: { readonly allowed: readonly AllowedHost[]; readonly maxBytes: number },
  lookUp: DnsLookup = systemLookup,
): NodeMediaFetcher {
  const open = new Agent({ ...LIMITS, connect: { timeout: CONNECT_MS } })
  const guarded = new Agent({
    ...LIMITS,
    connect: { timeout: CONNECT_MS, lookup: guardedLookup(lookUp) },
  })
  const fetchMedia: FetchMedia = (text, limits) =>
    followMediaRedirects(text, allowed, async (url) => {
      const answer = await ask(isAllowedHost(url, allowed) ? open : guarded, url, limits)
      if ('fault' in answer) return answer
      const to = readRedirectUrl(answer.status, answer.headers['location'] ?? null, url)
      return to === null ? fetchedFrom(answer, maxBytes) : { to }
    })
  return {
    fetchMedia,
    close: async () => void (await Promise.all([open.destroy(), guarded.destroy()])),
  }
}

const CONNECT_MS = 10_000

/** A connection is not kept for long: what was looked at holds for now. */
const LIMITS = { pipelining: 1, keepAliveTimeout: 1000, keepAliveMaxTimeout: 1000 } as const

/** If any of the addresses is not public, none is used. */
function guardedLookup(lookUp: DnsLookup): LookupFunction {
  return (hostname, options, done) => {
    lookUp(hostname, { all: true }, (error, addresses) => {
      const [first] = addresses ?? []
      if (error !== null || first === undefined) {
        return done(error ?? new Error('There is no such host.'), '', 0)
      }
      if (!addresses.every(({ address }) => isPublicIpAddress(address))) {
        return done(new BlockedError(), '', 0)
      }
      if (options.all === true) return done(null, addresses)
      done(null, first.address, first.family)
    })
  }
}

class BlockedError extends Error {
  readonly code = 'BLOCKED'
}

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly bytes: Uint8Array
}

/** The body of what only refers to something else is not waited for. */
function ask(agent: Agent, url: URL, { signal, refuse }: FetchLimits): Promise<Answer | LoadFault> {
  return new Promise((resolve) => {
    let abort: (() => void) | null = null
    const finish = (result: Answer | LoadFault): void => {
      signal.removeEventListener('abort', late)
      resolve(result)
      abort?.()
    }
    const late = (): void => finish({ fault: 'media-late' })
    if (signal.aborted) return late()
    signal.addEventListener('abort', late, { once: true })
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
          head = { status, headers: singleValues(headers) }
          if (status >= 300) finish({ ...head, bytes: NOTHING })
        },
        onResponseData(_, chunk) {
          const fault = refuse(chunk.length)
          if (fault !== null) return finish(fault)
          chunks.push(chunk)
        },
        onResponseEnd: () => finish({ ...head, bytes: concatBytes(chunks) }),
        onResponseError: (_, error) => finish({ fault: faultOf(error) }),
      },
    )
  })
}

const NOTHING = new Uint8Array()

function faultOf(error: Error): LoadFault['fault'] {
  const { code } = error as { readonly code?: unknown }
  if (code === 'BLOCKED') return 'media-blocked'
  return typeof code === 'string' && code.endsWith('_TIMEOUT') ? 'media-late' : 'media-unreachable'
}

function singleValues(
  headers: Record<string, string | string[] | undefined>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : (value?.[0] ?? ''),
    ]),
  )
}

/** A server may compress though it was asked not to: so much and no more is unpacked. */
function fetchedFrom(
  { status, headers, bytes }: Answer,
  maxBytes: number,
): FetchedMedia | LoadFault {
  const fault = faultForStatus(status)
  if (fault !== null) return fault
  const encoding = headers['content-encoding'] ?? 'identity'
  const type = headers['content-type'] ?? null
  if (encoding === 'identity' || encoding === '') return { bytes, type }
  const unpack = UNPACK[encoding]
  if (unpack === undefined) return { fault: 'media-mislabelled' }
  try {
    return { bytes: unpack(bytes, { maxOutputLength: maxBytes }), type }
  } catch (error) {
    const isTooLarge = (error as { readonly code?: unknown }).code === 'ERR_BUFFER_TOO_LARGE'
    return { fault: isTooLarge ? 'media-oversized' : 'media-mislabelled' }
  }
}

type Unpack = (bytes: Uint8Array, options: { readonly maxOutputLength: number }) => Uint8Array

const UNPACK: Readonly<Partial<Record<string, Unpack>>> = {
  gzip: gunzipSync,
  'x-gzip': gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
}
