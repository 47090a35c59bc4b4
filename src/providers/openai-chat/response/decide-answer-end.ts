/**
 * What the chunks say of the ending of their answer. It is not over with the reason to finish,
 * because usage may come behind it, and some services give a reason although they broke off.
 */
import type { Failure, Finish, Usage } from '../../../core/stream-event.ts'
import { isObject, textIn, type Json } from '../../../core/json/json.ts'
import { failureOf } from '../../../core/errors/gateway-error.ts'
import { finishOf } from './finish-reason.ts'
import { readUsage } from './usage.ts'
import type { Choice, Chunk } from '../api-types.ts'

export interface OpenEnding {
  readonly read: (chunk: Chunk, choice: Choice | null) => void
  readonly usage: () => Usage | null
  /** How it ends if its upstream says that it is done. */
  readonly whenDone: () => Finish | Failure
  /** How it ends if there is nothing more to read, whether the upstream was done or not. */
  readonly whenOver: () => Finish | Failure
}

const CUT = failureOf('upstream_broken', 'The upstream broke off in the middle of its answer.')
const EMPTY = failureOf('upstream_broken', 'The upstream ended its stream without an answer.')

export function openEnding(): OpenEnding {
  let isEmpty = true
  let reason = ''
  let usage: Usage | null = null
  let hasFinalUsage = false

  const whenDone = (): Finish | Failure => {
    if (isEmpty) return EMPTY
    const finish = finishOf(reason)
    return finish === 'broken' ? CUT : finish
  }
  return {
    read(chunk, choice) {
      isEmpty = false
      const cost = readUsage(chunk.usage ?? groqUsage(chunk))
      if (cost !== null) usage = cost
      if (choice !== null) reason = textIn(choice.finish_reason) || reason
      // Usage alone is the last that OpenAI's form has to say.
      else if (cost !== null) hasFinalUsage = true
    },
    usage: () => usage,
    whenDone,
    whenOver: () => (isEmpty || reason !== '' || hasFinalUsage ? whenDone() : CUT),
  }
}

function groqUsage({ x_groq: groq }: Chunk): Json | undefined {
  return isObject(groq) ? groq['usage'] : undefined
}
