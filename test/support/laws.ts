/**
 * The laws of rebuilding, as functions that throw if a list, or a step, breaks them. They know
 * nothing of how a transform works: what is lawful is told the way a provider checks it.
 *
 * They run a hundred thousand times over, so they compare by themselves, and only what is not the
 * same object is looked into.
 */
import { isDeepStrictEqual } from 'node:util'
import { isCompaction, isCompactionMessage } from '../../src/core/items/compaction-item.ts'
import type { Item } from '../../src/core/item.ts'
import { callEndOf } from '../../src/core/items/tool-call-pairs.ts'
import { isPinnedByClient } from '../../src/core/items/rounds-and-pinned-items.ts'
import { isHistorySummary } from '../../src/core/items/summary-message.ts'
import type { TransformResult } from '../../src/context/transform-interface.ts'

export type Run = (items: readonly Item[]) => TransformResult

function hold(isSo: boolean, otherwise: () => string): void {
  if (!isSo) throw new Error(otherwise())
}

/** Reads what it is given and nothing else: not to be changed, and the same answer each time. */
export function expectPure(run: Run, items: readonly Item[]): void {
  deepFreeze(items)
  const [once, again] = [run(items), run(items)]
  const isSame = isSameList(once.items, again.items) && isDeepStrictEqual(once.notes, again.notes)
  hold(isSame, () => 'Asked again, it says something else.')
}

/** What it made, it passes on as the very same list. */
export function expectIdempotent(run: Run, items: readonly Item[]): void {
  expectDone(run, run(items).items)
}

/** What is its own work already, or needs none. */
export function expectDone(run: Run, items: readonly Item[]): void {
  const { items: again, notes } = run(items)
  hold(notes.length === 0 && again === items, () => `It goes on: ${JSON.stringify(notes)}`)
}

/**
 * What is not passed on as it came has a note, and every note is true. In a plan, what was moved may
 * have lost what it was moved past.
 */
export function expectHonest(items: readonly Item[], step: TransformResult, isPlan = false): void {
  if (step.notes.length === 0) return hold(step.items === items, () => 'A change without a note.')
  const passedOn = new Map(step.items.map((item, place) => [item, place]))
  const { dropped, changed, moved, added } = noted(step)
  let replaced = 0
  let gone = 0
  let furthest = -1
  for (const [at, item] of items.entries()) {
    const place = passedOn.get(item)
    const isNoted = dropped.has(at) || changed.has(at)
    hold((place === undefined) === isNoted, () => `${at}: is it gone, or is that only said?`)
    if (changed.has(at) && !dropped.has(at)) replaced += 1
    if (place === undefined) gone += 1
    else {
      // It stands in front of something that it stood behind.
      const isTrue = place < furthest ? moved.has(at) : isPlan || !moved.has(at)
      hold(isTrue, () => `${at}: is it moved, or is that only said?`)
      furthest = Math.max(furthest, place)
    }
  }
  const newcomers = step.items.length - (items.length - gone)
  hold(
    newcomers === replaced + added,
    () => `${newcomers} new items, ${replaced} + ${added} noted.`,
  )
}

function noted({ notes }: TransformResult) {
  const dropped = new Set<number>()
  const changed = new Set<number>()
  const moved = new Set<number>()
  let added = 0
  for (const { did, at } of notes) {
    if (did === 'added') added += 1
    // In a plan: what one transform has added, which has no place, another has left out.
    if (did === 'dropped' && at === undefined) added -= 1
    if (at === undefined) continue
    if (did === 'dropped') dropped.add(at)
    else if (did === 'changed') changed.add(at)
    else if (did === 'moved') moved.add(at)
  }
  return { dropped, changed, moved, added }
}

/** The newest question is there, whole and once, and so are the instructions at the head. */
export function expectComplete(items: readonly Item[], result: readonly Item[]): void {
  const end = items.findLastIndex(isUser) + 1
  let start = end
  while (isUser(items[start - 1])) start -= 1
  const head = items.findIndex(
    (item) => item.type !== 'message' || (item.role !== 'system' && item.role !== 'developer'),
  )
  const instructions = head === -1 ? items : items.slice(0, head)
  expectSteady(instructions, result)
  const question = items.slice(start, end)
  const sent = result.filter((item) => question.includes(item))
  hold(isSameList(question, sent), () => 'The newest question is not sent whole, and once.')
}

function isUser(item: Item | undefined): boolean {
  return item?.type === 'message' && item.role === 'user'
}

