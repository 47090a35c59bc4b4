/**
 * The ids of the calls in one assistant message, as the upstream takes them: of the right form, and
 * no two alike. An id that already is both stays as it is.
 */
import type { ToolCall } from '../../../core/item.ts'
import { shortHash } from '../../short-hash.ts'
import type { Encoding } from './encoding-context.ts'
import type { Placed } from './group-items-into-messages.ts'

export function callIdsFor(
  calls: readonly Placed<ToolCall>[],
  { options: { callIdPattern }, notebook }: Encoding,
): readonly string[] {
  const taken = new Set<string>()
  return calls.map(({ at, item }, place) => {
    const given = item.call_id
    let id = given !== '' && isFit(given, callIdPattern) ? given : shortHash(given)
    while (taken.has(id)) id = shortHash(`${id} ${place}`)
    taken.add(id)
    if (id !== given) notebook.write('call-id-changed', { at })
    return id
  })
}

export function isFit(id: string, pattern: RegExp | null): boolean {
  return pattern === null || pattern.test(id)
}
