/**
 * A provider of whom some authors are hidden. What it compacts tells nothing of them, and says so: of
 * one that was made while they were shown, nobody knows (`context/speakers/hide-authors.ts`).
 */
import { isUpstreamCompaction, setHiddenAuthors } from '../../core/items/compaction-item.ts'
import type { StreamEvent } from '../../core/stream-event.ts'
import type { Provider } from '../provider-interface.ts'

/** The very same, if nobody is hidden. */
export function recordHiddenAuthorsInCompactions(
  provider: Provider,
  hidden: readonly string[],
): Provider {
  if (hidden.length === 0) return provider
  const marked = (events: readonly StreamEvent[]): readonly StreamEvent[] =>
    events.map((event) =>
      (event.type === 'item-started' || event.type === 'item-ended') &&
      isUpstreamCompaction(event.item)
        ? { ...event, item: setHiddenAuthors(event.item, hidden) }
        : event,
    )
  return {
    ...provider,
    createDecoder(account, prompt) {
      const decoder = provider.createDecoder(account, prompt)
      return {
        push: (message) => marked(decoder.push(message)),
        end: () => marked(decoder.end()),
      }
    },
    decodeBody: (body, account, prompt) => marked(provider.decodeBody(body, account, prompt)),
  }
}