/** What the client has pinned is not left out. A compaction, and reasoning that led to one, is a different matter. */
export function expectPinned(items: readonly Item[], { notes }: TransformResult): void {
  for (const { did, at } of notes) {
    const item = at === undefined ? undefined : items[at]
    if (did !== 'dropped' || item === undefined || !isPinnedByClient(item)) continue
    hold(isCompaction(item) || item.type === 'reasoning', () => `${at}: it was pinned.`)
  }
}

/** Both sides are heard, if both have spoken. A summary speaks for the assistant. */
export function expectBothSides(items: readonly Item[], result: readonly Item[]): void {
  const speaks = (list: readonly Item[], role: 'user' | 'assistant') =>
    list.some((item) => item.type === 'message' && item.role === role)
  hold(speaks(result, 'user') === speaks(items, 'user'), () => 'The user is not heard.')
  if (speaks(result, 'assistant') === speaks(items, 'assistant')) return
  const isToldOf = result.some(
    (item) => isCompactionMessage(item) || isHistorySummary(item) || isCompaction(item),
  )
  hold(isToldOf, () => 'The assistant is not heard.')
}

/** What was sent before is sent again, unchanged, in front of what is new. */
export function expectSteady(before: readonly Item[], after: readonly Item[]): void {
  const at = before.findIndex((item, place) => !isSame(item, after[place]))
  hold(at === -1, () => `${at}: sent as ${JSON.stringify(before[at])} before, not now.`)
}

function isSameList(one: readonly Item[], other: readonly Item[]): boolean {
  return one.length === other.length && one.every((item, at) => isSame(item, other[at]))
}

function isSame(one: Item, other: Item | undefined): boolean {
  return one === other || isDeepStrictEqual(one, other)
}

/** What waits at the end for its output is not judged yet: it is sent. */
export function expectWaiting(items: readonly Item[], result: readonly Item[]): void {
  const tail = items.slice(items.findLastIndex(({ type }) => type === 'message') + 1)
  const ends = tail.map(callEndOf).filter((end) => end !== null)
  const isClear =
    ends.every(({ side, callId }) => side === 'call' && callId !== '') &&
    new Set(ends.map(({ family, callId }) => `${family} ${callId}`)).size === ends.length
  if (!isClear || ends.length === 0) return
  const sent = new Set(result)
  const isKept = tail.every((item) => callEndOf(item) === null || sent.has(item))
  hold(isKept, () => 'A call that waits is not sent.')
}

/**
 * With stubs in their places, no call is lost whose output can be told in words; unless it is a copy,
 * or its id is used again before anybody speaks.
 */
export function expectAnswered(items: readonly Item[], step: TransformResult): void {
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
    hold(isExcused || sent.has(item), () => `${at}: the call is lost.`)
    used.add(`${item.type} ${item.call_id}`)
  }
}

export function expectLawful(items: readonly Item[]): void {
  const faults = [...faultsInPairs(items), ...faultsInReasoning(items)]
  hold(faults.length === 0, () => faults.join('\n'))
}

/**
 * Reads on as a provider does: from the first output of a batch until all are there, only outputs.
 * At the end some may still be missing, as long as nothing stands behind their batch.
 */
function faultsInPairs(items: readonly Item[]): readonly string[] {
  const faults: string[] = []
  const waiting: string[] = []
  let isAnswering = false
  for (const [at, item] of items.entries()) {
    const end = callEndOf(item)
    if (end?.side === 'output') {
      const place = waiting.indexOf(`${end.family} ${end.callId}`)
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
      waiting.push(`${end.family} ${end.callId}`)
    }
    isAnswering = false
  }
  return faults
}

/** Reasoning stands in front of something the model made: a message, a call, a hosted item. */
function faultsInReasoning(items: readonly Item[]): readonly string[] {
  const faults: string[] = []
  for (const [at, item] of items.entries()) {
    if (item.type !== 'reasoning') continue
    const next = items[at + 1]
    if (next === undefined) faults.push(`${at}: reasoning at the end`)
    else if (next.type === 'message' ? next.role !== 'assistant' : isOutput(next)) {
      faults.push(`${at}: reasoning in front of ${next.type}`)
    }
  }
  return faults
}

function isOutput(item: Item): boolean {
  return callEndOf(item)?.side === 'output'
}

export function deepFreeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return
  Object.freeze(value)
  Object.values(value).forEach(deepFreeze)
}
