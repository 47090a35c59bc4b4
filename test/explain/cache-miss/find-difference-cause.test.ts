import { describe, expect, test } from 'vitest'
import type { Item } from '../../../src/core/item.ts'
import type { Note } from '../../../src/core/note.ts'
import { PRESETS, type ContextPolicy } from '../../../src/core/context-policy.ts'
import { findDifferenceCause } from '../../../src/explain/cache-miss/find-difference-cause.ts'
import type { ComparedRequest } from '../../../src/explain/cache-miss/find-field-cause.ts'
import type { RequestComparison } from '../../../src/explain/cache-miss/compare-requests.ts'
import {
  deriveItemDispositions,
  type ItemDisposition,
  type DispositionInput,
} from '../../../src/explain/item-dispositions.ts'
import {
  listAdditionTransforms,
  listTransforms,
  runTransforms,
} from '../../../src/context/list-and-run-transforms.ts'
import { talk } from '../../support/talk.ts'
import { LEAN, LONG } from '../long-output.ts'

const { replay } = PRESETS

function fates(
  items: readonly Item[],
  policy: ContextPolicy = replay,
  more: Partial<DispositionInput> = {},
) {
  const plan = [...listTransforms({ policy, reader: null }), ...listAdditionTransforms(policy)]
  const { items: sent, places, notes } = runTransforms(items, plan)
  return deriveItemDispositions({
    items,
    remembered: 0,
    sent,
    places,
    notes,
    wire: 'responses',
    ...more,
  })
}

const MIDDLE: RequestComparison = {
  sameBytes: 0,
  sameTokens: 0,
  path: ['input', 0],
  offset: 0,
  isNew: false,
  isGrown: false,
  isOfLast: false,
  text: null,
}

/** Compares two requests whose bodies differ in the middle, without further data. */
function cause(before: readonly ItemDisposition[], now: readonly ItemDisposition[]) {
  const sentenceOf = ({ why }: { why: string }) => why
  const side = (told: readonly ItemDisposition[]) => ({
    fates: told,
    about: { notes: [], upstream: {} },
  })
  const sides = { before: side(before), now: side(now), wire: 'responses', sentenceOf }
  return findDifferenceCause({ comparison: MIDDLE, ...sides })
}

const noted = (text: string, depth: number): ContextPolicy => ({
  ...replay,
  notes: { ...replay.notes, entries: [{ text, depth, role: 'developer' }] },
})

const SHORT = talk`
  user: look
  assistant: done
`
const LONGER = [
  ...SHORT,
  ...talk`
    user: more
  `,
]

describe('the decision that broke the prefix is named (C102)', () => {
  const SHORTENED = { who: 'gateway', place: 2, by: 'shorten-tool-outputs', why: 'output-too-old' }

  test('a shortened output', () => {
    const sentence = 'output-too-old'
    expect(cause(fates(LONG), fates(LONG, LEAN))).toEqual({ ...SHORTENED, sentence })
  })

  test('an output that is no longer shortened', () => {
    const sentence = 'This applied to the previous request but no longer does: output-too-old'
    expect(cause(fates(LONG, LEAN), fates(LONG))).toEqual({ ...SHORTENED, sentence })
  })

  test('an output that is shortened more than before', () => {
    const shorter = { ...LEAN, outputs: { ...LEAN.outputs, head: 1 } }
    expect(cause(fates(LONG, LEAN), fates(LONG, shorter))).toMatchObject(SHORTENED)
  })

  test('an item that is dropped now, or was dropped before and is sent again', () => {
    const [, ...others] = LONG
    const windowed = deriveItemDispositions({
      items: LONG,
      remembered: 0,
      sent: others,
      places: others.map((_, at) => at + 1),
      notes: [{ did: 'dropped', at: 0, why: 'windowed', by: 'window-history' }],
      wire: 'responses',
    })
    const expected = { who: 'gateway', place: 0, why: 'windowed', by: 'window-history' }
    expect(cause(fates(LONG), windowed)).toMatchObject(expected)
    expect(cause(windowed, fates(LONG))).toMatchObject(expected)
  })

  test('an inserted note that moved, changed, is new or is gone', () => {
    const ofNotes = { who: 'gateway', by: 'place-notes', place: null }
    const before = fates(SHORT, noted('Be brief.', 0))
    const told = (now: readonly ItemDisposition[]) => cause(before, now)
    expect(told(fates(LONGER, noted('Be brief.', 0)))).toMatchObject({
      ...ofNotes,
      why: 'note-moved',
    })
    expect(told(fates(LONGER, noted('Be long.', 2)))).toMatchObject({
      ...ofNotes,
      why: 'context-note',
    })
    expect(told(fates(LONGER))).toMatchObject({
      ...ofNotes,
      sentence: 'This applied to the previous request but no longer does: context-note',
    })
    expect(cause(fates(SHORT), fates(LONGER, noted('Be brief.', 3)))).toMatchObject(ofNotes)
  })

  test('a transform takes precedence over the wire', () => {
    const [first] = SHORT
    if (first === undefined) throw new Error('There is no item.')
    const shown = { ...first, content: [{ type: 'input_text', text: 'a notice' }] } as Item
    const now = fates(SHORT, replay, {
      sent: [shown, ...SHORT.slice(1)],
      notes: [
        { did: 'changed', at: 0, why: 'media-repeated', by: 'show-media' },
        { did: 'changed', at: 0, why: 'text-joined', by: 'responses' },
      ],
    })
    const expected = { who: 'gateway', by: 'show-media', why: 'media-repeated', place: 0 }
    expect(cause(fates(SHORT), now)).toMatchObject(expected)
  })

  test('the wire, if nothing else changed', () => {
    const note = { did: 'changed', at: 0, why: 'developer-as-system', by: 'responses' } as const
    const now = fates(SHORT, replay, { notes: [note] })
    expect(cause(fates(SHORT), now)).toMatchObject({ who: 'gateway', why: 'developer-as-system' })
  })

  test('a restored item', () => {
    const recalled = { did: 'added', why: 'recalled', at: 1 } as const
    const now = fates(LONG, replay, { notes: [recalled] })
    const expected = { who: 'gateway', place: 1, why: 'recalled' }
    expect(cause(fates(LONG.filter((_, at) => at !== 1)), now)).toMatchObject(expected)
  })
})

