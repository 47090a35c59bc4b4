/** Images of older turns go where that pays, in steps, and are never shown again afterwards. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Item, Part } from '../../../src/core/item.ts'
import { listMedia } from '../../../src/core/media/media-handles.ts'
import { MEDIA_KINDS } from '../../../src/core/media/content-part-media.ts'
import { PRESETS, type MediaRules } from '../../../src/core/context-policy.ts'
import { findRoundStarts } from '../../../src/core/items/rounds-and-pinned-items.ts'
import { findImageCutoff } from '../../../src/context/media/cache-aware-image-cutoff.ts'
import { listTransforms, runTransforms } from '../../../src/context/list-and-run-transforms.ts'
import { replaceHiddenMedia } from '../../../src/context/media/replace-hidden-media.ts'
import { expectIdempotent } from '../../support/laws.ts'

const said = (role: 'user' | 'assistant', text: string, ...images: readonly Part[]): Item => ({
  type: 'message',
  role,
  content: [{ type: role === 'user' ? 'input_text' : 'output_text', text }, ...images],
})

/** So many tokens to each question and each answer, and an image to each question. */
function chat(turns: number, tokens: number): readonly Item[] {
  const text = 'word'.repeat(tokens)
  return Array.from({ length: turns }).flatMap((_, at) => [
    said('user', text, { type: 'input_image', image_url: `https://a.example/${at}.png` }),
    said('assistant', text),
  ])
}

const shownOf = (items: readonly Item[], policy = PRESETS.retain): number =>
  listMedia(runTransforms(items, listTransforms({ policy, reader: null })).items).length

describe('between short texts', () => {
  test('the images of the last five turns are shown, in steps of twenty', () => {
    const shown = Array.from({ length: 70 }, (_, at) => shownOf(chat(at + 1, 20)))
    expect(shown.slice(0, 25)).toEqual(Array.from({ length: 25 }, (_, at) => at + 1))
    expect([shown[25], shown[44], shown[45], shown[65]]).toEqual([6, 25, 6, 6])
  })

  test('what goes is told in a note and a notice', () => {
    const { items, notes } = runTransforms(
      chat(26, 20),
      listTransforms({ policy: PRESETS.retain, reader: null }),
    )
    expect(notes).toHaveLength(20)
    expect(notes[0]).toEqual({ did: 'changed', at: 0, why: 'media-too-old', by: 'show-media' })
    expect(JSON.stringify(items[0])).toContain('An image (media_1) was here.')
  })
})

test('between long texts all are shown: to read these anew would cost more than it spares', () => {
  expect(shownOf(chat(60, 2000))).toBe(60)
})

test('outputs count where they stay as they are', () => {
  const items = chat(30, 20).flatMap((item, at): readonly Item[] =>
    at % 2 === 1
      ? [item]
      : [
          item,
          { type: 'function_call', call_id: `c${at}`, name: 'look', arguments: '{}' },
          { type: 'function_call_output', call_id: `c${at}`, output: 'word'.repeat(900) },
        ],
  )
  expect(shownOf(items, PRESETS.capped)).toBe(30)
  expect(shownOf(items, PRESETS.retain)).toBe(10)
})

describe('what another limit has taken away counts as it did when it was there', () => {
  const run = (rules: Partial<MediaRules>) =>
    replaceHiddenMedia({
      rules: { ...PRESETS.replay.media, ...rules },
      sees: new Set(MEDIA_KINDS),
      canView: false,
    }).run
  const image = (name: string): Part => ({
    type: 'input_image',
    image_url: `https://a.example/${name}.png`,
  })

  test('so the text behind it goes on to be read anew', () => {
    const once = run({ keepTurns: 0, step: 2, images: 1 })([
      said('user', 'one', image('a')),
      said('assistant', 'word'.repeat(2000)),
      said('user', 'two', image('b')),
      said('assistant', 'ok'),
      said('user', 'three'),
    ])
    expect(once.notes).toEqual([{ did: 'changed', at: 0, why: 'media-over-limit' }])
    expect(run({ keepTurns: 0, step: 2, images: 1 })(once.items).notes).toEqual([])
  })

  test('whatever the limit', () => {
    const medium = fc.oneof(
      fc.constantFrom('a', 'b', 'c', 'd', 'e').map(image),
      fc.constant<Part>({ type: 'input_file', file_url: 'https://a.example/a.pdf' }),
    )
    const turn = fc.record({
      media: fc.array(medium, { maxLength: 3 }),
      words: fc.constantFrom(1, 50, 800, 4000),
    })
    const limit = fc.option(fc.nat(6))
    const rules = fc.record({
      keepTurns: fc.nat(2),
      step: fc.integer({ min: 1, max: 4 }),
      window: limit,
      imageMessages: limit,
      images: limit,
      repeated: fc.constantFrom('last', 'all'),
    })
    fc.assert(
      fc.property(fc.array(turn, { maxLength: 20 }), rules, (turns, wishes) => {
        const items = turns.flatMap(({ media, words }) => [
          said('user', 'look', ...media),
          said('assistant', 'x'.repeat(words)),
        ])
        expectIdempotent(run(wishes), items)
      }),
      { numRuns: 300 },
    )
  })
})

test('the border never moves back, and moves at steps alone', () => {
  const turn = fc.record({ images: fc.nat(3), question: fc.nat(2000), answer: fc.nat(2000) })
  const rules = fc.record({
    keepTurns: fc.nat(3),
    step: fc.integer({ min: 1, max: 4 }),
    outputsStay: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(turn, { maxLength: 40 }), rules, (turns, { keepTurns, step, ...rest }) => {
      const image: Part = { type: 'input_image', image_url: 'https://a.example/a.png' }
      const items = turns.flatMap(({ images, question, answer }) => [
        said('user', 'x'.repeat(question), ...Array.from({ length: images }, () => image)),
        said('assistant', 'x'.repeat(answer)),
      ])
      let before = 0
      for (let end = 1; end <= items.length; end += 1) {
        const list = items.slice(0, end)
        const border = findImageCutoff(list, { keepTurns, step, ...rest })
        const newest = findRoundStarts(list).length - 1
        if (border !== before) {
          expect(border).toBeGreaterThan(before)
          expect((newest - keepTurns) % step).toBe(0)
          // Two items a turn.
          expect(border).toBe(2 * (newest - keepTurns))
        }
        before = border
      }
    }),
    { numRuns: 50 },
  )
})
