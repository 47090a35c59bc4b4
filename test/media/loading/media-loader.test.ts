import { describe, expect, test } from 'vitest'
import type { FetchedMedia, FetchMedia } from '../../../src/media/loading/follow-media-redirects.ts'
import {
  createMediaLoader,
  type LoadedMediaCache,
  type MediaLoaderOptions,
  type MediaLoader,
} from '../../../src/media/loading/media-loader.ts'
import type { LoadedMedia } from '../../../src/media/loading/load-result-types.ts'
import { createLoadedBytesLimit } from '../../../src/media/loading/loaded-bytes-limit.ts'
import { verifyFetchedMedia } from '../../../src/media/loading/verify-fetched-media.ts'
import type {
  InlineMedia,
  RemoteMediaKind,
} from '../../../src/media/find-and-embed-remote-media.ts'
import { createFileBytes } from '../pictures.ts'

const png: FetchedMedia = { bytes: createFileBytes('image/png', 100), contentType: 'image/png' }

/** Checks all bytes at once; a real fetcher checks each chunk. */
const giving =
  (fetched: FetchedMedia): FetchMedia =>
  async (_, { checkBytes }) =>
    checkBytes(fetched.bytes.length) ?? fetched

function loaderWith(parts: Partial<MediaLoaderOptions>): MediaLoader {
  return createMediaLoader({
    fetchMedia: giving(png),
    memory: createLoadedBytesLimit(1000),
    maxBytes: 1000,
    timeoutMs: 1000,
    maxFaultBytes: 100_000,
    nowMs: () => 0,
    onFault: () => undefined,
    ...parts,
  })
}

function planOf(...urls: readonly string[]): ReadonlyMap<string, RemoteMediaKind> {
  return new Map(urls.map((url) => [url, 'image']))
}

const NOTHING_KEPT: LoadedMediaCache = { find: async () => new Map(), save: () => undefined }

function faultsIn(loaded: LoadedMedia): readonly string[] {
  return [...loaded.values()].map((one) => ('fault' in one ? one.fault : 'loaded'))
}

describe('loading of media URLs by the media loader', () => {
  test('the media loader returns media or a fault for each URL', async () => {
    const fetchMedia: FetchMedia = async (url, limits) =>
      url === 'bad' ? { fault: 'media-gone' } : giving(png)(url, limits)
    const { loaded } = await loaderWith({ fetchMedia }).load(planOf('a', 'bad'), NOTHING_KEPT)
    expect(faultsIn(loaded).toSorted()).toEqual(['loaded', 'media-gone'])
  })

  test('the media loader loads 6 URLs at once, and 32 in total', async () => {
    let [running, most, asked] = [0, 0, 0]
    const fetchMedia: FetchMedia = async () => {
      most = Math.max(most, ++running)
      asked += 1
      await new Promise((resolve) => setTimeout(resolve, 1))
      running -= 1
      return png
    }
    const urls = Array.from({ length: 40 }, (_, at) => String(at))
    const { loaded } = await loaderWith({ fetchMedia }).load(planOf(...urls), NOTHING_KEPT)
    expect([most, asked]).toEqual([6, 32])
    expect(faultsIn(loaded).filter((fault) => fault === 'media-too-many')).toHaveLength(8)
  })

  test('the media loader drops the oldest URLs 8 at a time, so that most turns send the same media', async () => {
    const left = async (count: number): Promise<number> => {
      const urls = Array.from({ length: count }, (_, at) => String(at))
      const { loaded } = await loaderWith({ memory: createLoadedBytesLimit(1e6) }).load(
        planOf(...urls),
        NOTHING_KEPT,
      )
      // The latest URLs are loaded.
      expect(faultsIn(loaded).includes('media-too-many')).toBe(count > 32)
      return urls.filter((url) => 'base64' in (loaded.get(url) ?? {})).length
    }
    expect([await left(32), await left(33), await left(40), await left(41)]).toEqual([
      32, 25, 32, 25,
    ])
  })

  test('the media loader aborts all pending URLs at the timeout, and requests no further URL', async () => {
    const waited = new Set<AbortSignal>()
    const fetchMedia: FetchMedia = (_, { signal }) => {
      // The timeout covers all URLs together; after it, no further URL is requested.
      expect(signal.aborted).toBe(false)
      waited.add(signal)
      return new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve({ fault: 'media-late' }))
      })
    }
    const urls = Array.from({ length: 20 }, (_, at) => String(at))
    const loader = loaderWith({ fetchMedia, timeoutMs: 50 })
    const { loaded } = await loader.load(planOf(...urls), NOTHING_KEPT)
    expect(waited.size).toBe(1)
    expect(new Set(faultsIn(loaded))).toEqual(new Set(['media-late']))
  })

  test('the media loader does not request a URL that is in the cache, and adds loaded media to the cache', async () => {
    const kept: string[] = []
    const asked: string[] = []
    const memory: LoadedMediaCache = {
      find: async () =>
        new Map<string, InlineMedia>([['a', { type: 'image/png', base64: 'AAAA' }]]),
      save: (url) => void kept.push(url),
    }
    const fetchMedia: FetchMedia = async (url) => (asked.push(url), png)
    const { loaded } = await loaderWith({ fetchMedia }).load(planOf('a', 'b'), memory)
    expect(loaded.get('a')).toEqual({ type: 'image/png', base64: 'AAAA' })
    expect([asked, kept]).toEqual([['b'], ['b']])
  })

  test('the media loader retries a failed URL only after 5 minutes', async () => {
    let [now, asked] = [0, 0]
    const fetchMedia: FetchMedia = async () => ((asked += 1), { fault: 'media-unreachable' })
    const loader = loaderWith({ fetchMedia, nowMs: () => now })
    for (const [at, count] of [
      [0, 1],
      [60_000, 1],
      [301_000, 2],
    ] as const) {
      now = at
      const { loaded } = await loader.load(planOf('a'), NOTHING_KEPT)
      expect(faultsIn(loaded)).toEqual(['media-unreachable'])
      expect(asked).toBe(count)
    }
  })

  test('the media loader calls `onFault` for each URL that could not be loaded', async () => {
    const told: string[] = []
    const fetchMedia: FetchMedia = async () => ({ fault: 'media-blocked' })
    const loader = loaderWith({ fetchMedia, onFault: (fault) => told.push(fault) })
    await loader.load(planOf('a', 'b'), NOTHING_KEPT)
    expect(told).toEqual(['media-blocked', 'media-blocked'])
  })
})

