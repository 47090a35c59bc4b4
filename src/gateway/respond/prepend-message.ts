/** A stream with one message in front of all that is rendered: what is said about the answer. */
import type { AnswerRenderer } from '../../core/ports/dialect-interface.ts'
import type { SseMessage } from '../../core/stream/stage.ts'

/** The very same renderer where there is nothing to say. */
export function prependMessage(
  renderer: AnswerRenderer,
  preface: SseMessage | null,
): AnswerRenderer {
  if (preface === null) return renderer
  let waiting: readonly SseMessage[] = [preface]
  const behind = (messages: readonly SseMessage[]): readonly SseMessage[] => {
    if (waiting.length === 0) return messages
    const all = [...waiting, ...messages]
    waiting = []
    return all
  }
  return {
    push: (event) => behind(renderer.push(event)),
    end: (outcome, endedAtMs) => behind(renderer.end(outcome, endedAtMs)),
  }
}
