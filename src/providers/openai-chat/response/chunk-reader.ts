/**
 * Reads the chunks of an answer, streamed or not, and returns their events. Never throws, whatever
 * a chunk contains. Emits exactly one terminal event.
 */
import type { Failure, StreamEvent } from '../../../core/stream-event.ts'
import type { Item } from '../../../core/item.ts'
import { isObject, textOrEmpty, type Json, type JsonObject } from '../../../core/json/json.ts'
import { createFailure } from '../../../core/errors/gateway-error.ts'
import { createCallIdGenerator } from '../../response/generate-call-ids.ts'
import { parseError } from '../parse-errors.ts'
import { createDeltaFieldsDecoder } from './delta-fields-decoder.ts'
import { createAnswerEndTracker } from './answer-end-tracker.ts'
import { readDelta } from './read-delta.ts'
import type { ReasoningMaker } from '../pack-reasoning-details.ts'
import { extractThinkTags } from './extract-think-tags.ts'
import type { ChatChoice, ChatChunk } from '../api-types.ts'
import { createEventBuffer } from '../../response/event-buffer.ts'

export interface DecodeOptions {
  readonly thinkTags: true | 'unopened' | undefined
  /** The names of custom tools that were sent as functions. */
  readonly wrappedToolNames: ReadonlySet<string>
  /**
   * The account and model of this answer, if its reasoning is packed into `encrypted_content` for a
   * client that stores the conversation itself; otherwise null.
   */
  readonly reasoningMaker: ReasoningMaker | null
  /** The items of the prompt, whose call ids must not be generated again. */
  readonly promptItems: readonly Item[]
}

export interface ChunkReader {
  readonly readChunk: (chunk: ChatChunk) => readonly StreamEvent[]
  /** Ends the answer when the upstream sends `[DONE]`. */
  readonly endAnswer: () => readonly StreamEvent[]
  /**
   * Ends the answer when the body ends. Without `[DONE]`, a finish reason or usage, the answer has
   * failed.
   */
  readonly endBody: () => readonly StreamEvent[]
  readonly fail: (failure: Failure) => readonly StreamEvent[]
  readonly isOver: () => boolean
}

export function createChunkReader({
  thinkTags,
  wrappedToolNames,
  reasoningMaker,
  promptItems,
}: DecodeOptions): ChunkReader {
  const { emit, takeEvents } = createEventBuffer()
  let isOver = false
  const starter = createAnswerStarter(emit)
  const endTracker = createAnswerEndTracker()
  const createCallId = createCallIdGenerator(starter.getIdentity, promptItems)
  const answer = extractThinkTags(
    createDeltaFieldsDecoder({ emit, createCallId, wrappedToolNames, reasoningMaker }),
    thinkTags,
  )

  const fail = (failure: Failure): readonly StreamEvent[] => {
    isOver = true
    starter.start()
    answer.end(false)
    emit({ type: 'answer-failed', failure, usage: endTracker.getUsage() })
    return takeEvents()
  }
  const end = (finish: ReturnType<typeof endTracker.decideAtDone>): readonly StreamEvent[] => {
    if (typeof finish !== 'string') return fail(finish)
    if (answer.hasNamelessCall()) return fail(NAMELESS_CALL)
    isOver = true
    starter.start()
    answer.end(true)
    emit({ type: 'answer-ended', finish, usage: endTracker.getUsage() })
    return takeEvents()
  }

  return {
    readChunk(chunk) {
      const choice = findFirstChoice(chunk.choices)
      starter.readChunk(chunk, choice)
      endTracker.readChunk(chunk, choice)
      const error = readError(chunk)
      if (error !== null) return fail(parseError(error, null))
      if (isObject(choice?.delta)) readDelta(choice.delta, choice.logprobs, answer)
      return takeEvents()
    },
    endAnswer: () => end(endTracker.decideAtDone()),
    endBody: () => end(endTracker.decideAtBodyEnd()),
    fail,
    isOver: () => isOver,
  }
}

const NAMELESS_CALL = createFailure(
  'upstream_broken',
  'The upstream made a tool call without a name.',
)

/**
 * Creates the part of the reader that emits `answer-started` once: when a chunk contains the id or
 * a choice, otherwise before the first other event.
 */
function createAnswerStarter(emit: (event: StreamEvent) => void) {
  let isStarted = false
  let id = ''
  let created = 0
  const start = (model: string): void => {
    if (isStarted) return
    isStarted = true
    const upstreamId = id === '' ? null : id
    emit({ type: 'answer-started', upstreamId, model: model === '' ? null : model })
  }
  return {
    readChunk(chunk: ChatChunk, choice: ChatChoice | null): void {
      if (isStarted) return
      id = textOrEmpty(chunk.id)
      if (typeof chunk.created === 'number') created = chunk.created
      // Azure's first chunk is about the prompt and has neither an id nor a choice, so it does not
      // start the answer.
      if (id !== '' || choice !== null) start(textOrEmpty(chunk.model))
    },
    start: (): void => start(''),
    /** Returns a text that differs between answers, e.g. `chatcmpl-1 1700000000`. */
    getIdentity: (): string => `${id} ${created}`,
  }
}

/**
 * Returns the choice with index 0 or without an index. Ignores further choices, which a request
 * with `n: 2` gets.
 */
function findFirstChoice(choices: Json | undefined): ChatChoice | null {
  const isFirst = (choice: Json): choice is JsonObject =>
    isObject(choice) && (choice['index'] ?? 0) === 0
  return Array.isArray(choices) ? ((choices as readonly Json[]).find(isFirst) ?? null) : null
}

function readError(chunk: ChatChunk): Json | null {
  if (chunk.object === 'error') return chunk.error ?? (chunk as JsonObject)
  return chunk.error ? chunk.error : null
}
