/** Checks that images of older turns are hidden if that saves costs, in steps, and never shown again. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Item, Part } from '../../../src/core/item.ts'
import { listMedia } from '../../../src/core/media/media-handles.ts'
import { MEDIA_KINDS } from '../../../src/core/media/content-part-media.ts'
import { PRESETS, type MediaRules } from '../../../src/core/context-policy.ts'
import { listTransforms, runTransforms } from '../../../src/context/list-and-run-transforms.ts'
import { replaceHiddenMedia } from '../../../src/context/media/replace-hidden-media.ts'
import { expectIdempotent } from '../../support/laws.ts'

const message = (role: 'user' | 'assistant', text: string, ...images: readonly Part[]): Item => ({
  type: 'message',
  role,
  content: [{ type: role === 'user' ? 'input_text' : 'output_text', text }, ...images],
})

/** Turns with `tokens` tokens in each question and answer, and an image in each question. */
function chat(turns: number, tokens: number): readonly Item[] {
  const text = 'word'.repeat(tokens)
  return Array.from({ length: turns }).flatMap((_, at) => [
    message('user', text, { type: 'input_image', image_url: `https://a.example/${at}.png` }),
    message('assistant', text),
  ])
}

const countVisibleImages = (items: readonly Item[], policy = PRESETS.retain): number =>
  listMedia(runTransforms(items, listTransforms({ policy, reader: null })).items).length

describe('hiding old images between short texts', () => {
  test('between short texts, older images than those of the last five rounds are hidden once it pays, twenty rounds at a time', () => {
    const shown = Array.from({ length: 105 }, (_, at) => countVisibleImages(chat(at + 1, 20)))
    expect(shown.slice(0, 65)).toEqual(Array.from({ length: 65 }, (_, at) => at + 1))
    expect([shown[65], shown[84], shown[85], shown[104]]).toEqual([6, 25, 6, 25])
  })

  test('an old image that is hidden to save costs is replaced by a notice with its handle', () => {
    const { items, notes } = runTransforms(
      chat(66, 20),
      listTransforms({ policy: PRESETS.retain, reader: null }),
    )
    expect(notes).toHaveLength(60)
    expect(notes[0]).toEqual({ did: 'changed', at: 0, why: 'media-too-old', by: 'show-media' })
    expect(JSON.stringify(items[0])).toContain('An image (media_1) was here.')
  })
})

test('images between long texts stay visible, because rereading the texts costs more than the images', () => {
  expect(countVisibleImages(chat(60, 2000))).toBe(60)
})

test('the costs that shortened outputs save pay for hiding images earlier', () => {
  const items = chat(30, 20).flatMap((item, at): readonly Item[] =>
    at % 2 === 1
      ? [item]
      : [
          item,
          { type: 'function_call', call_id: `c${at}`, name: 'look', arguments: '{}' },
          { type: 'function_call_output', call_id: `c${at}`, output: 'word'.repeat(900) },
        ],
  )
  expect(countVisibleImages(items, PRESETS.capped)).toBe(30)
  expect(countVisibleImages(items, PRESETS.retain)).toBe(10)
})

describe('images that several limits hide', () => {
  const run = (rules: Partial<MediaRules>) =>
    replaceHiddenMedia({
      rules: { ...PRESETS.replay.media, ...rules },
      acceptedMediaKinds: new Set(MEDIA_KINDS),
    }).run
  const image = (name: string): Part => ({
    type: 'input_image',
    image_url: `https://a.example/${name}.png`,
  })

  test('a second run with any combination of media limits changes nothing', () => {
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
      fc.property(fc.array(turn, { maxLength: 20 }), rules, (turns, overrides) => {
        const items = turns.flatMap(({ media, words }) => [
          message('user', 'look', ...media),
          message('assistant', 'x'.repeat(words)),
        ])
        expectIdempotent(run(overrides), items)
      }),
      { numRuns: 300 },
    )
  })
})