describe('memory limit of the media loader (C83)', () => {
  test('media that exceeds the memory limit is not loaded until other requests release their bytes', async () => {
    const memory = createLoadedBytesLimit(250)
    const loader = loaderWith({ memory })
    const first = await loader.load(planOf('a', 'b'), NOTHING_KEPT)
    expect(faultsIn(first.loaded)).toEqual(['loaded', 'loaded'])
    expect(memory.countHeldBytes()).toBe(200)
    const second = await loader.load(planOf('c'), NOTHING_KEPT)
    expect(faultsIn(second.loaded)).toEqual(['media-memory'])
    first.release()
    first.release()
    expect(memory.countHeldBytes()).toBe(0)
    const third = await loader.load(planOf('c'), NOTHING_KEPT)
    expect(faultsIn(third.loaded)).toEqual(['loaded'])
  })

  test('a URL whose content is rejected releases its memory', async () => {
    const memory = createLoadedBytesLimit(250)
    const html = { bytes: new TextEncoder().encode('<!doctype html>'), contentType: 'image/png' }
    const { loaded } = await loaderWith({ memory, fetchMedia: giving(html) }).load(
      planOf('a'),
      NOTHING_KEPT,
    )
    expect(faultsIn(loaded)).toEqual(['media-mislabelled'])
    expect(memory.countHeldBytes()).toBe(0)
  })

  test('media that exceeds the size limit holds no memory of the media loader afterwards', async () => {
    const memory = createLoadedBytesLimit(1000)
    const { loaded } = await loaderWith({ memory, maxBytes: 50 }).load(planOf('a'), NOTHING_KEPT)
    expect(faultsIn(loaded)).toEqual(['media-oversized'])
    expect(memory.countHeldBytes()).toBe(0)
  })
})

describe('type of fetched media (C85)', () => {
  const text = (body: string) => new TextEncoder().encode(body)
  const typeOf = (kind: RemoteMediaKind, url: string, fetched: FetchedMedia) => {
    const medium = verifyFetchedMedia(kind, url, fetched)
    return 'fault' in medium ? medium.fault : medium.type
  }

  test('the type of fetched media is that of its first bytes, not that of the header', () => {
    const lying = { bytes: createFileBytes('image/webp'), contentType: 'image/png' }
    expect(typeOf('image', 'https://a.example/a.png', lying)).toBe('image/webp')
    expect(
      typeOf('file', 'https://a.example/a', {
        ...lying,
        bytes: createFileBytes('application/pdf'),
      }),
    ).toBe('application/pdf')
    expect(
      typeOf('video', 'https://a.example/a', { ...lying, bytes: createFileBytes('video/mp4') }),
    ).toBe('video/mp4')
  })

  test('fetched media is rejected if it is not of the expected kind', () => {
    const page = { bytes: text('<html>404</html>'), contentType: 'text/html; charset=utf-8' }
    expect(typeOf('image', 'https://a.example/a.png', page)).toBe('media-mislabelled')
    expect(typeOf('image', 'https://a.example/a', { ...page, contentType: 'image/png' })).toBe(
      'media-mislabelled',
    )
    expect(typeOf('file', 'https://a.example/a.pdf', page)).toBe('media-mislabelled')
    expect(typeOf('video', 'https://a.example/a.mp4', { ...page, contentType: 'video/mp4' })).toBe(
      'media-mislabelled',
    )
    expect(typeOf('file', 'https://a.example/', page)).toBe('text/html')
    expect(typeOf('file', 'https://a.example/a', { bytes: text(''), contentType: null })).toBe(
      'media-gone',
    )
  })

  test('a fetched text file is accepted with the type of the header', () => {
    const csv = { bytes: text('a,b\n'), contentType: 'text/csv; charset=utf-8' }
    expect(typeOf('file', 'https://a.example/a.csv', csv)).toBe('text/csv')
  })
})
