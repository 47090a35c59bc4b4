/**
 * Finds calls that come twice in a list together with their outputs: once from the client and once from the
 * store. Both have the same call id within one round, the same arguments and the same output. The first one
 * stays.
 *
 * Equal calls alone are no copies: a model may call a tool twice with the same arguments, and some providers
 * count call ids from 0 in every answer. So one of the two must come from the store and the other not, or
 * both must have the same item id.
 */
import { textOf, type Item } from '../../core/item.ts'
import { isObject, tryParseJson, type Json, type JsonObject } from '../../core/json/json.ts'
import { UNPAIRED, readToolCallIdentity } from '../../core/items/tool-call-pairs.ts'
import { isUserMessage } from '../../core/items/rounds-and-pinned-items.ts'

/** Returns the indexes of copied calls and outputs. `partners` is the result of `findToolCallPairs`. */
export function findDuplicateCalls(
  items: readonly Item[],
  partners: Int32Array,
): ReadonlySet<number> {
  const copies = new Set<number>()
  const search = { items, partners, copies }
  const firstById = new Map<string, number>()
  const repeated = new Map<string, number[]>()
  const compareRound = (): void => {
    if (firstById.size === 0) return
    for (const indexes of repeated.values()) {
      if (mayContainCopies(indexes, search)) compareCalls(indexes, search)
    }
    firstById.clear()
    repeated.clear()
  }
  for (let at = 0; at < items.length; at += 1) {
    const item = items[at]
    if (isUserMessage(item)) compareRound()
    const end = item === undefined ? null : readToolCallIdentity(item)
    if (end === null || end.side === 'output' || end.callId === '') continue
    const first = firstById.get(end.callId)
    if (first === undefined) {
      firstById.set(end.callId, at)
      continue
    }
    const indexes = repeated.get(end.callId)
    if (indexes === undefined) repeated.set(end.callId, [first, at])
    else indexes.push(at)
  }
  compareRound()
  return copies
}

interface DuplicateSearch {
  readonly items: readonly Item[]
  readonly partners: Int32Array
  readonly copies: Set<number>
}

/** True if calls may be copies: they have different sources, an item id or no output. Checked before arguments. */
function mayContainCopies(
  indexes: readonly number[],
  { items, partners }: DuplicateSearch,
): boolean {
  const first = isRecorded(items[indexes[0] ?? 0])
  return indexes.some((at) => {
    const item = items[at]
    return isRecorded(item) !== first || item?.id !== undefined || partners[at] === UNPAIRED
  })
}

/** Calls with the same name and arguments. */
interface EqualCalls {
  /** The calls with an output, by the content of the output. */
  readonly answered: Map<string, OriginalCalls>
  readonly unanswered: number[]
  /** The index of the last output of any of these calls. */
  lastOutput: number
}

/** Compares the calls with one id, and adds the copies among them to `copies`. */
function compareCalls(
  indexes: readonly number[],
  { items, partners, copies }: DuplicateSearch,
): void {
  const groups = new Map<string, EqualCalls>()
  for (const at of indexes) {
    const key = createCallKey(items[at])
    const equal: EqualCalls = groups.get(key) ?? {
      answered: new Map(),
      unanswered: [],
      lastOutput: UNPAIRED,
    }
    groups.set(key, equal)
    const outputIndex = partners[at] ?? UNPAIRED
    const output = items[outputIndex]
    if (output === undefined) {
      // An equal call of the same batch has the only output.
      if (at < equal.lastOutput) copies.add(at)
      else equal.unanswered.push(at)
      continue
    }
    equal.lastOutput = Math.max(equal.lastOutput, outputIndex)
    const outputKey = createOutputKey(output)
    const originals = equal.answered.get(outputKey) ?? createOriginals(items[at])
    equal.answered.set(outputKey, originals)
    if (isCopy(items[at], originals)) copies.add(at).add(outputIndex)
  }
  for (const equal of groups.values()) {
    for (const at of listUnansweredCopies(equal, items)) copies.add(at)
  }
}

/** Equal calls that stay. All have the same source (client or store) as the first one. */
interface OriginalCalls {
  readonly isRecorded: boolean
  readonly ids: Set<string>
}

/** True if the call is a copy of the originals. Otherwise its item id is added to theirs. */
function isCopy(item: Item | undefined, originals: OriginalCalls): boolean {
  const id = item?.id
  if (isRecorded(item) !== originals.isRecorded) return true
  if (id === undefined) return false
  if (originals.ids.has(id)) return true
  originals.ids.add(id)
  return false
}

function createOriginals(item: Item | undefined): OriginalCalls {
  return { isRecorded: isRecorded(item), ids: new Set() }
}

function isRecorded(item: Item | undefined): boolean {
  return item?.origin !== undefined
}

/** Lists copies without an output: if two copies share one output, only one of them is paired with it. */
function listUnansweredCopies(
  { answered, unanswered }: EqualCalls,
  items: readonly Item[],
): readonly number[] {
  if (unanswered.length === 0) return []
  const sources = new Set([...answered.values()].map((originals) => originals.isRecorded))
  let originals: OriginalCalls | null = null
  return unanswered.filter((at) => {
    const item = items[at]
    if (sources.has(!isRecorded(item))) return true
    originals ??= createOriginals(item)
    return isCopy(item, originals)
  })
}

/** Returns a key that equal calls share. It includes the kind of tool, because both kinds may use the same ids. */
function createCallKey(item: Item | undefined): string {
  if (item?.type === 'function_call') {
    const { name } = item
    // Some providers write '' for a call without arguments, others '{}'.
    const text = item.arguments.trim() === '' ? '{}' : item.arguments
    const value = tryParseJson(text) as Json | null
    return `function ${name} ${(value === null ? null : canonicalizeJson(value)) ?? text}`
  }
  if (item?.type === 'custom_tool_call') return `custom ${item.name} ${item.input}`
  return item?.type === 'opaque' ? createRawKey(item.raw) : ''
}

function createOutputKey(item: Item): string {
  if (item.type === 'opaque') return createRawKey(item.raw)
  if (item.type !== 'function_call_output' && item.type !== 'custom_tool_call_output') return ''
  const { output } = item
  if (typeof output === 'string') return output
  const rest = output.filter((part) => part.type !== 'input_text' && part.type !== 'output_text')
  return rest.length === 0 ? textOf(output) : `${textOf(output)} ${JSON.stringify(rest)}`
}

function createRawKey({ id: _id, status: _status, ...raw }: JsonObject): string {
  return canonicalizeJson(raw) ?? ''
}

/** Returns the same text for the same value, whatever the order of its keys; `null` if it is nested too deeply. */
function canonicalizeJson(value: Json): string | null {
  try {
    return JSON.stringify(value, (_, inner: Json) => (isObject(inner) ? sortKeys(inner) : inner))
  } catch {
    return null
  }
}

function sortKeys(object: JsonObject): JsonObject {
  const names = Object.keys(object).toSorted()
  return Object.fromEntries(names.map((name) => [name, object[name]]))
}
