/**
 * Finds the instructions at the start of a conversation, which some wires send in a separate field.
 * Instructions that the gateway inserts later (notes, memory layers) have the same roles but are
 * marked and stay in the list: their position changes from turn to turn, and moving them into the
 * separate field would change the prefix that the provider has cached.
 */
import type { Item } from '../item.ts'
import type { JsonObject } from '../json/json.ts'

/** Returns the number of leading instructions. */
export function countLeadingInstructions(items: readonly Item[]): number {
  const end = items.findIndex((item) => !isInstruction(item))
  return end < 0 ? items.length : end
}

/** True for an instruction that may be sent in the separate field if it leads. */
export function isInstruction(item: Item): boolean {
  return (
    item.type === 'message' &&
    (item.role === 'system' || item.role === 'developer') &&
    !isInsertedInstruction(item)
  )
}

/** Value for `native.backstory` that marks an inserted instruction. */
export const INSERTED_INSTRUCTION_FIELD: JsonObject = { inPlace: true }

/** Trustworthy: a client cannot set this field. */
export function isInsertedInstruction({ native }: Item): boolean {
  return native?.['backstory']?.['inPlace'] === true
}
