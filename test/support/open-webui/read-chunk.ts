/** Applies one Chat Completions chunk to the stored items of an answer, as Open WebUI does. */
import { isObject, type Json, type JsonObject } from '../../../src/core/json/json.ts'
import type { StoredItem, StoredReasoning } from './stored-item.ts'
import { splitThinking } from './think-tags.ts'

/** A call whose deltas are still arriving. */
export interface PartialCall {
  callId: string
  name: string
  args: string
}

/** The items of a stream so far; the reader changes it in place. */
export interface Draft {
  items: StoredItem[]
  readonly calls: Map<number, PartialCall>
}

export function readChunk(delta: JsonObject, draft: Draft): void {
  for (const call of listOf(delta['tool_calls'])) readCall(call, draft)
  const thought = [delta['reasoning_content'], delta['reasoning'], delta['thinking']].find(isText)
  const details = listOf(delta['reasoning_details'])
  if (thought !== undefined || details.length > 0) {
    draft.items = withReasoning(draft.items, thought ?? '', details)
  }
  if (isText(delta['content'])) draft.items = withText(draft.items, delta['content'])
}

function readCall(told: JsonObject, { calls }: Draft): void {
  const { index, id } = told
  if (typeof index !== 'number') return
  const { name, arguments: args } = isObject(told['function']) ? told['function'] : {}
  const call = calls.get(index)
  if (call !== undefined) call.args += textOr(args)
  // Only the first delta of a call has its name.
  else calls.set(index, { callId: textOr(id), name: textOr(name), args: textOr(args) })
}

/** Details without text belong to the latest reasoning item, wherever it is. */
function withReasoning(
  items: readonly StoredItem[],
  text: string,
  details: readonly JsonObject[],
): StoredItem[] {
  const isAlone = text === ''
  const at = isAlone
    ? items.findLastIndex(({ type }) => type === 'reasoning')
    : items.at(-1)?.type === 'reasoning'
      ? items.length - 1
      : -1
  const target = items[at]
  if (target?.type !== 'reasoning') {
    return [...items, { type: 'reasoning', text, details: mergedDetails([], details) }]
  }
  const grown: StoredReasoning = {
    type: 'reasoning',
    text: target.text + text,
    details: mergedDetails(target.details, details),
  }
  return items.with(at, grown)
}

function mergedDetails(
  known: readonly JsonObject[],
  told: readonly JsonObject[],
): readonly JsonObject[] {
  const merged = [...known]
  for (const detail of told) {
    const at = merged.findIndex(
      ({ index }) => typeof index === 'number' && index === detail['index'],
    )
    const before = merged[at]
    if (before === undefined) merged.push(detail)
    else merged[at] = { ...before, ...detail, ...joinDetails(before, detail) }
  }
  return merged
}

function joinDetails(before: JsonObject, detail: JsonObject): JsonObject {
  const fields = ['text', 'summary'].filter((name) => isText(detail[name]))
  return Object.fromEntries(
    fields.map((name) => [name, textOr(before[name]) + textOr(detail[name])]),
  )
}

export function withText(items: readonly StoredItem[], text: string): StoredItem[] {
  const last = items.at(-1)
  const before = last?.type === 'message' ? items.slice(0, -1) : items
  const whole = last?.type === 'message' ? last.text + text : text
  return [...before, ...(splitThinking(whole) ?? [{ type: 'message', text: whole } as const])]
}

function listOf(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? (value as readonly Json[]).filter(isObject) : []
}

function isText(value: Json | undefined): value is string {
  return typeof value === 'string' && value !== ''
}

function textOr(value: Json | undefined): string {
  return typeof value === 'string' ? value : ''
}
