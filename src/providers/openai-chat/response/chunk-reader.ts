/**
 * Reads chunks of an answer, one object after the other, streamed or not. It never throws on what is
 * in them, and ends the answer once: when it is told that it is done, or when it failed.
 */
import type { Failure, StreamEvent } from '../../../core/stream-event.ts'
import type { Item } from '../../../core/item.ts'
import { isObject, type Json, type JsonObject } from '../../../core/json/json.ts'
import { createFailure } from '../../../core/errors/gateway-error.ts'
import { NO_OUTPUT } from '../../../core/stream/stage.ts'
import { createCallIdGenerator } from '../../response/generate-call-ids.ts'
import { parseStreamError } from '../parse-errors.ts'
import { createAnswerEventEmitter } from './answer-event-emitter.ts'
import { createAnswerEndTracker } from './decide-answer-end.ts'
import { createAnswerStarter } from './emit-answer-start.ts'
import { readDelta } from './read-delta.ts'
import type { ReasoningMaker } from '../pack-reasoning-details.ts'
import { extractThinkTags } from './extract-think-tags.ts'
import type { ChatChoice, ChatChunk } from '../api-types.ts'

export interface DecodeOptions {
  readonly thinkTags: true | 'unopened' | undefined
  /** Names of custom tools that went out disguised as functions. */
  readonly wrappedToolNames: ReadonlySet<string>
  /** Whose the answer is, where the client is to keep what must come back of it. */
  readonly reasoningMaker: ReasoningMaker | null
  /** The conversation that is answered. */
  readonly promptItems: readonly Item[]
}

export interface ChunkReader {
  readonly readChunk: (chunk: ChatChunk) => readonly StreamEvent[]
  /** The upstream says that it is done. */
  readonly endAnswer: () => readonly StreamEvent[]
  /** The body is over, whether the upstream was done or not. */
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
  const head = createAnswerStarter(emit)
  const ending = createAnswerEndTracker()
  const callIdFor = createCallIdGenerator(head.getIdentity, promptItems)
  const answer = extractThinkTags(
    createAnswerEventEmitter({ emit, createCallId: callIdFor, wrappedToolNames, reasoningMaker }),
    thinkTags,
  )

  const taken = (): readonly StreamEvent[] => {
    if (events.length === 0) return NO_OUTPUT
    const ready = events
    events = []
    return ready
  }
  const failed = (failure: Failure): readonly StreamEvent[] => {
    isOver = true
    head.start()
    answer.end(false)
    emit({ type: 'answer-failed', failure, usage: ending.getUsage() })
    return taken()
  }
  const ended = (how: ReturnType<typeof ending.decideAtDone>): readonly StreamEvent[] => {
    if (typeof how !== 'string') return failed(how)
    if (answer.hasNamelessCall()) return failed(NAMELESS_CALL)
    isOver = true
    head.start()
    answer.end(true)
    emit({ type: 'answer-ended', finish: how, usage: ending.getUsage() })
    return taken()
  }

  return {
    readChunk(chunk) {
      const choice = findFirstChoice(chunk.choices)
      head.readChunk(chunk, choice)
      ending.readChunk(chunk, choice)
      const error = readError(chunk)
      if (error !== null) return failed(parseStreamError(error))
      if (isObject(choice?.delta)) readDelta(choice.delta, choice.logprobs, answer)
      return taken()
    },
    endAnswer: () => ended(ending.decideAtDone()),
    endBody: () => ended(ending.decideAtBodyEnd()),
    fail: failed,
    isOver: () => isOver,
  }
}

const NAMELESS_CALL = createFailure(
  'upstream_broken',
  'The upstream made a tool call without a name.',
)

/** There may be several choices; the answer is the first. */
function findFirstChoice(choices: Json | undefined): ChatChoice | null {
  if (!Array.isArray(choices)) return null
  for (const choice of choices as readonly Json[]) {
    if (isObject(choice) && isFirst(choice)) return choice
  }
  return null
}

function isFirst({ index }: JsonObject): boolean {
  return index === 0 || index === undefined || index === null
}

function readError(chunk: ChatChunk): Json | null {
  if (chunk.object === 'error') return chunk.error ?? (chunk as JsonObject)
  return chunk.error ? chunk.error : null
}