describe('a difference in tools', () => {
  const OFFERED = {
    did: 'added',
    field: 'tools',
    why: 'house-tool-offered',
    by: 'house-tools',
  } as const
  const STUBBED = { did: 'added', field: 'tools', why: 'tools-stubbed', by: 'responses' } as const
  const of = (tools: string | null, ...notes: readonly Note[]) => {
    return { fates: [], about: { notes, upstream: {}, given: { instructions: null, tools } } }
  }
  const told = (before: ComparedRequest, now: ComparedRequest) =>
    findDifferenceCause({
      comparison: { ...MIDDLE, path: ['tools', 1] },
      before,
      now,
      wire: 'responses',
      sentenceOf: ({ why }) => why,
    })

  test('is attributed to the gateway if a gateway tool was added or removed', () => {
    const ofHouse = { who: 'gateway', by: 'house-tools', why: 'house-tool-offered' }
    expect(told(of('a'), of('a', OFFERED))).toMatchObject(ofHouse)
    expect(told(of('a', OFFERED), of('a'))).toMatchObject(ofHouse)
    expect(told(of('a', OFFERED), of('a'))).toMatchObject({
      sentence: 'This applied to the previous request but no longer does: house-tool-offered',
    })
    expect(told(of('a'), of('a', STUBBED, OFFERED))).toMatchObject(ofHouse)
    // The policy changes the description of the tool.
    expect(told(of('a', OFFERED), of('a', OFFERED))).toMatchObject(ofHouse)
  })

  test('is attributed to the client if its tools changed', () => {
    expect(told(of('a'), of('b', STUBBED))).toMatchObject({ who: 'client' })
  })

  test('is attributed to the wire if it encodes the same tools differently', () => {
    expect(told(of('a'), of('a', STUBBED))).toMatchObject({ by: 'responses', why: 'tools-stubbed' })
  })

  test('has no known cause if no note was stored', () => {
    expect(told(of('a'), of('a'))).toMatchObject({ who: 'nobody' })
  })

  test('is attributed to the client in rows of older versions, unless a note names a gateway tool', () => {
    const old = (...notes: readonly Note[]) => ({ fates: [], about: { notes, upstream: {} } })
    expect(told(old(), of('a'))).toMatchObject({ who: 'client' })
    expect(told(old(), of('a', OFFERED))).toMatchObject({ who: 'gateway' })
  })
})

describe('a change by the client is attributed to it', () => {
  test.each([
    ['an edit', [1], 'The client changed item 1.'],
    ['an inserted item', [0, 0], 'The client inserted item 1.'],
  ])('%s', (_, [from = 0, length = 1], sentence) => {
    const others = talk`
      assistant: other
    `
    const now = [...SHORT.slice(0, 1), ...others, ...SHORT.slice(from + length)]
    expect(cause(fates(SHORT), fates(now))).toEqual({ who: 'client', place: 1, sentence })
  })

  test('a removed item', () => {
    const sentence = 'The client removed the former item 1.'
    const now = fates(LONGER.filter((_, at) => at !== 1))
    expect(cause(fates(LONGER), now)).toEqual({ who: 'client', place: 1, sentence })
  })
})
