import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { FetchMedia } from '../../../src/media/loading/follow-media-redirects.ts'
import type { AllowedHost } from '../../../src/media/loading/check-url-safety.ts'
import { createWorkersMediaFetcher } from '../../../src/media/loading/workers-media-fetcher.ts'
import {
  createNodeMediaFetcher,
  type DnsLookup,
  type NodeMediaFetcher,
} from '../../../src/media/loading/node-media-fetcher.ts'
import { createFileBytes } from '../pictures.ts'
import {
  redirectTo,
  serveBytes,
  startMediaServer,
  type MediaServer,
} from '../../support/media-server.ts'

const MAX_BYTES = 1_000_000
const opened: NodeMediaFetcher[] = []
let server: MediaServer
let allowed: AllowedHost
beforeAll(async () => {
  server = await startMediaServer()
  const [host = '', port = ''] = server.host.split(':')
  allowed = { host, port: Number(port) }
})
beforeEach(() => {
  server.requests.length = 0
})
afterAll(async () => {
  await Promise.all(opened.map(({ close }) => close()))
  await server.close()
})

function onNode(hosts: readonly AllowedHost[], lookUp?: DnsLookup): FetchMedia {
  const media = createNodeMediaFetcher({ allowed: hosts, maxBytes: MAX_BYTES }, lookUp)
  opened.push(media)
  return media.fetchMedia
}

/** Resolves a name to these addresses, one list per lookup. */
function resolving(...answers: readonly (readonly string[])[]): DnsLookup & { asked: number } {
  const lookUp = Object.assign(
    (_: string, __: unknown, done: Parameters<DnsLookup>[2]) => {
      const answer = answers[Math.min(lookUp.asked, answers.length - 1)] ?? []
      lookUp.asked += 1
      done(
        null,
        answer.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      )
    },
    { asked: 0 },
  )
  return lookUp
}

async function get(fetchMedia: FetchMedia, path: string, ms = 2000) {
  let bytes = 0
  const url = path.startsWith('/') ? server.url + path : path
  const got = await fetchMedia(url, {
    signal: AbortSignal.timeout(ms),
    checkBytes: (more) => {
      bytes += more
      return bytes > MAX_BYTES ? { fault: 'media-oversized' } : null
    },
  })
  return 'fault' in got ? got.fault : got
}

