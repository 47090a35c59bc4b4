/**
 * The instructions at the head of a conversation, which a wire that has a field for them lifts out of
 * the list. What the gateway tells in the middle of what others say (a note, what a memory has found)
 * is told in the same words, and is marked: it is never lifted. In a first turn nothing stands between
 * it and the instructions, in the next it stands elsewhere, and with a head that has changed nothing
 * behind it is what was sent before.
 */
import type { Item } from '../item.ts'
import type { JsonObject } from '../json/json.ts'

/** How many items lead. */
export function countLeadingInstructions(items: readonly Item[]): number {
  const end = items.findIndex((item) => !isInstruction(item))
  return end < 0 ? items.length : end
}

/** Whether an item says what holds from the beginning, if it stands there. */
export function isInstruction(item: Item): boolean {
  return (
    item.type === 'message' &&
    (item.role === 'system' || item.role === 'developer') &&
    !isInsertedInstruction(item)
  )
}

/** To be said of an item under `native.backstory`. */
export const INSERTED_INSTRUCTION_FIELD: JsonObject = { inPlace: true }

/** A client cannot say this of an item, so it is ours. */
export function isInsertedInstruction({ native }: Item): boolean {
  return native?.['backstory']?.['inPlace'] === true
}
