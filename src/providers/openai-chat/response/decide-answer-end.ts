/**
 * What the chunks say of the ending of their answer. It is not over with the reason to finish,
 * because usage may come behind it, and some services give a reason although they broke off.
 */
import type { Failure, AnswerFinishReason, TokenUsage } from '../../../core/stream-event.ts'
import { isObject, textOrEmpty, type Json } from '../../../core/json/json.ts'
import { createFailure } from '../../../core/errors/gateway-error.ts'
import { parseFinishReason } from './finish-reason.ts'
import { parseUsage } from './usage.ts'
import type { ChatChoice, ChatChunk } from '../api-types.ts'

export interface AnswerEndTracker {
  readonly readChunk: (chunk: ChatChunk, choice: ChatChoice | null) => void
  readonly getUsage: () => TokenUsage | null
  /** How it ends if its upstream says that it is done. */
  readonly decideAtDone: () => AnswerFinishReason | Failure
  /** How it ends if there is nothing more to read, whether the upstream was done or not. */
  readonly decideAtBodyEnd: () => AnswerFinishReason | Failure
}

const CUT_OFF = createFailure(
  'upstream_broken',
  'The upstream broke off in the middle of its answer.',
)
const EMPTY = createFailure('upstream_broken', 'The upstream ended its stream without an answer.')

export function createAnswerEndTracker(): AnswerEndTracker {
  let isEmpty = true
  let reason = ''
  let usage: TokenUsage | null = null
  let hasFinalUsage = false

  const whenDone = (): AnswerFinishReason | Failure => {
    if (isEmpty) return EMPTY
    const finish = parseFinishReason(reason)
    return finish === 'broken' ? CUT_OFF : finish
  }
  return {
    readChunk(chunk, choice) {
      isEmpty = false
      const cost = parseUsage(chunk.usage ?? readGroqUsage(chunk))
      if (cost !== null) usage = cost
      if (choice !== null) reason = textOrEmpty(choice.finish_reason) || reason
      // Usage alone is the last that OpenAI's form has to say.
      else if (cost !== null) hasFinalUsage = true
    },
    getUsage: () => usage,
    decideAtDone: whenDone,
    decideAtBodyEnd: () => (isEmpty || reason !== '' || hasFinalUsage ? whenDone() : CUT_OFF),
  }
}

function readGroqUsage({ x_groq: groq }: ChatChunk): Json | undefined {
  return isObject(groq) ? groq['usage'] : undefined
}
