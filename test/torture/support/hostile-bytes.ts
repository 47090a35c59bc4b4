/** Bytes with which a client may try to confuse a server: requests, upgrades and frames of WebSockets. */
import type { Random } from './random.ts'

export interface HostileBytes {
  readonly name: string
  /** The pieces are written one after the other. */
  readonly pieces: readonly Buffer[]
}

const CHAT_BODY = '{"model":"m","messages":[{"role":"user","content":"Hi"}]}'

const TARGETS = [
  '/', '*', '//', '/v1/responses', '/v1/models', '/v1/chat/completions', '//v1//chat/completions', '/v1/v1/responses',
  '/v1/chat%2fcompletions', '/v1/chat%2Fcompletions', '/v1/chat%252fcompletions', '/v1%2fchat/completions', '/V1/chat/completions',
  '/v1/Chat/Completions', '/v1/chat/completions;x=1', '/v1/responses;x', '/v1/..%2fadmin', '/v1/../admin', '/v1/./chat/completions',
  '/v1/embeddings/../chat/completions', '/v1/embeddings/..%2fchat/completions', '/v1/%2e%2e/chat/completions', '/v1/embeddings%00',
  '/v1/embeddings?x=%0d%0aHost:%20evil', '/v1/embeddings#x', '/v1/embeddings%20', '/v1/embeddings\\..\\chat', '/v1\\models',
  '/v1/files', '/v1/files/file-1/content', '/v1/organization/costs', '/v1/organization/admin_api_keys', '/v1/batches', '/v1/threads',
  '/v1/vector_stores', '/v1/fine_tuning/jobs', '/v1/assistants', '/v1/containers', '/v1/evals', '/v1/models/m', '/v1/models/%2e%2e/files',
  '/v1/audio/../files', '/v1/images/generations/../../files', '/files', '/organization/costs', '/healthz', '/favicon.ico',
  'http://127.0.0.1/v1/models', 'http://user:pass@localhost/v1/responses', 'http://a@b/v1/chat/completions', 'https://evil.example/v1/files',
  'http://[::1/v1/responses', 'ftp://x/v1/responses', 'javascript:alert(1)', 'evil.example:443', `/v1/${'a'.repeat(20_000)}`,
  '/v1/responses/resp_01M7R8WH3CG7NWY4TNQS', '/v1/responses/%00', '/v1/responses/resp_%2e%2e%2f', '/v1/conversations/conv_%ff/items',
  '/v1/chat/completions?limit=-1', '/v1/chat/completions?limit=1e9', '/v1/chat/completions?after=%00', '/v1/\u00e9', '/v1/responses?stream=true',
] // prettier-ignore

const HOSTS = [
  'localhost', '', 'a@b', 'user:pass@localhost', '[', '[::1', 'a b', 'localhost:99999', 'localhost:-1', 'a/b', 'a\\b', 'a?b', 'a#b',
  '127.0.0.1:80, evil', 'x'.repeat(9000), 'é', '%00', 'localhost\0', '..', '[::ffff:127.0.0.1]', '0x7f.1', 'localhost:',
] // prettier-ignore

const METHODS = [
  'GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'CONNECT', 'PROPFIND', 'SEARCH', 'PURGE', 'M-SEARCH', 'QUERY',
  'get', 'FOO', 'G ET', '', 'POST\0',
] // prettier-ignore

const UPGRADE = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
]

