/**
 * Wraps a provider so that its compactions record the hidden authors: the authors whose messages
 * the upstream did not get because of the policy field `speakers.hidden`. A compaction without this
 * record may contain what these authors wrote (`context/speakers/hide-items-of-authors.ts`).
 */
import {
  isUpstreamCompaction,
  setCompactionHiddenAuthors,
} from '../../core/items/compaction-item.ts'
import type { StreamEvent } from '../../core/stream-event.ts'
import type { Provider } from '../provider-interface.ts'

/** Returns the same provider if `hiddenAuthors` is empty. */
export function recordHiddenAuthorsInCompactions(
  provider: Provider,
  hiddenAuthors: readonly string[],
): Provider {
  if (hiddenAuthors.length === 0) return provider
  const recordAuthors = (events: readonly StreamEvent[]): readonly StreamEvent[] =>
    events.map((event) =>
      (event.type === 'item-started' || event.type === 'item-ended') &&
      isUpstreamCompaction(event.item)
        ? { ...event, item: setCompactionHiddenAuthors(event.item, hiddenAuthors) }
        : event,
    )
  return {
    ...provider,
    createDecoder(account, prompt) {
      const decoder = provider.createDecoder(account, prompt)
      return {
        push: (message) => recordAuthors(decoder.push(message)),
        end: () => recordAuthors(decoder.end()),
      }
    },
    decodeBody: (body, account, prompt) =>
      recordAuthors(provider.decodeBody(body, account, prompt)),
  }
}
