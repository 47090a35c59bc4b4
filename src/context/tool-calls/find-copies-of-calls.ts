/**
 * Finds calls that come twice in a list, with their outputs: once from the client and once from the store. Only one of
 * the two is then sent. A call is a copy of an earlier call only if both are in the same round and have the same call
 * id, arguments and output (or share one output).
 *
 * Such equal calls may still be two real calls: a model may call a tool twice with the same arguments, and some
 * providers count call ids from 0 in each answer. So in addition, one of them must come from the store and the other
 * from the client, or both must have the same item id.
 */
import { textOf, type Item } from '../../core/item.ts'
import { isObject, type Json, type JsonObject } from '../../core/json/json.ts'
import {
  createJsonBudget,
  tryParseLimitedJson,
  type JsonBudget,
} from '../../core/json/limited-json.ts'
import { UNPAIRED, readToolCallIdentity } from '../../core/items/tool-call-pairs.ts'
import { isUserMessage } from '../../core/items/rounds-and-pinned-items.ts'

/** Returns the indexes of the calls that repeat an earlier call, and of the outputs of these copies. */
export function findCopiesOfCalls(
  items: readonly Item[],
  /** The result of `findToolCallPairs`: for each call the index of its output, and the reverse. */
  partners: Int32Array,
): ReadonlySet<number> {
  const copies = new Set<number>()
  const search: CopySearch = {
    items,
    partners,
    copies,
    jsonBudget: createJsonBudget(),
    argumentKeys: new Map(),
  }
  const indexesById = new Map<string, number[]>()
  const compareRound = (): void => {
    for (const indexes of indexesById.values()) {
      if (indexes.length > 1 && mayContainCopies(indexes, search)) compareCalls(indexes, search)
    }
    indexesById.clear()
  }
  for (const [index, item] of items.entries()) {
    if (isUserMessage(item)) compareRound()
    const end = readToolCallIdentity(item)
    if (end?.side !== 'call' || end.callId === '') continue
    const indexes = indexesById.get(end.callId)
    if (indexes === undefined) indexesById.set(end.callId, [index])
    else indexes.push(index)
  }
  compareRound()
  return copies
}

interface CopySearch {
  readonly items: readonly Item[]
  readonly partners: Int32Array
  readonly copies: Set<number>
  readonly jsonBudget: JsonBudget
  /** The keys of the arguments by their text, so that equal texts have equal keys also when the budget is used up. */
  readonly argumentKeys: Map<string, string>
}

/**
 * Saves the comparison of arguments and outputs. False if certainly none of the calls with one call id is a copy: all
 * come from the client, or all from the store, with outputs and without item ids.
 */
function mayContainCopies(indexes: readonly number[], { items, partners }: CopySearch): boolean {
  const first = isRecorded(items[indexes[0] ?? 0])
  return indexes.some((index) => {
    const item = items[index]
    return isRecorded(item) !== first || item?.id !== undefined || partners[index] === UNPAIRED
  })
}

/** Calls of one round with the same call id, name and arguments. */
interface EqualCalls {
  /** The calls with an output that are no copies, by the content of the output. */
  readonly answered: Map<string, OriginalCalls>
  readonly unanswered: number[]
  /** The index of the last output that is paired with any of these calls; -1 if there is none. */
  lastOutput: number
}

/**
 * Compares calls that have the same call id. Adds to `copies` the index of each call that repeats an earlier one, and
 * of its output.
 */
function compareCalls(indexes: readonly number[], search: CopySearch): void {
  const { items, partners, copies } = search
  const groups = new Map<string, EqualCalls>()
  for (const index of indexes) {
    const key = createCallKey(items[index], search)
    const equal: EqualCalls = groups.get(key) ?? {
      answered: new Map(),
      unanswered: [],
      lastOutput: UNPAIRED,
    }
    groups.set(key, equal)
    const outputIndex = partners[index] ?? UNPAIRED
    const output = items[outputIndex]
    if (output === undefined) {
      // An equal call before this one is paired with an output after it. So this call is a copy of the earlier call.
      if (index < equal.lastOutput) copies.add(index)
      else equal.unanswered.push(index)
      continue
    }
    equal.lastOutput = Math.max(equal.lastOutput, outputIndex)
    const outputKey = createOutputKey(output)
    const originals = equal.answered.get(outputKey) ?? createOriginals(items[index])
    equal.answered.set(outputKey, originals)
    if (isCopy(items[index], originals)) copies.add(index).add(outputIndex)
  }
  for (const equal of groups.values()) {
    for (const index of listUnansweredCopies(equal, items)) copies.add(index)
  }
}

/**
 * Calls that are equal in call id, name, arguments and output, but no copies of each other. Either all come from the
 * client, or all from the store (`isRecorded`). `ids` are their item ids.
 */
interface OriginalCalls {
  readonly isRecorded: boolean
  readonly ids: Set<string>
}

/**
 * True if the call is a copy of one of `originals`. Otherwise the call is added to them with its item id, if it has
 * one.
 */
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

/**
 * Lists the calls without an output that are copies. Such a call may share the output of the equal call, because an
 * output is paired with only one of them.
 */
function listUnansweredCopies(
  { answered, unanswered }: EqualCalls,
  items: readonly Item[],
): readonly number[] {
  if (unanswered.length === 0) return []
  const sources = new Set([...answered.values()].map((originals) => originals.isRecorded))
  let originals: OriginalCalls | null = null
  return unanswered.filter((index) => {
    const item = items[index]
    if (sources.has(!isRecorded(item))) return true
    originals ??= createOriginals(item)
    return isCopy(item, originals)
  })
}

/**
 * Returns a key that is the same for equal calls. It contains the kind of tool, because two kinds of tools may use the
 * same call id.
 */
function createCallKey(item: Item | undefined, search: CopySearch): string {
  if (item?.type === 'function_call') {
    const { name } = item
    // Some providers write '' for a call without arguments, others '{}'.
    const text = item.arguments.trim() === '' ? '{}' : item.arguments
    return `function ${name} ${createArgumentsKey(text, search)}`
  }
  if (item?.type === 'custom_tool_call') return `custom ${item.name} ${item.input}`
  return item?.type === 'opaque' ? createRawKey(item.raw) : ''
}

function createArgumentsKey(text: string, { jsonBudget, argumentKeys }: CopySearch): string {
  const known = argumentKeys.get(text)
  if (known !== undefined) return known
  const value = tryParseLimitedJson(text, jsonBudget) as Json | null
  const key = (value === null ? null : canonicalizeJson(value)) ?? text
  argumentKeys.set(text, key)
  return key
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

/** Returns JSON that does not depend on the order of keys, or `null` if the value is nested too deeply. */
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
