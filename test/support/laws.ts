/**
 * Laws of transforms as functions that throw if a list of items or a transform's result violates them. The
 * functions depend on no transform: they check a list as a provider does. They run a hundred thousand times,
 * so for speed they use no assertions, and compare the content only of items that are different objects.
 */
import { isDeepStrictEqual } from 'node:util'
import { isCompaction, isCompactionMessage } from '../../src/core/items/compaction-item.ts'
import type { Item } from '../../src/core/item.ts'
import { readToolCallIdentity } from '../../src/core/items/tool-call-pairs.ts'
import { isPinnedByClient } from '../../src/core/items/rounds-and-pinned-items.ts'
import { isHistorySummary } from '../../src/core/items/summary-message.ts'
import type { TransformResult } from '../../src/context/transform-interface.ts'

export type RunTransform = (items: readonly Item[]) => TransformResult

function check(isSo: boolean, otherwise: () => string): void {
  if (!isSo) throw new Error(otherwise())
}

/** Checks that a transform does not change its input and returns the same result each time. */
export function expectPure(run: RunTransform, items: readonly Item[]): void {
  deepFreeze(items)
  const [once, again] = [run(items), run(items)]
  const isSame = isSameList(once.items, again.items) && isDeepStrictEqual(once.notes, again.notes)
  check(isSame, () => 'A second run returns another result.')
}

/** Checks that a second run returns the same list. */
export function expectIdempotent(run: RunTransform, items: readonly Item[]): void {
  expectUnchanged(run, run(items).items)
}

/** Checks that the transform has nothing to do: the same list, no notes. */
export function expectUnchanged(run: RunTransform, items: readonly Item[]): void {
  const { items: again, notes } = run(items)
  check(
    notes.length === 0 && again === items,
    () => `A second run changes the list: ${JSON.stringify(notes)}`,
  )
}

/**
 * Checks that every item that is not passed on unchanged has a note, and that every note is true. In a plan
 * of several transforms, a moved item may have lost the items it was moved past.
 */
export function expectNotesMatchChanges(
  items: readonly Item[],
  step: TransformResult,
  isPlan = false,
): void {
  if (step.notes.length === 0) return check(step.items === items, () => 'A change without a note.')
  const passedOn = new Map(step.items.map((item, place) => [item, place]))
  const { dropped, changed, moved, added } = groupNotes(step)
  let replaced = 0
  let gone = 0
  let furthest = -1
  for (const [at, item] of items.entries()) {
    const place = passedOn.get(item)
    const isNoted = dropped.has(at) || changed.has(at)
    check(
      (place === undefined) === isNoted,
      () => `${at}: a note and the result disagree whether the item is sent unchanged.`,
    )
    if (changed.has(at) && !dropped.has(at)) replaced += 1
    if (place === undefined) gone += 1
    else {
      // The item is now before one that it followed.
      const isTrue = place < furthest ? moved.has(at) : isPlan || !moved.has(at)
      check(isTrue, () => `${at}: a note and the result disagree whether the item was moved.`)
      furthest = Math.max(furthest, place)
    }
  }
  const newcomers = step.items.length - (items.length - gone)
  check(
    newcomers === replaced + added,
    () => `${newcomers} new items, ${replaced} + ${added} noted.`,
  )
}

function groupNotes({ notes }: TransformResult) {
  const dropped = new Set<number>()
  const changed = new Set<number>()
  const moved = new Set<number>()
  let added = 0
  for (const { did, at } of notes) {
    if (did === 'added') added += 1
    // In a plan: an item that one transform added, which has no input index, was dropped by another.
    if (did === 'dropped' && at === undefined) added -= 1
    if (at === undefined) continue
    if (did === 'dropped') dropped.add(at)
    else if (did === 'changed') changed.add(at)
    else if (did === 'moved') moved.add(at)
  }
  return { dropped, changed, moved, added }
}

/** Checks that the latest question is there, complete and once, and so are the leading instructions. */
export function expectQuestionAndInstructions(
  items: readonly Item[],
  result: readonly Item[],
): void {
  const end = items.findLastIndex(isUser) + 1
  let start = end
  while (isUser(items[start - 1])) start -= 1
  const head = items.findIndex(
    (item) => item.type !== 'message' || (item.role !== 'system' && item.role !== 'developer'),
  )
  const instructions = head === -1 ? items : items.slice(0, head)
  expectUnchangedPrefix(instructions, result)
  const question = items.slice(start, end)
  const sent = result.filter((item) => question.includes(item))
  check(isSameList(question, sent), () => 'The latest question is not sent completely and once.')
}

function isUser(item: Item | undefined): boolean {
  return item?.type === 'message' && item.role === 'user'
}

/** Checks that no pinned item is dropped. Compactions, and reasoning before one, are exempt. */
export function expectNoPinnedItemDropped(
  items: readonly Item[],
  { notes }: TransformResult,
): void {
  for (const { did, at } of notes) {
    const item = at === undefined ? undefined : items[at]
    if (did !== 'dropped' || item === undefined || !isPinnedByClient(item)) continue
    check(
      isCompaction(item) || item.type === 'reasoning',
      () => `${at}: a pinned item was dropped.`,
    )
  }
}

