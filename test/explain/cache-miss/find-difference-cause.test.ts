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
  listPolicyTextTransforms,
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
  const plan = [...listTransforms({ policy, reader: null }), ...listPolicyTextTransforms(policy)]
  const { items: sent, originalPositions, notes } = runTransforms(items, plan)
  return deriveItemDispositions({
    items,
    historyCount: 0,
    sentItems: sent,
    originalPositions: originalPositions,
    notes,
    wire: 'responses',
    ...more,
  })
}

const MIDDLE: RequestComparison = {
  equalPrefixBytes: 0,
  equalPrefixTokens: 0,
  differencePath: ['input', 0],
  differenceOffset: 0,
  isContinuation: false,
  isLastValueExtended: false,
  isInLastEntry: false,
  newText: null,
}

/** Compares two requests whose bodies differ in the middle, without further data. */
function cause(before: readonly ItemDisposition[], now: readonly ItemDisposition[]) {
  const describeNote = ({ why }: { why: string }) => why
  const side = (told: readonly ItemDisposition[]) => ({
    dispositions: told,
    summary: { notes: [], upstream: {} },
  })
  const sides = { before: side(before), now: side(now), wire: 'responses', describeNote }
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

describe('gateway decisions that changed an item (C102)', () => {
  const SHORTENED = { who: 'gateway', place: 2, by: 'shorten-tool-outputs', why: 'output-too-old' }

  test('if an output is newly shortened, the transform that shortened it is the cause of the cache miss', () => {
    const sentence = 'output-too-old'
    expect(cause(fates(LONG), fates(LONG, LEAN))).toEqual({ ...SHORTENED, sentence })
  })

  test('if an output is no longer shortened, the transform that had shortened it is the cause of the cache miss', () => {
    const sentence = 'This applied to the previous request but no longer does: output-too-old'
    expect(cause(fates(LONG, LEAN), fates(LONG))).toEqual({ ...SHORTENED, sentence })
  })

  test('if an output is shortened more than before, the transform that shortened it is the cause of the cache miss', () => {
    const shorter = { ...LEAN, outputs: { ...LEAN.outputs, head: 1 } }
    expect(cause(fates(LONG, LEAN), fates(LONG, shorter))).toMatchObject(SHORTENED)
  })

  test('if an item is newly dropped or no longer dropped, the window is the cause of the cache miss', () => {
    const [, ...others] = LONG
    const windowed = deriveItemDispositions({
      items: LONG,
      historyCount: 0,
      sentItems: others,
      originalPositions: others.map((_, at) => at + 1),
      notes: [{ did: 'dropped', at: 0, why: 'windowed', by: 'window-history' }],
      wire: 'responses',
    })
    const expected = { who: 'gateway', place: 0, why: 'windowed', by: 'window-history' }
    expect(cause(fates(LONG), windowed)).toMatchObject(expected)
    expect(cause(windowed, fates(LONG))).toMatchObject(expected)
  })

  test('if a configured note is moved, changed, added or removed, the transform that inserts it is the cause of the cache miss', () => {
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

  test('if a transform and the encoder both changed an item, the transform is named as the cause of the cache miss', () => {
    const [first] = SHORT
    if (first === undefined) throw new Error('There is no item.')
    const shown = { ...first, content: [{ type: 'input_text', text: 'a notice' }] } as Item
    const now = fates(SHORT, replay, {
      sentItems: [shown, ...SHORT.slice(1)],
      notes: [
        { did: 'changed', at: 0, why: 'media-repeated', by: 'show-media' },
        { did: 'changed', at: 0, why: 'text-joined', by: 'responses' },
      ],
    })
    const expected = { who: 'gateway', by: 'show-media', why: 'media-repeated', place: 0 }
    expect(cause(fates(SHORT), now)).toMatchObject(expected)
  })

  test('if only the encoder changed an item, its note is the cause of the cache miss', () => {
    const note = { did: 'changed', at: 0, why: 'developer-as-system', by: 'responses' } as const
    const now = fates(SHORT, replay, { notes: [note] })
    expect(cause(fates(SHORT), now)).toMatchObject({ who: 'gateway', why: 'developer-as-system' })
  })

  test('if recall restored an item that the previous request lacked, recall is the cause of the cache miss', () => {
    const recalled = { did: 'added', why: 'recalled', at: 1 } as const
    const now = fates(LONG, replay, { notes: [recalled] })
    const expected = { who: 'gateway', place: 1, why: 'recalled' }
    expect(cause(fates(LONG.filter((_, at) => at !== 1)), now)).toMatchObject(expected)
  })
})

describe('the cause of a difference in tools', () => {
  const OFFERED = {
    did: 'added',
    field: 'tools',
    why: 'house-tool-offered',
    by: 'house-tools',
  } as const
  const STUBBED = { did: 'added', field: 'tools', why: 'tools-stubbed', by: 'responses' } as const
  const of = (tools: string | null, ...notes: readonly Note[]) => {
    return {
      dispositions: [],
      summary: { notes, upstream: {}, given: { instructions: null, tools } },
    }
  }
  const told = (before: ComparedRequest, now: ComparedRequest) =>
    findDifferenceCause({
      comparison: { ...MIDDLE, differencePath: ['tools', 1] },
      before,
      now,
      wire: 'responses',
      describeNote: ({ why }) => why,
    })

  test('a difference in tools is attributed to the gateway if it added or removed a gateway tool', () => {
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

  test("a difference in tools is attributed to the client if the client's tools changed", () => {
    expect(told(of('a'), of('b', STUBBED))).toMatchObject({ who: 'client' })
  })

  test('a difference in tools is attributed to the encoder if it encodes the same tools differently', () => {
    expect(told(of('a'), of('a', STUBBED))).toMatchObject({ by: 'responses', why: 'tools-stubbed' })
  })

  test('a difference between the tools of two requests has no known cause if neither stored request has notes', () => {
    expect(told(of('a'), of('a'))).toMatchObject({ who: 'nobody' })
  })

  test('in rows of older versions, a difference in tools is attributed to the client unless a note names a gateway tool', () => {
    const old = (...notes: readonly Note[]) => ({
      dispositions: [],
      summary: { notes, upstream: {} },
    })
    expect(told(old(), of('a'))).toMatchObject({ who: 'client' })
    expect(told(old(), of('a', OFFERED))).toMatchObject({ who: 'gateway' })
  })
})

describe('changes by the client', () => {
  test.each([
    ['an edited item', [1], 'The client changed item 1.'],
    ['an inserted item', [0, 0], 'The client inserted item 1.'],
  ])(
    '%s counts as changed by the client, which is the cause of the cache miss',
    (_, [from = 0, length = 1], sentence) => {
      const others = talk`
      assistant: other
    `
      const now = [...SHORT.slice(0, 1), ...others, ...SHORT.slice(from + length)]
      expect(cause(fates(SHORT), fates(now))).toEqual({ who: 'client', place: 1, sentence })
    },
  )

  test('if the client removed an item, the client is the cause of the cache miss', () => {
    const sentence = 'The client removed the former item 1.'
    const now = fates(LONGER.filter((_, at) => at !== 1))
    expect(cause(fates(LONGER), now)).toEqual({ who: 'client', place: 1, sentence })
  })
})
