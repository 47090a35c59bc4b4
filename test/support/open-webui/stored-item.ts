/** What Open WebUI keeps of an answer: a list of items for each assistant message, and nothing else. */
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
  /** A plain string in place of the list is what a real chat never recovers from. */
  readonly parts: readonly string[] | string
}

/** Shown and kept, and never sent back. */
export interface StoredOther {
  readonly type: 'other'
  readonly raw: JsonObject
}

/** The text that a person reads and can edit. */
export function shownText(items: readonly StoredItem[]): string {
  return items
    .filter((item) => item.type === 'message')
    .map(({ text }) => text)
    .join('\n')
}

/** The calls that nobody has answered, which Open WebUI then runs itself. */
export function openCalls(items: readonly StoredItem[]): readonly StoredCall[] {
  const answered = new Set(
    items.filter((item) => item.type === 'function_call_output').map(({ callId }) => callId),
  )
  return items.filter((item) => item.type === 'function_call').filter(notIn(answered))
}

function notIn(answered: ReadonlySet<string>) {
  return ({ callId }: StoredCall): boolean => !answered.has(callId)
}
