/** Builds event logs of background runs from SSE messages. */
import { formatSseMessage, type SseMessage } from '../../src/core/stream/sse.ts'
import type { EventGroup } from '../../src/store/background-runs/run-store-interface.ts'

/** Groups messages by `size`. */
export function groupMessages(messages: readonly SseMessage[], size = 3): readonly EventGroup[] {
  const groups: EventGroup[] = []
  for (let first = 0; first < messages.length; first += size) {
    const some = messages.slice(first, first + size)
    groups.push({ first, last: first + some.length - 1, text: some.map(formatSseMessage).join('') })
  }
  return groups
}

export function decodeFrames(text: string): readonly SseMessage[] {
  return text
    .split('\n\n')
    .filter((frame) => frame !== '' && !frame.startsWith(':'))
    .map((frame) => {
      const lines = frame.split('\n')
      const event = lines.find((line) => line.startsWith('event: '))?.slice('event: '.length)
      const data = lines.find((line) => line.startsWith('data: '))?.slice('data: '.length) ?? ''
      return event === undefined ? { data } : { event, data }
    })
}
