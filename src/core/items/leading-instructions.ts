/**
 * Finds the instructions at the start of a conversation, which some upstream APIs have in a separate
 * field. Instructions that the gateway inserts (policy notes, memory layers) are marked and stay in the
 * list: their position changes with each request, and in the separate field, at the start of the prompt,
 * they would invalidate the provider's prompt cache.
 */
import type { Item } from '../item.ts'
import type { JsonObject } from '../json/json.ts'

/** Returns the number of instructions before the first other item. */
export function countLeadingInstructions(items: readonly Item[]): number {
  const end = items.findIndex((item) => !isInstruction(item))
  return end < 0 ? items.length : end
}

/** True for a system or developer message that the gateway has not inserted. */
export function isInstruction(item: Item): boolean {
  return (
    item.type === 'message' &&
    (item.role === 'system' || item.role === 'developer') &&
    !isInsertedInstruction(item)
  )
}

/** Value of `native.backstory` that marks an instruction that the gateway inserts. */
export const INSERTED_INSTRUCTION_FIELDS: JsonObject = { inPlace: true }

/** True for an instruction that the gateway has inserted. A client cannot set this field. */
export function isInsertedInstruction({ native }: Item): boolean {
  return native?.['backstory']?.['inPlace'] === true
}
