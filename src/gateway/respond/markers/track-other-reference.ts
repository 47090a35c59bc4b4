/**
 * Tracks whether an answer names its turn without a marker: by a call, which the client sends back with its id, or by
 * the reference that is written beside visible reasoning.
 */
import type { StreamEvent } from '../../../core/stream-event.ts'

export function trackOtherReference({
  isNamedBesideReasoning = false,
}: {
  readonly isNamedBesideReasoning?: boolean
}) {
  let hasCall = false
  let hasVisibleReasoning = false
  return {
    readEvent(event: StreamEvent): void {
      if (event.type === 'reasoning-delta') hasVisibleReasoning ||= event.text !== ''
      if (event.type !== 'item-ended') return
      const { item } = event
      if (item.type === 'function_call') hasCall = true
      if (item.type === 'reasoning')
        hasVisibleReasoning ||= [...item.summary, ...(item.content ?? [])].some(
          ({ text }) => text !== '',
        )
    },
    isWritten: () => hasCall || (isNamedBesideReasoning && hasVisibleReasoning),
  }
}
