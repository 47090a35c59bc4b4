/**
 * The ids of the calls in one assistant message, as the upstream takes them: of the right form, and
 * no two alike. An id that already is both stays as it is.
 */
import type { ToolCall } from '../../../core/item.ts'
import { shortHash } from '../../short-hash.ts'
import type { EncodingContext } from './encoding-context.ts'
import type { PositionedItem } from './group-items-into-messages.ts'

export function normalizeCallIds(
  calls: readonly PositionedItem<ToolCall>[],
  { options: { callIdPattern }, notes }: EncodingContext,
): readonly string[] {
  const taken = new Set<string>()
  return calls.map(({ at, item }, place) => {
    const given = item.call_id
    let id = given !== '' && isAcceptedCallId(given, callIdPattern) ? given : shortHash(given)
    while (taken.has(id)) id = shortHash(`${id} ${place}`)
    taken.add(id)
    if (id !== given) notes.write('call-id-changed', { at })
    return id
  })
}

export function isAcceptedCallId(id: string, pattern: RegExp | null): boolean {
  return pattern === null || pattern.test(id)
}
