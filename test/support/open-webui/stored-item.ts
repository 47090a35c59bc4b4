/** The items that Open WebUI stores for each assistant message. */
import type { JsonObject } from '../../../src/core/json/json.ts'

export type StoredItem = StoredMessage | StoredReasoning | StoredCall | StoredOutput | StoredOther

export interface StoredMessage {
  readonly type: 'message'
  readonly text: string
}

export interface StoredReasoning {
  readonly type: 'reasoning'
  readonly text: string
  readonly details: readonly JsonObject[]
}

export interface StoredCall {
  readonly type: 'function_call'
  readonly callId: string
  readonly name: string
  readonly args: string
}

export interface StoredOutput {
  readonly type: 'function_call_output'
  readonly callId: string
  /** A plain string instead of the list breaks a real chat for good. */
  readonly parts: readonly string[] | string
}

/** Shown and stored, but never sent back. */
export interface StoredOther {
  readonly type: 'other'
  readonly raw: JsonObject
}

/** Returns the text that the user reads and can edit. */
export function shownText(items: readonly StoredItem[]): string {
  return items
    .filter((item) => item.type === 'message')
    .map(({ text }) => text)
    .join('\n')
}

/** Returns the calls without an output, which Open WebUI then runs. */
export function listOpenCalls(items: readonly StoredItem[]): readonly StoredCall[] {
  const answered = new Set(
    items.filter((item) => item.type === 'function_call_output').map(({ callId }) => callId),
  )
  return items.filter((item) => item.type === 'function_call').filter(notIn(answered))
}

function notIn(answered: ReadonlySet<string>) {
  return ({ callId }: StoredCall): boolean => !answered.has(callId)
}
