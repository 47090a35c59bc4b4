/** Who answers, as the chunks say it: told once, as soon as it is known, and before anything else. */
import type { StreamEvent } from '../../../core/stream-event.ts'
import { textOrEmpty } from '../../../core/json/json.ts'
import type { ChatChoice, ChatChunk } from '../api-types.ts'

export interface AnswerStarter {
  readonly readChunk: (chunk: ChatChunk, choice: ChatChoice | null) => void
  /** Starts the answer, if it has not started: nobody will say any more who it is. */
  readonly start: () => void
  /** What tells this answer from others, as far as its service says it. */
  readonly getIdentity: () => string
}

export function createAnswerStarter(emit: (event: StreamEvent) => void): AnswerStarter {
  let isStarted = false
  let id = ''
  let created = 0
  const start = (model: string): void => {
    if (isStarted) return
    isStarted = true
    emit({
      type: 'answer-started',
      upstreamId: id === '' ? null : id,
      model: model === '' ? null : model,
    })
  }
  return {
    readChunk(chunk, choice) {
      if (isStarted) return
      id = textOrEmpty(chunk.id)
      if (typeof chunk.created === 'number') created = chunk.created
      // Azure speaks about the prompt first, without an id.
      if (id !== '' || choice !== null) start(textOrEmpty(chunk.model))
    },
    start: () => start(''),
    getIdentity: () => `${id} ${created}`,
  }
}
