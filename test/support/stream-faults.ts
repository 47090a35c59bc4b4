/** Faults in the stream of a service, and the expected result for each. */
import { splitIntoPieces } from './services/service.ts'
import type { WireModel } from './wire-models.ts'

type Wire = WireModel['wire']

export interface StreamFault {
  readonly name: string
  readonly frames: (frames: readonly string[], wire: Wire) => readonly string[]
  /** The expected error; null if the answer is complete despite the fault. */
  readonly fails: RegExp | null
  /** The expected text; by default the full one. */
  readonly said?: RegExp
}

const BROKE_OFF = /broke off|without a last word|without an answer/
const NOT_JSON = /not JSON/
const SOME = /^You said/

export const STREAM_FAULTS: readonly StreamFault[] = [
  {
    name: 'a piece of JSON that breaks off',
    frames: (frames, wire) => insertFrame(frames, wire, BROKEN_JSON[wire]),
    fails: NOT_JSON,
    said: SOME,
  },
  {
    name: 'a web page in the middle',
    frames: (frames, wire) => insertFrame(frames, wire, 'data: <html>Bad gateway</html>\n\n'),
    fails: NOT_JSON,
    said: SOME,
  },
  {
    name: 'events that nobody knows',
    frames: (frames, wire) =>
      insertFrame(frames, wire, 'event: surprise\ndata: {"type":"surprise","new":1}\n\n'),
    fails: null,
  },
  {
    name: 'an error behind a good beginning',
    frames: (frames, wire) => [...framesBeforeText(frames, wire), ERRORS[wire]],
    fails: /The engine is on fire/,
    said: SOME,
  },
  {
    name: 'an error and nothing else',
    frames: (_, wire) => [ERRORS[wire]],
    fails: /The engine is on fire/,
    said: /^$/,
  },
  {
    name: 'no ending',
    frames: (frames, wire) => framesBeforeText(frames, wire),
    fails: BROKE_OFF,
    said: SOME,
  },
  {
    name: 'an end in the middle of an event',
    frames(frames, wire) {
      const start = framesBeforeText(frames, wire)
      return [...start, (frames[start.length] ?? '').slice(0, -20)]
    },
    fails: /broke off|not JSON/,
    said: SOME,
  },
  { name: 'nothing at all', frames: () => [], fails: BROKE_OFF, said: /^$/ },
  {
    name: 'nothing but comments',
    frames: () => [': wait\n\n', ': wait\n\n'],
    fails: BROKE_OFF,
    said: /^$/,
  },
  {
    name: 'a web page instead of events',
    frames: () => ['<!doctype html><title>Sign in</title><p>data: x</p>\n'],
    fails: BROKE_OFF,
    said: /^$/,
  },
  {
    name: 'everything twice',
    frames: (frames) => [...frames, ...frames],
    fails: null,
  },
]

/** Inserts a frame in the middle of the text. */
function insertFrame(frames: readonly string[], wire: Wire, frame: string): readonly string[] {
  const start = framesBeforeText(frames, wire)
  return [...start, frame, ...frames.slice(start.length)]
}

/** Returns the frames up to the first piece of text after the reasoning. */
function framesBeforeText(frames: readonly string[], wire: Wire): readonly string[] {
  const [first = ''] = splitIntoPieces('You said “Servus”. Grüezi 🦊!')
  const at = frames.findIndex((frame) => frame.includes(JSON.stringify(first)))
  if (at < 0) throw new Error(`There is no text in the stream of ${wire}.`)
  return frames.slice(0, at + 1)
}

const BROKEN_JSON: Readonly<Record<Wire, string>> = {
  chat: 'data: {"id":"x","choices":[{"index":0,"delta":{"content":"\n\n',
  responses:
    'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","del\n\n',
  anthropic: 'event: content_block_delta\ndata: {"type":"content_block_delta","index":1,"de\n\n',
  gemini: 'data: {"candidates":[{"content":{"parts":[{"te\r\n\r\n',
}

const ON_FIRE = 'The engine is on fire.'

const ERRORS: Readonly<Record<Wire, string>> = {
  chat: `data: ${JSON.stringify({ error: { message: ON_FIRE, type: 'server_error', code: 500 } })}\n\n`,
  responses: `event: error\ndata: ${JSON.stringify({
    type: 'error',
    error: { type: 'server_error', code: 'server_error', message: ON_FIRE, param: null },
    sequence_number: 90,
  })}\n\n`,
  anthropic: `event: error\ndata: ${JSON.stringify({
    type: 'error',
    error: { type: 'overloaded_error', message: ON_FIRE },
  })}\n\n`,
  gemini: `data: ${JSON.stringify({
    error: { code: 503, message: ON_FIRE, status: 'UNAVAILABLE' },
  })}\r\n\r\n`,
}