/** Headers that describe the body, or the connection, in ways that two servers may read differently. */
const FRAMINGS: readonly (readonly [headers: readonly string[], body: string])[] = [
  [['Content-Length: 5', 'Content-Length: 50'], CHAT_BODY],
  [['Content-Length: 5', 'Transfer-Encoding: chunked'], `0\r\n\r\n${smuggled()}`],
  [['Transfer-Encoding: chunked', 'Content-Length: 4'], `1\r\nZ\r\nQ\r\n\r\n${smuggled()}`],
  [['Transfer-Encoding: xchunked', 'Content-Length: 4'], `5c\r\n${smuggled()}0\r\n\r\n`],
  [['Transfer-Encoding: chunked, identity'], `0\r\n\r\n${smuggled()}`],
  [['Transfer-Encoding : chunked', 'Content-Length: 3'], `0\r\n\r\n${smuggled()}`],
  [[' Transfer-Encoding: chunked', 'Content-Length: 3'], `0\r\n\r\n${smuggled()}`],
  [
    ['Transfer-Encoding:\tchunked\r\nTransfer-Encoding: x', 'Content-Length: 3'],
    `0\r\n\r\n${smuggled()}`,
  ],
  [['Content-Length: +5'], 'hello'],
  [['Content-Length: -5'], 'hello'],
  [['Content-Length: 0x5'], 'hello'],
  [['Content-Length: 99999999999999999999'], 'hello'],
  [['Content-Length: 5,5'], 'hello'],
  [['Transfer-Encoding: chunked'], 'zz\r\nhello\r\n0\r\n\r\n'],
  [['Transfer-Encoding: chunked'], 'ffffffffffffffffff\r\nhello'],
  [['Transfer-Encoding: chunked'], '5\r\nhelloX\r\n0\r\n\r\n'],
  [['Transfer-Encoding: chunked'], `5;${'a'.repeat(20_000)}\r\nhello\r\n0\r\n\r\n`],
  [['Transfer-Encoding: chunked'], `5\nhello\n0\n\n${smuggled()}`],
  [
    ['Transfer-Encoding: chunked', 'Trailer: x'],
    `0\r\nAuthorization: Bearer x\r\nHost: evil\r\n\r\n`,
  ],
  [['Expect: 100-continue', 'Content-Length: 5'], 'hello'],
  [['Expect: 200-ok', 'Content-Length: 5'], 'hello'],
  [['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__'], ''],
  [['Connection: content-length, host', `Content-Length: ${CHAT_BODY.length}`], CHAT_BODY],
  [[`X-Long: ${'x'.repeat(100_000)}`], ''],
  [Array.from({ length: 3000 }, (_, at) => `X-${at}: 1`), ''],
  [['X-Bad: a\0b'], ''],
  [['X-Bad: a\r b\r\n folded'], ''],
  [['No colon'], ''],
  [[': no name'], ''],
  [['Content-Encoding: gzip', 'Content-Length: 5'], 'hello'],
  [['Range: bytes=0-', 'If-None-Match: *', 'Origin: null', 'Cookie: a=b'], ''],
]

/** A second request inside of a body, which must not be taken for a request. */
function smuggled(): string {
  return 'DELETE /v1/files/smuggled HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer sk-hostile\r\n\r\n'
}

const KEY = 'Authorization: Bearer sk-hostile'

function request(
  method: string,
  target: string,
  host: string,
  headers: readonly string[],
  body = '',
): Buffer {
  const lines = [`${method} ${target} HTTP/1.1`, `Host: ${host}`, ...headers, '', body]
  return Buffer.from(lines.join('\r\n'), 'latin1')
}

