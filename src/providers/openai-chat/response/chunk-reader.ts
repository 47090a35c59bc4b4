/**
 * Reads the chunks of an answer, streamed or not, and returns their events. Never throws because of
 * their content, and emits exactly one terminal event.
 */
import type { Failure, StreamEvent } from '../../../core/stream-event.ts'
import type { Item } from '../../../core/item.ts'
import { isObject, textOrEmpty, type Json, type JsonObject } from '../../../core/json/json.ts'
import { createFailure } from '../../../core/errors/gateway-error.ts'
import { NO_OUTPUT } from '../../../core/stream/stage.ts'
import { createCallIdGenerator } from '../../response/generate-call-ids.ts'
import { parseStreamError } from '../parse-errors.ts'
import { createAnswerEventEmitter } from './answer-event-emitter.ts'
import { createAnswerEndTracker } from './decide-answer-end.ts'
import { readDelta } from './read-delta.ts'
import type { ReasoningMaker } from '../pack-reasoning-details.ts'
import { extractThinkTags } from './extract-think-tags.ts'
import type { ChatChoice, ChatChunk } from '../api-types.ts'

export interface DecodeOptions {
  readonly thinkTags: true | 'unopened' | undefined
  /** The names of custom tools that were sent as functions. */
  readonly wrappedToolNames: ReadonlySet<string>
  /**
   * The upstream that makes the reasoning, if the client stores the conversation itself: its
   * details are then packed for the client. Otherwise null.
   */
  readonly reasoningMaker: ReasoningMaker | null
  /** The items of the prompt. Generated call ids differ from those of the prompt. */
  readonly promptItems: readonly Item[]
}

export interface ChunkReader {
  readonly readChunk: (chunk: ChatChunk) => readonly StreamEvent[]
  /** Ends the answer after the upstream's `[DONE]`. */
  readonly endAnswer: () => readonly StreamEvent[]
  /**
   * Ends the answer at the end of the body. The answer has failed if nothing shows that it is
   * complete.
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
  let events: StreamEvent[] = []
  let isOver = false
  const emit = (event: StreamEvent): void => void events.push(event)
  const starter = createAnswerStarter(emit)
  const endTracker = createAnswerEndTracker()
  const createCallId = createCallIdGenerator(starter.getIdentity, promptItems)
  const answer = extractThinkTags(
    createAnswerEventEmitter({ emit, createCallId, wrappedToolNames, reasoningMaker }),
    thinkTags,
  )

  const takeEvents = (): readonly StreamEvent[] => {
    if (events.length === 0) return NO_OUTPUT
    const taken = events
    events = []
    return taken
  }
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
      if (error !== null) return fail(parseStreamError(error))
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
 * Creates the function that emits `answer-started` once: when a chunk has the id and the model, or
 * before any other event.
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
      // Ignores Azure's first chunk, which is about the prompt and has neither an id nor a choice.
      if (id !== '' || choice !== null) start(textOrEmpty(chunk.model))
    },
    start: (): void => start(''),
    /** Returns a text that differs between answers, e.g. `chatcmpl-1 1700000000`. */
    getIdentity: (): string => `${id} ${created}`,
  }
}

/** Returns the choice with index 0 or without an index. Others exist if the request has `n: 2`. */
function findFirstChoice(choices: Json | undefined): ChatChoice | null {
  const isFirst = (choice: Json): choice is JsonObject =>
    isObject(choice) && (choice['index'] ?? 0) === 0
  return Array.isArray(choices) ? ((choices as readonly Json[]).find(isFirst) ?? null) : null
}

function readError(chunk: ChatChunk): Json | null {
  if (chunk.object === 'error') return chunk.error ?? (chunk as JsonObject)
  return chunk.error ? chunk.error : null
}
