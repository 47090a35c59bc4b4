/** Who answers, as the chunks say it: told once, as soon as it is known, and before anything else. */
import type { StreamEvent } from '../../../core/stream-event.ts'
import { textIn } from '../../../core/json/json.ts'
import type { Choice, Chunk } from '../api-types.ts'

export interface OpenHead {
  readonly read: (chunk: Chunk, choice: Choice | null) => void
  /** Starts the answer, if it has not started: nobody will say any more who it is. */
  readonly start: () => void
  /** What tells this answer from others, as far as its service says it. */
  readonly identity: () => string
}

export function openHead(emit: (event: StreamEvent) => void): OpenHead {
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
    read(chunk, choice) {
      if (isStarted) return
      id = textIn(chunk.id)
      if (typeof chunk.created === 'number') created = chunk.created
      // Azure speaks about the prompt first, without an id.
      if (id !== '' || choice !== null) start(textIn(chunk.model))
    },
    start: () => start(''),
    identity: () => `${id} ${created}`,
  }
}
