/** The kinds of broken answers of an upstream, each made of the valid answer to the same request. */
import { STREAM_FAULTS } from '../../support/stream-faults.ts'
import type { Random } from './random.ts'
import type { BrokenAnswer, ValidAnswer } from './raw-upstream.ts'

export interface BrokenAnswerKind {
  readonly name: string
  readonly make: (valid: ValidAnswer, random: Random) => BrokenAnswer
  /** `complete`: HTTP or SSE allow the deviation, so the client gets the complete answer. */
  readonly expected?: 'complete'
  /** True if the text may arrive changed, e.g. because a byte of it was changed. */
  readonly changesText?: boolean
  /** True if the answer says that the request was not processed, so that it may be sent again. */
  readonly mayRepeat?: boolean
  /** True if it takes seconds, as a time limit has to expire. */
  readonly isSlow?: boolean
}

/** Formats a response head and its body. `closed`: the end of the connection ends the body. */
function format(
  { pieces, isStream }: Pick<ValidAnswer, 'pieces' | 'isStream'>,
  framing: 'chunked' | 'length' | 'closed' = isStream ? 'chunked' : 'length',
  status = '200 OK',
  headers: readonly string[] = [],
): readonly Buffer[] {
  const bodies = pieces.map((piece) => Buffer.from(piece))
  const length = bodies.reduce((sum, body) => sum + body.length, 0)
  const head = [
    `HTTP/1.1 ${status}`,
    `content-type: ${isStream ? 'text/event-stream' : 'application/json'}`,
    ...(framing === 'chunked' ? ['transfer-encoding: chunked'] : []),
    ...(framing === 'length' ? [`content-length: ${length}`] : []),
    ...(framing === 'closed' ? ['connection: close'] : []),
    ...headers,
    '\r\n',
  ].join('\r\n')
  if (framing !== 'chunked') return [Buffer.from(head), ...bodies]
  return [Buffer.from(head), ...bodies.map(formatChunk), Buffer.from('0\r\n\r\n')]
}

function formatChunk(body: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n')])
}

/** The kinds of which every request is an attempt of its own: another position, byte or value each time. */
export const RANDOM_KINDS: readonly BrokenAnswerKind[] = [
  ...(['chunked', 'closed'] as const).flatMap((framing) =>
    (['fin', 'reset'] as const).map((end): BrokenAnswerKind => ({
      name: `cut at a byte, ${framing}, ${end}`,
      make(valid, random) {
        const bytes = Buffer.concat(format(valid, framing))
        return { pieces: [bytes.subarray(0, random.below(bytes.length))], end }
      },
    })),
  ),
  {
    name: 'a changed byte',
    changesText: true,
    make(valid, random) {
      const bytes = Buffer.concat(format(valid))
      bytes[random.below(bytes.length)] = random.below(256)
      return { pieces: [bytes], end: 'fin' }
    },
  },
  {
    name: 'inserted bytes',
    changesText: true,
    make(valid, random) {
      const bytes = Buffer.concat(format(valid))
      const at = random.below(bytes.length)
      const garbage = random.bytes(1 + random.below(40))
      return { pieces: [bytes.subarray(0, at), garbage, bytes.subarray(at)], end: 'fin' }
    },
  },
  {
    name: 'bytes that are missing',
    changesText: true,
    make(valid, random) {
      const bytes = Buffer.concat(format(valid))
      const at = random.below(bytes.length)
      return {
        pieces: [bytes.subarray(0, at), bytes.subarray(at + 1 + random.below(200))],
        end: 'fin',
      }
    },
  },
  {
    name: 'a value of another type',
    changesText: true,
    make: (valid, random) => ({
      pieces: format({ ...valid, pieces: replaceValue(valid.pieces, random) }),
      end: 'open',
    }),
  },
  {
    name: 'a missing, doubled or moved event',
    changesText: true,
    make(valid, random) {
      const pieces = [...valid.pieces]
      const [piece = ''] = pieces.splice(random.below(pieces.length), 1)
      for (let copies = random.below(3); copies > 0; copies -= 1) {
        pieces.splice(random.below(pieces.length + 1), 0, piece)
      }
      return { pieces: format({ ...valid, pieces }), end: 'open' }
    },
  },
]

const OTHER_VALUES = [
  'null', 'true', '0', '-1', '1e999', '1e308', '9007199254740993', '""', '"x"', '[]', '{}', '[[]]', '[null]',
  '{"__proto__":{"a":1}}', '"\\ud800"', '"\\u0000"', '{"constructor":{"prototype":{}}}', `"${'y'.repeat(5000)}"`,
] // prettier-ignore