describe.each([
  ['Node', (hosts: readonly AllowedHost[]) => onNode(hosts)],
  ['Workers', (hosts: readonly AllowedHost[]) => createWorkersMediaFetcher(hosts)],
])('the media fetcher for %s (C84, C146)', (_, open) => {
  let fetchMedia: FetchMedia
  beforeAll(() => {
    fetchMedia = open([allowed])
  })

  test('a media fetcher returns the bytes and the content type', async () => {
    const png = createFileBytes('image/png', 5000)
    server.paths.set('/a.png', serveBytes(png, { 'content-type': 'image/png' }))
    const got = await get(fetchMedia, '/a.png')
    expect(got).toMatchObject({ contentType: 'image/png' })
    expect(Buffer.from((got as { bytes: Uint8Array }).bytes)).toEqual(png)
  })

  test('a media fetcher sends no cookies, no credentials and no data of the client', async () => {
    server.paths.set('/plain', serveBytes('x', { 'set-cookie': 'a=b' }))
    await get(fetchMedia, '/plain')
    await get(fetchMedia, '/plain')
    for (const { headers } of server.requests) {
      expect(headers.cookie).toBeUndefined()
      expect(headers.authorization).toBeUndefined()
    }
  })

  test('a media fetcher follows at most three redirects', async () => {
    server.paths.set('/end', serveBytes('here'))
    for (const [at, next] of ['/end', '/r0', '/r1', '/r2'].entries()) {
      server.paths.set(`/r${at}`, redirectTo(next, [301, 302, 307, 308][at]))
    }
    expect(await get(fetchMedia, '/r2')).toMatchObject({ bytes: expect.anything() as Uint8Array })
    expect(await get(fetchMedia, '/r3')).toBe('media-blocked')
    server.paths.set('/loop', redirectTo('/loop'))
    expect(await get(fetchMedia, '/loop')).toBe('media-blocked')
  })

  test.each([
    'http://169.254.169.254/latest/meta-data/',
    'http://[::1]/',
    'http://127.0.0.1:1/',
    'http://127.0.0.1../',
    'http://10.0.0.1/',
    'http://metadata.google.internal/',
    'file:///etc/passwd',
    'http://user:secret@example.com/',
    'http://[',
  ])('a media fetcher follows no redirect to %s', async (location) => {
    server.paths.set('/trap', redirectTo(location))
    expect(await get(fetchMedia, '/trap')).toBe('media-blocked')
  })

  test('a media fetcher connects to no private host that the operator does not allow', async () => {
    const strict = open([])
    expect(await get(strict, '/a.png')).toBe('media-blocked')
    expect(await get(strict, server.url.replace('127.0.0.1', 'localhost'))).toBe('media-blocked')
    expect(server.requests).toEqual([])
  })

  test('a media fetcher ends a request at the timeout if the server sends nothing or too slowly, and closes the connection', async () => {
    const closed = new Promise<void>((resolve) => {
      server.paths.set('/silent', (response) => response.once('close', resolve))
    })
    expect(await get(fetchMedia, '/silent', 100)).toBe('media-late')
    await closed
    server.paths.set('/dripping', (response) => {
      response.writeHead(200, { 'content-type': 'image/png' })
      const drip = setInterval(() => response.write('x'), 10)
      response.once('close', () => clearInterval(drip))
    })
    expect(await get(fetchMedia, '/dripping', 200)).toBe('media-late')
  })

  test('a media fetcher stops reading a body that exceeds the size limit', async () => {
    server.paths.set('/endless', (response) => {
      response.writeHead(200)
      const pour = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536)));
        if (!response.destroyed) response.once('drain', pour)
      }
      pour()
    })
    expect(await get(fetchMedia, '/endless')).toBe('media-oversized')
  })

  test('a media fetcher decompresses a body, and stops when it exceeds the size limit', async () => {
    const packed = { 'content-encoding': 'gzip', 'content-type': 'image/png' }
    server.paths.set('/packed', serveBytes(gzipSync(createFileBytes('image/png')), packed))
    server.paths.set('/bomb', serveBytes(gzipSync(Buffer.alloc(50_000_000)), packed))
    const got = await get(fetchMedia, '/packed')
    expect(Buffer.from((got as { bytes: Uint8Array }).bytes)).toEqual(createFileBytes('image/png'))
    expect(await get(fetchMedia, '/bomb')).toBe('media-oversized')
  })

  test('a media fetcher returns a fault for an error status and for a failed connection', async () => {
    server.paths.set('/broken', (response) =>
      response.writeHead(200).write('x', () => response.destroy()),
    )
    server.paths.set('/down', (response) => response.writeHead(503).end())
    server.paths.set('/nothing', (response) => response.writeHead(204).end())
    expect(await get(fetchMedia, '/missing')).toBe('media-gone')
    expect(await get(fetchMedia, '/nothing')).toBe('media-gone')
    expect(await get(fetchMedia, '/down')).toBe('media-unreachable')
    expect(await get(fetchMedia, '/broken')).toBe('media-unreachable')
    const closed = await startMediaServer()
    const [host = '', port = ''] = closed.host.split(':')
    await closed.close()
    expect(await get(open([{ host, port: Number(port) }]), `${closed.url}/a`)).toBe(
      'media-unreachable',
    )
  })
})

describe('DNS lookups of the media fetcher for Node (C84)', () => {
  test.each([
    [['127.0.0.1']],
    [['10.1.2.3']],
    [['::1']],
    [['fd00::1']],
    [['::ffff:127.0.0.1']],
    [['64:ff9b::7f00:1']],
    [['93.184.216.34', '127.0.0.1']],
  ])(
    'the media fetcher for Node does not connect to a host name that resolves to %j',
    async (addresses) => {
      const lookUp = resolving(addresses)
      expect(await get(onNode([], lookUp), 'http://rebound.example/a.png')).toBe('media-blocked')
      expect(lookUp.asked).toBe(1)
    },
  )

  test('the media fetcher for Node resolves a host name once per connection, so a later DNS change has no effect', async () => {
    const lookUp = resolving(['8.8.8.8'], ['127.0.0.1'])
    const got = await get(onNode([], lookUp), 'http://rebound.example/a.png', 300)
    expect(['media-late', 'media-unreachable', 'media-gone']).toContain(got)
    expect(lookUp.asked).toBe(1)
    expect(server.requests).toEqual([])
  })

  test('the media fetcher for Node resolves a host name again for the next connection', async () => {
    const lookUp = resolving(['127.0.0.1'], ['169.254.169.254'])
    const fetchMedia = onNode([], lookUp)
    expect(await get(fetchMedia, 'http://rebound.example/a.png')).toBe('media-blocked')
    expect(await get(fetchMedia, 'http://rebound.example/a.png')).toBe('media-blocked')
    expect(lookUp.asked).toBe(2)
  })

  test('the media fetcher for Node returns a fault for a host name without an address', async () => {
    expect(await get(onNode([], resolving([])), 'http://nowhere.example/')).toBe(
      'media-unreachable',
    )
  })
})
