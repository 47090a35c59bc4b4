/**
 * Prepared responses of the mock upstream: a Chat Completions answer in OpenAI's shape and size, as one body
 * or as a stream with one HTTP chunk per event.
 */
import { MARKS_IN_JSON_ANSWER, prose, tokenText } from './traffic.ts'
import type { AnswerKind } from './traffic.ts'

export interface PreparedResponse {
  readonly first: Buffer
  readonly rest: readonly Buffer[]
  readonly gapMs: number
  readonly thinkMs: number
}

export function prepareResponse(answer: AnswerKind): PreparedResponse {
  if (answer.kind === 'json') return { first: jsonResponse(), rest: [], gapMs: 0, thinkMs: 0 }
  const start = Buffer.concat([STREAM_HEAD, frame(event({ role: 'assistant', content: '' }, null))])
  if (answer.kind === 'hold') {
    return { first: Buffer.concat([start, token(0)]), rest: [], gapMs: 0, thinkMs: 0 }
  }
  const tokens = Array.from({ length: answer.chunks }, (_, at) => token(at))
  const thoughts = Array.from({ length: answer.thoughts }, () => THOUGHT)
  const all = [...thoughts, ...tokens, ENDING]
  const { perSecond, thinkMs } = answer
  return perSecond > 0
    ? { first: start, rest: all, gapMs: 1000 / perSecond, thinkMs }
    : { first: start, rest: packFrames(all), gapMs: 0, thinkMs }
}

export function wholeText(): string {
  return Array.from({ length: MARKS_IN_JSON_ANSWER }, (_, at) => prose(String(at), 16)).join('')
}

export function refusal(message: string): Buffer {
  return jsonBytes('400 Bad Request', { error: { message, type: 'invalid_request_error' } })
}

const COMMON = {
  id: 'chatcmpl-C9aBcDeFgHiJkLmNoPqRsTuVwXyZ0',
  created: 1789000000,
  model: 'gpt-5.1-2026-02-01',
  service_tier: 'default',
  system_fingerprint: 'fp_44709d6fcb',
}

const STREAM_HEAD = Buffer.from(
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n' +
    'cache-control: no-cache\r\nx-request-id: req_bench\r\ntransfer-encoding: chunked\r\n\r\n',
)
const ENDING = Buffer.concat([
  frame(event({}, 'stop')),
  frame('data: [DONE]\n\n'),
  Buffer.from('0\r\n\r\n'),
])
const THOUGHT = frame(event({ reasoning_content: 'Let me think. ' }, null))

function token(at: number): Buffer {
  return frame(event({ content: tokenText(at) }, null))
}

function event(delta: object, finishReason: string | null): string {
  const choices = [{ index: 0, delta, logprobs: null, finish_reason: finishReason }]
  const chunk = { ...COMMON, object: 'chat.completion.chunk', choices, obfuscation: 'kQ3xZ81' }
  return `data: ${JSON.stringify(chunk)}\n\n`
}

function frame(text: string): Buffer {
  return Buffer.from(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`)
}

function jsonResponse(): Buffer {
  const message = { role: 'assistant', content: wholeText(), refusal: null, annotations: [] }
  const choices = [{ index: 0, message, logprobs: null, finish_reason: 'stop' }]
  const usage = { prompt_tokens: 210, completion_tokens: 160, total_tokens: 370 }
  return jsonBytes('200 OK', { ...COMMON, object: 'chat.completion', choices, usage })
}

function jsonBytes(status: string, value: object): Buffer {
  const body = JSON.stringify(value)
  const length = Buffer.byteLength(body)
  const head = `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\nx-request-id: req_bench\r\n`
  return Buffer.from(`${head}content-length: ${length}\r\n\r\n${body}`)
}

/** Packs a burst into writes of about 16 KB, as a proxy or TLS before a provider sends it. */
function packFrames(frames: readonly Buffer[]): readonly Buffer[] {
  const writes: Buffer[] = []
  let group: Buffer[] = []
  let size = 0
  for (const next of frames) {
    group.push(next)
    size += next.length
    if (size < 16_000) continue
    writes.push(Buffer.concat(group))
    group = []
    size = 0
  }
  return group.length === 0 ? writes : [...writes, Buffer.concat(group)]
}