function replaceValue(pieces: readonly string[], random: Random): readonly string[] {
  const at = random.below(pieces.length)
  return pieces.map((piece, index) => {
    if (index !== at) return piece
    const values = [
      ...piece.matchAll(/:("(?:[^"\\]|\\.)*"|-?\d[\d.e+]*|true|false|null|\[\]|\{\})/g),
    ]
    if (values.length === 0) return piece
    const { index: start, 1: value = '' } = random.pick(values)
    return (
      piece.slice(0, start + 1) + random.pick(OTHER_VALUES) + piece.slice(start + 1 + value.length)
    )
  })
}

const raw = (
  name: string,
  text: string | Buffer,
  end: BrokenAnswer['end'] = 'fin',
): BrokenAnswerKind => ({
  name,
  make: () => ({ pieces: [text], end }),
})

/** Bytes before or instead of the answer that HTTP has clients ignore, or not. */
const withPrefix = (name: string, prefix: string, expected?: 'complete'): BrokenAnswerKind => ({
  name,
  make: (valid) => ({ pieces: [prefix, ...format(valid)], end: 'open' }),
  ...(expected && { expected }),
})

const withHeaders = (
  name: string,
  headers: readonly string[],
  framing?: 'chunked' | 'length' | 'closed',
): BrokenAnswerKind => ({
  name,
  changesText: true,
  make: (valid) => ({ pieces: format(valid, framing, '200 OK', headers), end: 'fin' }),
})

const withEvents = (
  name: string,
  change: (pieces: readonly string[]) => readonly string[],
  more: Partial<BrokenAnswerKind> = {},
): BrokenAnswerKind => ({
  name,
  changesText: true,
  make: (valid) => ({ pieces: format({ ...valid, pieces: change(valid.pieces) }), end: 'open' }),
  ...more,
})

const STATUSES = [
  '204 No Content', '205 Reset Content', '206 Partial Content', '301 Moved', '302 Found', '303 See Other', '304 Not Modified',
  '307 Temporary Redirect', '308 Permanent Redirect', '400 Bad Request', '401 Unauthorized', '402 Payment Required',
  '403 Forbidden', '404 Not Found', '408 Timeout', '409 Conflict', '418 Teapot', '421 Misdirected', '425 Too Early',
  '429 Too Many Requests', '451 Unavailable', '499 Closed', '500 Error', '501 Not Implemented', '502 Bad Gateway',
  '503 Unavailable', '504 Timeout', '520 Unknown', '529 Overloaded', '599 Odd', '600 Odd', '999 Odd',
] // prettier-ignore

const ERROR_BODIES = ['', '{"error":{"message":"No."}}', '<html>No.</html>', '{"error":[[[', 'null']

/** More would take too long on a busy machine. */
const SINGLE_BYTES = 1000

