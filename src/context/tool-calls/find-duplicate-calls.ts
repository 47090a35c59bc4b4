/**
 * Finds calls that are in a list twice with all that belongs to them: as the client kept them, and
 * as they were recorded. They have the same id within one round, mean the same, and have the same
 * output. The first one stands.
 *
 * Equal calls alone are no copies: a model that asks twice how far something is gets the same answer
 * twice, and some providers count their ids from 0 in every answer. So a copy must have come from
 * elsewhere than its original, one of them from the store and the other not; or both are one item,
 * by its own id.
 */
import { textOf, type Item } from '../../core/item.ts'
import { isObject, tryParseJson, type Json, type JsonObject } from '../../core/json/json.ts'
import { UNPAIRED, callEndOf } from '../../core/items/tool-call-pairs.ts'
import { isUserMessage } from '../../core/items/rounds-and-pinned-items.ts'

/** The places of copies, calls and outputs. `partners` is as `pairsOf` gives it. */
export function findDuplicateCalls(
  items: readonly Item[],
  partners: Int32Array,
): ReadonlySet<number> {
  const copies = new Set<number>()
  const findings = { items, partners, copies }
  const firsts = new Map<string, number>()
  const repeated = new Map<string, number[]>()
  const judge = (): void => {
    if (firsts.size === 0) return
    for (const places of repeated.values()) {
      if (mayHoldCopies(places, findings)) judgeCalls(places, findings)
    }
    firsts.clear()
    repeated.clear()
  }
  for (let at = 0; at < items.length; at += 1) {
    const item = items[at]
    if (isUserMessage(item)) judge()
    const end = item === undefined ? null : callEndOf(item)
    if (end === null || end.side === 'output' || end.callId === '') continue
    const first = firsts.get(end.callId)
    if (first === undefined) {
      firsts.set(end.callId, at)
      continue
    }
    const places = repeated.get(end.callId)
    if (places === undefined) repeated.set(end.callId, [first, at])
    else places.push(at)
  }
  judge()
  return copies
}

interface Findings {
  readonly items: readonly Item[]
  readonly partners: Int32Array
  readonly copies: Set<number>
}

/** Most of those under one id are told apart without a look at what they mean. */
function mayHoldCopies(places: readonly number[], { items, partners }: Findings): boolean {
  const first = isRecorded(items[places[0] ?? 0])
  return places.some((at) => {
    const item = items[at]
    return isRecorded(item) !== first || item?.id !== undefined || partners[at] === UNPAIRED
  })
}

/** Calls that mean the same. */
interface Alike {
  /** By what their outputs say. */
  readonly answered: Map<string, Kept>
  readonly unanswered: number[]
  /** Where the last of their outputs stands. */
  lastOutput: number
}

function nothingAlike(): Alike {
  return { answered: new Map(), unanswered: [], lastOutput: UNPAIRED }
}

/** Of the calls under one id, those that mean the same are compared with each other. */
function judgeCalls(places: readonly number[], { items, partners, copies }: Findings): void {
  const alike = new Map<string, Alike>()
  for (const at of places) {
    const meaning = callMeaning(items[at])
    const known = alike.get(meaning) ?? nothingAlike()
    alike.set(meaning, known)
    const place = partners[at] ?? UNPAIRED
    const output = items[place]
    if (output === undefined) {
      // Made together with a call like it, and there is one output for both.
      if (at < known.lastOutput) copies.add(at)
      else known.unanswered.push(at)
      continue
    }
    known.lastOutput = Math.max(known.lastOutput, place)
    const said = outputMeaning(output)
    const kept = known.answered.get(said) ?? keptFrom(items[at])
    known.answered.set(said, kept)
    if (isCopy(items[at], kept)) copies.add(at).add(place)
  }
  for (const known of alike.values()) {
    for (const at of unansweredCopies(known, items)) copies.add(at)
  }
}

/** What is kept of several that are alike: they are all of the source that the first came from. */
interface Kept {
  readonly isRecorded: boolean
  readonly ids: Set<string>
}

/** What is no copy is kept from then on. */
function isCopy(item: Item | undefined, kept: Kept): boolean {
  const id = item?.id
  if (isRecorded(item) !== kept.isRecorded) return true
  if (id === undefined) return false
  if (kept.ids.has(id)) return true
  kept.ids.add(id)
  return false
}

function keptFrom(item: Item | undefined): Kept {
  return { isRecorded: isRecorded(item), ids: new Set() }
}

function isRecorded(item: Item | undefined): boolean {
  return item?.origin !== undefined
}

/** Of two copies with one output between them, one goes without. */
function unansweredCopies(
  { answered, unanswered }: Alike,
  items: readonly Item[],
): readonly number[] {
  if (unanswered.length === 0) return []
  const sources = new Set([...answered.values()].map((kept) => kept.isRecorded))
  let waiting: Kept | null = null
  return unanswered.filter((at) => {
    const item = items[at]
    if (sources.has(!isRecorded(item))) return true
    waiting ??= keptFrom(item)
    return isCopy(item, waiting)
  })
}

/** An id may be in use in several families at once. */
function callMeaning(item: Item | undefined): string {
  if (item?.type === 'function_call') {
    const { name } = item
    // Some write nothing where others write an object without fields.
    const text = item.arguments.trim() === '' ? '{}' : item.arguments
    const value = tryParseJson(text) as Json | null
    return `function ${name} ${(value === null ? null : canonical(value)) ?? text}`
  }
  if (item?.type === 'custom_tool_call') return `custom ${item.name} ${item.input}`
  return item?.type === 'opaque' ? rawMeaning(item.raw) : ''
}

function outputMeaning(item: Item): string {
  if (item.type === 'opaque') return rawMeaning(item.raw)
  if (item.type !== 'function_call_output' && item.type !== 'custom_tool_call_output') return ''
  const { output } = item
  if (typeof output === 'string') return output
  const rest = output.filter((part) => part.type !== 'input_text' && part.type !== 'output_text')
  return rest.length === 0 ? textOf(output) : `${textOf(output)} ${JSON.stringify(rest)}`
}

function rawMeaning({ id: _id, status: _status, ...raw }: JsonObject): string {
  return canonical(raw) ?? ''
}

/** The same text for the same value, in whatever order its keys were written. */
function canonical(value: Json): string | null {
  try {
    return JSON.stringify(value, (_, inner: Json) => (isObject(inner) ? sorted(inner) : inner))
  } catch {
    // Nested too deeply to be compared.
    return null
  }
}

function sorted(object: JsonObject): JsonObject {
  const names = Object.keys(object).toSorted()
  return Object.fromEntries(names.map((name) => [name, object[name]]))
}