/**
 * Checks that both roles are present in the result if they were in the input. A summary counts as the
 * assistant.
 */
export function expectBothRoles(items: readonly Item[], result: readonly Item[]): void {
  const hasRole = (list: readonly Item[], role: 'user' | 'assistant') =>
    list.some((item) => item.type === 'message' && item.role === role)
  check(
    hasRole(result, 'user') === hasRole(items, 'user'),
    () => 'No user message is sent, or one was added.',
  )
  if (hasRole(result, 'assistant') === hasRole(items, 'assistant')) return
  const hasSummary = result.some(
    (item) => isCompactionMessage(item) || isHistorySummary(item) || isCompaction(item),
  )
  check(hasSummary, () => 'No assistant message is sent, or one was added.')
}

/** Checks that everything sent before is sent again, unchanged and before new items. */
export function expectUnchangedPrefix(before: readonly Item[], after: readonly Item[]): void {
  const at = before.findIndex((item, place) => !isSame(item, after[place]))
  check(at === -1, () => `${at}: sent as ${JSON.stringify(before[at])} before, not now.`)
}

function isSameList(one: readonly Item[], other: readonly Item[]): boolean {
  return one.length === other.length && one.every((item, at) => isSame(item, other[at]))
}

function isSame(one: Item, other: Item | undefined): boolean {
  return one === other || isDeepStrictEqual(one, other)
}

/** Checks that calls at the end, whose outputs may still come, are sent. */
export function expectWaitingCalls(items: readonly Item[], result: readonly Item[]): void {
  const tail = items.slice(items.findLastIndex(({ type }) => type === 'message') + 1)
  const ends = tail.map(readToolCallIdentity).filter((end) => end !== null)
  const isClear =
    ends.every(({ side, callId }) => side === 'call' && callId !== '') &&
    new Set(ends.map(({ toolKind, callId }) => `${toolKind} ${callId}`)).size === ends.length
  if (!isClear || ends.length === 0) return
  const sent = new Set(result)
  const isKept = tail.every((item) => readToolCallIdentity(item) === null || sent.has(item))
  check(isKept, () => 'A call whose output may still come is not sent.')
}

/**
 * Checks that with stubs for missing outputs no call is lost, unless it is a copy or its id is used again
 * before the next message.
 */
export function expectNoCallLost(items: readonly Item[], step: TransformResult): void {
  const sent = new Set(step.items)
  const copies = new Set(
    step.notes.filter(({ why }) => why === 'pair-duplicate').map(({ at }) => at),
  )
  const used = new Set<string>()
  for (const [back, item] of items.toReversed().entries()) {
    const at = items.length - 1 - back
    if (item.type === 'message') used.clear()
    if (item.type !== 'function_call' && item.type !== 'custom_tool_call') continue
    const isExcused = item.name === '' || copies.has(at) || used.has(`${item.type} ${item.call_id}`)
    check(isExcused || sent.has(item), () => `${at}: the call is lost.`)
    used.add(`${item.type} ${item.call_id}`)
  }
}

export function expectValidForProviders(items: readonly Item[]): void {
  const faults = [...faultsInPairs(items), ...faultsInReasoning(items)]
  check(faults.length === 0, () => faults.join('\n'))
}

/**
 * Reads the list as a provider does: after the first output of a batch, only outputs until all are there. At
 * the end of the list some may be missing.
 */
function faultsInPairs(items: readonly Item[]): readonly string[] {
  const faults: string[] = []
  const waiting: string[] = []
  let isAnswering = false
  for (const [at, item] of items.entries()) {
    const end = readToolCallIdentity(item)
    if (end?.side === 'output') {
      const place = waiting.indexOf(`${end.toolKind} ${end.callId}`)
      if (place === -1) faults.push(`${at}: output without a call before it, ${end.callId}`)
      else waiting.splice(place, 1)
      isAnswering = true
      continue
    }
    if (waiting.length > 0 && (isAnswering || item.type === 'message')) {
      faults.push(`${at}: ${item.type} while an output is missing, ${waiting.join(', ')}`)
      waiting.length = 0
    }
    if (end?.side === 'call') {
      if (end.callId === '') faults.push(`${at}: malformed call`)
      waiting.push(`${end.toolKind} ${end.callId}`)
    }
    isAnswering = false
  }
  return faults
}

/** Checks that reasoning is followed by an item of the model: a message, a call, a provider tool. */
function faultsInReasoning(items: readonly Item[]): readonly string[] {
  const faults: string[] = []
  for (const [at, item] of items.entries()) {
    if (item.type !== 'reasoning') continue
    const next = items[at + 1]
    if (next === undefined) faults.push(`${at}: reasoning at the end`)
    else if (next.type === 'message' ? next.role !== 'assistant' : isOutput(next)) {
      faults.push(`${at}: reasoning before ${next.type}`)
    }
  }
  return faults
}

function isOutput(item: Item): boolean {
  return readToolCallIdentity(item)?.side === 'output'
}

export function deepFreeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return
  Object.freeze(value)
  Object.values(value).forEach(deepFreeze)
}