export const FIXED_KINDS: readonly BrokenAnswerKind[] = [
  raw('FIN before any byte', ''),
  raw('RST before any byte', '', 'reset'),
  raw('half of a status line', 'HTTP/1.1 20'),
  raw('a status line only', 'HTTP/1.1 200 OK\r\n'),
  raw('no HTTP', 'SSH-2.0-OpenSSH_9.9\r\n'),
  raw('a TLS alert', Buffer.from('1503030002022a', 'hex')),
  raw('HTTP/2', Buffer.from('505249202a20485454502f322e300d0a0d0a534d0d0a0d0a', 'hex')),
  raw('HTTP/0.9', '<html>hello</html>'),
  raw('binary garbage', Buffer.from(Array.from({ length: 5000 }, (_, at) => (at * 7919) % 256))),
  raw('an empty body', 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n', 'open'),
  raw(
    '101 without an upgrade',
    'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
  ),
  raw('only 1xx', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(50)),
  raw('headers without end', `HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(5000)}`),
  raw('a status that is no number', 'HTTP/1.1 abc OK\r\ncontent-length: 2\r\n\r\n{}'),
  raw('a NUL in a header', 'HTTP/1.1 200 OK\r\na: \0\r\ncontent-length: 2\r\n\r\n{}'),
  withPrefix('103 before the answer', 'HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n', 'complete'),
  withPrefix('102 before the answer', 'HTTP/1.1 102 Processing\r\n\r\n', 'complete'),
  // HTTP has clients ignore this, too, but undici takes it for a broken answer.
  withPrefix('100 before the answer', 'HTTP/1.1 100 Continue\r\n\r\n'),
  withPrefix('empty lines before the answer', '\r\n\r\n'),
  withHeaders('a header of 20 KB', [`x-long: ${'x'.repeat(20_000)}`]),
  withHeaders(
    '1,000 headers',
    Array.from({ length: 1000 }, (_, at) => `x-${at}: 1`),
  ),
  withHeaders('two different lengths', ['content-length: 5'], 'length'),
  withHeaders('a length beside chunks', ['content-length: 5'], 'chunked'),
  withHeaders('a length that is too long', ['content-length: 10000000'], 'closed'),
  withHeaders('a length that is too short', ['content-length: 20'], 'closed'),
  withHeaders('a negative length', ['content-length: -1'], 'closed'),
  withHeaders('an encoding that nothing has', ['content-encoding: br'], 'closed'),
  {
    name: 'FIN behind a complete answer',
    expected: 'complete',
    make: (valid) => ({ pieces: [Buffer.concat(format(valid))], end: 'fin' }),
  },
  {
    name: 'a complete answer until the connection closes',
    expected: 'complete',
    make: (valid) => ({ pieces: format(valid, 'closed'), end: 'fin' }),
  },
  {
    name: 'RST behind a complete answer',
    make: (valid) => ({ pieces: [Buffer.concat(format(valid))], end: 'reset' }),
  },
  {
    name: 'two answers at once',
    changesText: true,
    make: (valid) => ({
      pieces: [Buffer.concat([...format(valid), ...format(valid)])],
      end: 'open',
    }),
  },
  {
    name: 'one byte at a time',
    expected: 'complete',
    isSlow: true,
    make(valid) {
      const bytes = Buffer.concat(format(valid))
      const single = Array.from(bytes.subarray(0, SINGLE_BYTES), (byte) => Buffer.from([byte]))
      return { pieces: [...single, bytes.subarray(SINGLE_BYTES)], end: 'open', gapMs: 0 }
    },
  },
  {
    name: 'a bad chunk size',
    make: (valid) => ({
      pieces: [format(valid, 'chunked')[0] ?? '', 'xyz\r\n{}\r\n0\r\n\r\n'],
      end: 'open',
    }),
  },
  {
    name: 'an endless chunk size',
    make: (valid) => ({
      pieces: [format(valid, 'chunked')[0] ?? '', `${'F'.repeat(16)}\r\n{`],
      end: 'fin',
    }),
  },
  {
    name: 'trailers and chunk extensions',
    expected: 'complete',
    make: (valid) => ({
      pieces: [
        ...format(valid, 'chunked')
          .slice(0, -1)
          .map((piece, at) =>
            at === 0 ? piece : piece.toString('latin1').replace('\r\n', ';a=b\r\n'),
          )
          .map((piece) => (typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece)),
        '0\r\nx-trailer: 1\r\n\r\n',
      ],
      end: 'open',
    }),
  },
  { name: 'silence', isSlow: true, make: () => ({ pieces: [], end: 'open' }) },
  {
    name: 'silence behind the headers',
    isSlow: true,
    make: (valid) => ({ pieces: format(valid).slice(0, 1), end: 'open' }),
  },
  {
    name: 'silence in the middle',
    isSlow: true,
    make(valid) {
      const bytes = Buffer.concat(format(valid))
      return { pieces: [bytes.subarray(0, bytes.length >> 1)], end: 'open' }
    },
  },
  ...STATUSES.flatMap((status) =>
    ERROR_BODIES.map((body): BrokenAnswerKind => ({
      name: `status ${status} with "${body}"`,
      mayRepeat: status.startsWith('421'),
      changesText: true,
      make: () => ({
        pieces: format({ pieces: [body], isStream: false }, 'length', status, [
          'location: http://127.0.0.1:1/',
        ]),
        end: 'fin',
      }),
    })),
  ),
  ...STREAM_FAULTS.map(({ name, frames }): BrokenAnswerKind => ({
    name,
    changesText: true,
    make: (valid) => {
      const pieces = valid.isStream ? frames(valid.pieces, valid.wire) : valid.pieces
      return { pieces: format({ ...valid, pieces }), end: 'open' }
    },
  })),
  withEvents('a byte order mark', ([first = '', ...rest]) => [`\uFEFF${first}`, ...rest]),
  withEvents('CR as line ending', (pieces) =>
    pieces.map((piece) => piece.replaceAll(/\r?\n/g, '\r')),
  ),
  withEvents('comments and unknown fields', (pieces) =>
    pieces.flatMap((piece) => [': wait\n\n', `id: 7\nretry: 1\nfoo: bar\n\n`, piece]),
  ),
  withEvents('5 MB of empty lines', (pieces) => ['\n'.repeat(5_000_000), ...pieces]),
  withEvents('a NUL between events', (pieces) => pieces.flatMap((piece) => [piece, '\0'])),
  withEvents('deep nesting', ([first = '', ...rest]) => [
    first,
    `data: {"a":${'['.repeat(100_000)}\n\n`,
    ...rest,
  ]),
  withEvents(
    'a line of 17 MB',
    ([first = '', ...rest]) => [first, `data: ${'x'.repeat(17_000_000)}`, ...rest],
    { isSlow: true },
  ),
  withEvents('[DONE] first', (pieces) => ['data: [DONE]\n\n', ...pieces]),
  withEvents('events behind the end', (pieces) => [...pieces, ...pieces.slice(-3), 'data: {}\n\n']),
  withEvents('numbers instead of events', () => [
    'data: 1\n\n',
    'data: "x"\n\n',
    'data: null\n\n',
    'data: []\n\n',
  ]),
]