/** Every listed request, without and with a key, and as an upgrade. */
export function listHostileRequests(): readonly HostileBytes[] {
  const jsonHeaders = [KEY, 'Content-Type: application/json', `Content-Length: ${CHAT_BODY.length}`]
  const one = (name: string, bytes: Buffer): HostileBytes => ({ name, pieces: [bytes] })
  return [
    ...TARGETS.flatMap((target) => [
      one(`GET ${target}`, request('GET', target, 'localhost', [])),
      one(`GET ${target} with a key`, request('GET', target, 'localhost', [KEY])),
      one(`POST ${target}`, request('POST', target, 'localhost', jsonHeaders, CHAT_BODY)),
      one(`DELETE ${target}`, request('DELETE', target, 'localhost', [KEY])),
      one(`upgrade ${target}`, request('GET', target, 'localhost', UPGRADE)),
      one(`upgrade ${target} with a key`, request('GET', target, 'localhost', [KEY, ...UPGRADE])),
      one(
        `upgrade by POST ${target}`,
        request('POST', target, 'localhost', [...jsonHeaders, ...UPGRADE], CHAT_BODY),
      ),
    ]),
    ...HOSTS.flatMap((host) => [
      one(`Host: ${host}`, request('GET', '/v1/models', host, [KEY])),
      one(`upgrade, Host: ${host}`, request('GET', '/v1/responses', host, [KEY, ...UPGRADE])),
      one(`POST, Host: ${host}`, request('POST', '/v1/embeddings', host, jsonHeaders, CHAT_BODY)),
    ]),
    ...METHODS.flatMap((method) =>
      ['/v1/embeddings', '/v1/files', '/v1/responses', '/v1/models', '*'].map((target) =>
        one(`${method} ${target}`, request(method, target, 'localhost', jsonHeaders, CHAT_BODY)),
      ),
    ),
    ...FRAMINGS.flatMap(([headers, body]) =>
      ['/v1/chat/completions', '/v1/embeddings', '/v1/responses'].flatMap((target) => [
        one(
          `${headers.join(' ').slice(0, 80)} to ${target}`,
          request(
            'POST',
            target,
            'localhost',
            [KEY, 'Content-Type: application/json', ...headers],
            body,
          ),
        ),
        one(
          `upgrade, ${headers.join(' ').slice(0, 80)}`,
          request('GET', target, 'localhost', [KEY, ...UPGRADE, ...headers], body),
        ),
      ]),
    ),
    one('no Host', Buffer.from('GET /v1/models HTTP/1.1\r\n\r\n')),
    one('HTTP/1.0', Buffer.from('GET /v1/models HTTP/1.0\r\n\r\n')),
    one('HTTP/9.9', Buffer.from('GET /v1/models HTTP/9.9\r\nHost: x\r\n\r\n')),
    one('HTTP/2', Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')),
    one('TLS', Buffer.from('16030100c8010000c40303', 'hex')),
    one('only line ends', Buffer.from('\r\n'.repeat(1000))),
    one('only NUL', Buffer.alloc(5000)),
    one('two hosts', Buffer.from('GET /v1/models HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n')),
    one(
      '200 requests at once',
      Buffer.concat(Array.from({ length: 200 }, () => request('GET', '/healthz', 'x', []))),
    ),
    ...['', 'x', '!!!', 'dGhlIHNhbXBsZSBub25jZQ'].map((key) =>
      one(
        `WebSocket key "${key}"`,
        request('GET', '/v1/responses', 'x', [
          KEY,
          ...UPGRADE.slice(0, 3),
          `Sec-WebSocket-Key: ${key}`,
        ]),
      ),
    ),
    ...['0', '8', '99', 'x'].map((version) =>
      one(
        `WebSocket version ${version}`,
        request('GET', '/v1/responses', 'x', [
          KEY,
          ...UPGRADE.slice(0, 2),
          `Sec-WebSocket-Version: ${version}`,
          UPGRADE[3] as string,
        ]),
      ),
    ),
    ...[
      'permessage-deflate',
      'permessage-deflate; server_max_window_bits=99',
      'x'.repeat(5000),
      ';;,,=',
    ].map((extension) =>
      one(
        `extension ${extension.slice(0, 40)}`,
        request('GET', '/v1/responses', 'x', [
          KEY,
          ...UPGRADE,
          `Sec-WebSocket-Extensions: ${extension}`,
        ]),
      ),
    ),
    ...listHostileFrames(),
  ]
}

/** Changes, removes, doubles or cuts bytes of a listed request, and splits it at random. */
export function mutate({ name, pieces }: HostileBytes, random: Random): HostileBytes {
  // A change can make the request inside of a body a second request, which is allowed.
  const text = Buffer.concat(pieces).toString('latin1').replaceAll('smuggled', 'followed')
  let bytes = Buffer.from(text, 'latin1')
  for (let changes = 1 + random.below(4); changes > 0; changes -= 1) {
    const at = random.below(bytes.length + 1)
    const end = Math.min(bytes.length, at + 1 + random.below(8))
    const inserted = random.pick([
      random.bytes(1 + random.below(6)),
      Buffer.from(
        random.pick(['\r\n', '\0', '%2f', '@', ' ', ':', '\r\n\r\n', '../', '"', '[', '\xff']),
      ),
      bytes.subarray(at, end),
      Buffer.alloc(0),
    ])
    bytes = Buffer.concat([bytes.subarray(0, at), inserted, bytes.subarray(random.pick([at, end]))])
  }
  const cut = random.below(bytes.length + 1)
  return { name: `${name}, changed`, pieces: [bytes.subarray(0, cut), bytes.subarray(cut)] }
}

/** Formats a frame of a client. `length` is the claimed length, by default the real one. */
function frame(
  firstByte: number,
  payload: string | Buffer,
  { isMasked = true, length }: { readonly isMasked?: boolean; readonly length?: bigint } = {},
): Buffer {
  const body = Buffer.from(payload)
  const claimed = length ?? BigInt(body.length)
  const mask = isMasked ? 0x80 : 0
  const head = Buffer.alloc(10)
  head[0] = firstByte
  head[1] = mask | 127
  head.writeBigUInt64BE(claimed, 2)
  const short = claimed < 126n ? Buffer.from([firstByte, mask | Number(claimed)]) : head
  // A mask of zeros leaves the payload as it is.
  return Buffer.concat([short, ...(isMasked ? [Buffer.alloc(4)] : []), body])
}

function listHostileFrames(): readonly HostileBytes[] {
  const upgrade = request('GET', '/v1/responses', 'localhost', [KEY, ...UPGRADE])
  const create = '{"type":"response.create","model":"m","input":"Hi"}'
  const frames: Readonly<Record<string, readonly Buffer[]>> = {
    'a valid request': [frame(0x81, create)],
    'no mask': [frame(0x81, create, { isMasked: false })],
    'reserved bits': [frame(0xf1, create), frame(0xc1, create)],
    'unknown opcodes': [3, 4, 7, 0xb, 0xf].map((opcode) => frame(0x80 | opcode, 'x')),
    'a continuation of nothing': [frame(0x80, 'x')],
    'a text inside of a text': [frame(0x01, '{"a'), frame(0x81, create)],
    'a fragmented ping': [frame(0x09, 'x'), frame(0x80, 'y')],
    'a ping of 200 bytes': [frame(0x89, 'x'.repeat(200))],
    pings: Array.from({ length: 500 }, () => frame(0x89, 'x')),
    pongs: Array.from({ length: 500 }, () => frame(0x8a, '')),
    'a length of 2^63': [frame(0x81, 'x', { length: 1n << 63n })],
    'a length of 2^62': [frame(0x81, 'x', { length: 1n << 62n })],
    'a length of 200 MB': [frame(0x81, 'x', { length: 200_000_000n })],
    'a long length of a short text': [Buffer.from([0x81, 0xfe, 0, 1, 0, 0, 0, 0, 0x78])],
    'no valid UTF-8': [frame(0x81, Buffer.from([0xff, 0xfe, 0xc0, 0x80]))],
    binary: [frame(0x82, create)],
    'an empty text': [frame(0x81, '')],
    '1,000 empty fragments': [
      frame(0x01, ''),
      ...Array.from({ length: 1000 }, () => frame(0x00, '')),
      frame(0x80, create),
    ],
    'no JSON': [frame(0x81, 'hello')],
    'deep JSON': [frame(0x81, '['.repeat(100_000))],
    'JSON of other types': [
      '1',
      'null',
      '[]',
      '"x"',
      '{}',
      '{"type":1}',
      '{"type":"__proto__"}',
    ].map((text) => frame(0x81, text)),
    'wrong fields': [
      frame(0x81, '{"type":"response.create","model":{},"input":[[[]]],"stream_id":{}}'),
    ],
    'many requests at once': Array.from({ length: 50 }, () => frame(0x81, create)),
    'a close without a code': [frame(0x88, '')],
    'a close of one byte': [frame(0x88, 'x')],
    'a close with a reserved code': [
      frame(0x88, Buffer.from([3, 0xed])),
      frame(0x88, Buffer.from([0, 0])),
    ],
    'a request behind a close': [frame(0x88, Buffer.from([3, 0xe8])), frame(0x81, create)],
    'half of a frame': [frame(0x81, create).subarray(0, 20)],
    'HTTP instead of a frame': [request('GET', '/healthz', 'x', [])],
    'a request in pieces of one byte': Array.from(frame(0x81, create), (byte) =>
      Buffer.from([byte]),
    ),
  }
  return Object.entries(frames).flatMap(([name, pieces]) => [
    { name: `frames: ${name}`, pieces: [upgrade, ...pieces] },
    // `ws` gets the first frame together with the request.
    { name: `frames at once: ${name}`, pieces: [Buffer.concat([upgrade, ...pieces])] },
  ])
}
