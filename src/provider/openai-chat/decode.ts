/**
 * A stream of Chat Completions chunks as events. It takes what the services in the facts really send
 * (ids and indices missing or repeated, usage anywhere, errors next to choices, no ending mark) and
 * never throws. The ending waits for `[DONE]` or the end of the body, because usage may come behind
 * the reason to finish.
 */
import type { Failure, StreamEvent, Usage } from '../../conversation/event.ts'
import { isObject, type Json, type JsonObject } from '../../conversation/json.ts'
import { failureOf } from '../../errors.ts'
import { NOTHING } from '../../stream/stage.ts'
import type { Decoder } from '../provider.ts'
import { failureOfChunk } from './failure.ts'
import { finishOf } from './finish.ts'
import { openAnswer } from './open-answer.ts'
import { readDelta } from './read-delta.ts'
import type { Maker } from './sealed.ts'
import { thinkTags, type ThinkTags } from './think-tags.ts'
import { readUsage } from './usage.ts'
import { textIn, type Choice, type Chunk } from './wire.ts'

export interface DecodeOptions {
  readonly thinkTags: true | 'unopened' | undefined
  /** Names of custom tools that went out disguised as functions. */
  readonly wrapped: ReadonlySet<string>
  /** Whose the answer is, where the client is to keep what must come back of it. */
  readonly maker: Maker | null
}

export function chatDecoder(options: DecodeOptions): Decoder {
  const reader = chunkReader(options)
  return {
    push({ event, data }) {
      if (reader.isOver() || data === '') return NOTHING
      if (data.startsWith('[DONE]')) return reader.done()
      let json: unknown
      try {
        json = JSON.parse(data)
      } catch {
        return reader.failed(event === 'error' ? failureOfChunk(data) : BROKEN_JSON)
      }
      return isObject(json) ? reader.chunk(json) : NOTHING
    },
    end: () => (reader.isOver() ? NOTHING : reader.bodyOver()),
  }
}

const BROKEN_JSON = failureOf('upstream_broken', 'The upstream sent a chunk that is not JSON.')
const CUT = failureOf('upstream_broken', 'The upstream broke off in the middle of its answer.')
const EMPTY = failureOf('upstream_broken', 'The upstream ended its stream without an answer.')
const NAMELESS = failureOf('upstream_broken', 'The upstream made a tool call without a name.')

export interface ChunkReader {
  readonly chunk: (chunk: Chunk) => readonly StreamEvent[]
  /** The upstream says that it is done. */
  readonly done: () => readonly StreamEvent[]
  /** The body is over, whether the upstream was done or not. */
  readonly bodyOver: () => readonly StreamEvent[]
  readonly failed: (failure: Failure) => readonly StreamEvent[]
  readonly isOver: () => boolean
}

export function chunkReader({ thinkTags: tags, wrapped, maker }: DecodeOptions): ChunkReader {
  let events: StreamEvent[] = []
  let started = false
  let over = false
  let seen = false
  let upstreamId = ''
  let created = 0
  let finish = ''
  let usage: Usage | null = null
  let closed = false

  const emit = (event: StreamEvent): void => void events.push(event)
  const seed = (): string => `${upstreamId} ${created}`
  const answer = openAnswer({ emit, seed, wrapped, maker })
  const filter: ThinkTags | null =
    tags === undefined
      ? null
      : thinkTags(tags, answer.text, (text) => answer.reasoning(text, 'content'))
  const said = filter?.push ?? answer.text

  const take = (): readonly StreamEvent[] => {
    if (events.length === 0) return NOTHING
    const taken = events
    events = []
    return taken
  }
  const start = (model: string | null): void => {
    if (started) return
    started = true
    const id = upstreamId === '' ? null : upstreamId
    emit({ type: 'answer-started', upstreamId: id, model })
  }
  const failed = (failure: Failure): readonly StreamEvent[] => {
    start(null)
    over = true
    filter?.end()
    answer.end(false)
    emit({ type: 'answer-failed', failure, usage })
    return take()
  }
  const done = (): readonly StreamEvent[] => {
    if (!seen) return failed(EMPTY)
    filter?.end()
    if (answer.hasNamelessCall()) return failed(NAMELESS)
    const ending = finishOf(finish)
    if (ending === 'broken') return failed(CUT)
    start(null)
    over = true
    answer.end(true)
    emit({ type: 'answer-ended', finish: ending, usage })
    return take()
  }
  const readHead = (chunk: Chunk, choice: Choice | null): void => {
    upstreamId = textIn(chunk.id)
    if (typeof chunk.created === 'number') created = chunk.created
    // Azure speaks about the prompt first, without an id.
    if (upstreamId !== '' || choice !== null) start(textIn(chunk.model) || null)
  }

  return {
    chunk(chunk) {
      const error = errorIn(chunk)
      const choice = firstChoice(chunk.choices)
      if (!started) readHead(chunk, choice)
      const cost = readUsage(chunk.usage ?? groqUsage(chunk))
      if (cost !== null) usage = cost
      if (error !== null) return failed(failureOfChunk(error))
      seen = true
      if (choice === null) {
        // Usage alone is the last that OpenAI's form has to say.
        if (cost !== null) closed = true
        return take()
      }
      const reason = textIn(choice.finish_reason)
      if (reason !== '') finish = reason
      const delta = choice.delta
      if (isObject(delta)) readDelta(delta, choice.logprobs, answer, said)
      return take()
    },
    done,
    bodyOver: () => (finish !== '' || closed ? done() : failed(seen ? CUT : EMPTY)),
    failed,
    isOver: () => over,
  }
}

/** There may be several choices; the answer is the first. */
function firstChoice(choices: Json | undefined): Choice | null {
  if (!Array.isArray(choices)) return null
  for (const choice of choices as readonly Json[]) {
    if (isObject(choice) && isFirst(choice)) return choice
  }
  return null
}

function isFirst({ index }: JsonObject): boolean {
  return index === 0 || index === undefined || index === null
}

function errorIn(chunk: Chunk): Json | null {
  if (chunk.object === 'error') return chunk.error ?? (chunk as JsonObject)
  return chunk.error ? chunk.error : null
}

function groqUsage({ x_groq: groq }: Chunk): Json | undefined {
  return isObject(groq) ? groq['usage'] : undefined
}
