/**
 * Replaces the call ids of one assistant message that the upstream does not accept, and repeated
 * ones. Equal ids always get the same replacement.
 */
import type { ToolCall } from '../../../core/item.ts'
import { shortHash } from '../../short-hash.ts'
import type { EncodingContext } from './encoding-context.ts'
import type { PositionedItem } from './group-items-into-messages.ts'

export function normalizeCallIds(
  calls: readonly PositionedItem<ToolCall>[],
  { options: { callIdPattern }, notes }: EncodingContext,
): readonly string[] {
  const usedIds = new Set<string>()
  return calls.map(({ itemIndex, item: { call_id: original } }, index) => {
    const isAccepted = original !== '' && isAcceptedCallId(original, callIdPattern)
    let id = isAccepted ? original : shortHash(original)
    while (usedIds.has(id)) id = shortHash(`${id} ${index}`)
    usedIds.add(id)
    if (id !== original) notes.write('call-id-changed', { itemIndex })
    return id
  })
}

export function isAcceptedCallId(id: string, pattern: RegExp | null): boolean {
  return pattern === null || pattern.test(id)
}
