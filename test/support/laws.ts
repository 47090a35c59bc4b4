/**
 * The laws of rebuilding, as functions that fail if a list, or a step, breaks them. They know
 * nothing of how a transform works: what is lawful is told the way a provider checks it.
 */
import { expect } from 'vitest'
import { isCompaction, isSummaryMessage } from '../../src/conversation/compaction.ts'
import type { Item } from '../../src/conversation/item.ts'
import type { Note } from '../../src/conversation/note.ts'
import { callEndOf } from '../../src/conversation/pairs.ts'
import type { Step } from '../../src/rebuild/transform.ts'

export type Run = (items: readonly Item[]) => Step

/** Reads what it is given and nothing else: not to be changed, and the same answer each time. */
export function expectPure(run: Run, items: readonly Item[]): void {
  deepFreeze(items)
  expect(run(items)).toEqual(run(items))
}

/** What it made, it passes on as the very same list. */
export function expectIdempotent(run: Run, items: readonly Item[]): void {
  const once = run(items)
  const twice = run(once.items)
  expect(twice.notes).toEqual([])
  expect(twice.items).toBe(once.items)
}

/** What is not passed on as it came has a note, and every note is true. */
export function expectHonest(items: readonly Item[], step: Step): void {
  if (step.notes.length === 0) {
    expect(step.items).toBe(items)
    return
  }
  const passedOn = new Map(step.items.map((item, place) => [item, place]))
  const dids = new Map<number, Set<Note['did']>>()
  for (const { did, at } of step.notes) {
    if (at === undefined) continue
    dids.set(at, (dids.get(at) ?? new Set()).add(did))
  }
  const jumps = new Set(placesThatJump(items, passedOn))
  for (const [at, item] of items.entries()) {
    const did = dids.get(at) ?? new Set()
    const wasReplaced = !passedOn.has(item)
    expect({ at, isGone: wasReplaced }).toEqual({
      at,
      isGone: did.has('dropped') || did.has('changed'),
    })
    if (!wasReplaced)
      expect({ at, isMoved: jumps.has(at) }).toEqual({ at, isMoved: did.has('moved') })
  }
  const given = new Set(items)
  const isReplaced = (did: Set<Note['did']>) => did.has('changed') && !did.has('dropped')
  const replaced = [...dids.values()].filter(isReplaced).length
  const added = step.notes.filter((note) => note.did === 'added').length
  expect(step.items.filter((item) => !given.has(item)).length).toBe(replaced + added)
}

/** Places of items that now stand in front of something which they stood behind. */
function placesThatJump(
  items: readonly Item[],
  passedOn: ReadonlyMap<Item, number>,
): readonly number[] {
  let furthest = -1
  return items.flatMap((item, at) => {
    const place = passedOn.get(item)
    if (place === undefined) return []
    if (place < furthest) return [at]
    furthest = place
    return []
  })
}

/** The newest question is there, whole, and so are the instructions at the head. */
export function expectComplete(items: readonly Item[], result: readonly Item[]): void {
  const isUser = (item: Item | undefined) => item?.type === 'message' && item.role === 'user'
  const end = items.findLastIndex(isUser) + 1
  let start = end
  while (isUser(items[start - 1])) start -= 1
  const head = items.findIndex(
    (item) => item.type !== 'message' || (item.role !== 'system' && item.role !== 'developer'),
  )
  const instructions = head === -1 ? items : items.slice(0, head)
  const question = items.slice(start, end)
  expect(result.slice(0, instructions.length)).toEqual(instructions)
  expect(result.filter((item) => question.includes(item))).toEqual(question)
}

/** Both sides are heard, if both have spoken. A compaction speaks for the assistant. */
export function expectBothSides(items: readonly Item[], result: readonly Item[]): void {
  const speaks = (list: readonly Item[], role: 'user' | 'assistant') =>
    list.some((item) => item.type === 'message' && item.role === role)
  expect(speaks(result, 'user')).toBe(speaks(items, 'user'))
  const isToldOf = result.some((item) => isSummaryMessage(item) || isCompaction(item))
  if (!isToldOf) expect(speaks(result, 'assistant')).toBe(speaks(items, 'assistant'))
}

/** What was sent before is sent again, unchanged, in front of what is new. */
export function expectSteady(before: readonly Item[], after: readonly Item[]): void {
  expect(after.slice(0, before.length)).toEqual(before)
}

export function expectLawful(items: readonly Item[]): void {
  expect([...faultsInPairs(items), ...faultsInReasoning(items)]).toEqual([])
}

/** Reads on as a provider does: from the first output of a batch until all are there, only outputs. */
function faultsInPairs(items: readonly Item[]): readonly string[] {
  const faults: string[] = []
  let waiting: string[] = []
  let isAnswering = false
  for (const [at, item] of items.entries()) {
    const end = callEndOf(item)
    const name = `${end?.family} ${end?.callId}`
    if (end?.side === 'output') {
      const place = waiting.indexOf(name)
      if (place === -1) faults.push(`${at}: output without a call before it, ${name}`)
      waiting = waiting.toSpliced(place, place === -1 ? 0 : 1)
      isAnswering = true
      continue
    }
    if (waiting.length > 0 && (isAnswering || item.type === 'message')) {
      faults.push(`${at}: ${item.type} while an output is missing, ${waiting.join(', ')}`)
    }
    if (end?.side === 'call') {
      if (end.callId === '') faults.push(`${at}: malformed call`)
      waiting.push(name)
    }
    isAnswering = false
  }
  if (waiting.length > 0) faults.push(`end: calls without output, ${waiting.join(', ')}`)
  return faults
}

/** Reasoning stands in front of something the model made: a message, a call, a hosted item. */
function faultsInReasoning(items: readonly Item[]): readonly string[] {
  return items.flatMap((item, at) => {
    if (item.type !== 'reasoning') return []
    const next = items[at + 1]
    if (next === undefined) return [`${at}: reasoning at the end`]
    const isMade =
      next.type === 'message' ? next.role === 'assistant' : callEndOf(next)?.side !== 'output'
    return isMade ? [] : [`${at}: reasoning in front of ${next.type}`]
  })
}

function deepFreeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return
  Object.freeze(value)
  Object.values(value).forEach(deepFreeze)
}
