import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Item, Part } from '../../../src/core/item.ts'
import { correctOrHideMislabeledMedia } from '../../../src/media/transforms/correct-or-hide-mislabeled-media.ts'
import {
  hideMediaOverSizeLimit,
  findOversizedMedia,
} from '../../../src/media/transforms/hide-media-over-size-limit.ts'
import type { LoadedMedia } from '../../../src/media/loading/load-result-types.ts'
import { resolveMediaUrlsAndLimits } from '../../../src/media/resolve-upstream-media-urls-and-limits.ts'
import { listMediaUrlsToLoad } from '../../../src/media/loading/list-media-urls-to-load.ts'
import { embedLoadedMediaOrNotice } from '../../../src/media/transforms/embed-loaded-media-or-notice.ts'
import type { Account, WireName } from '../../../src/providers/provider-interface.ts'
import { runTransforms } from '../../../src/context/list-and-run-transforms.ts'
import type { Transform } from '../../../src/context/transform-interface.ts'
import { expectNotesMatchChanges, expectIdempotent, expectPure } from '../../support/laws.ts'
import { createDataUrl, KINDS } from '../../media/pictures.ts'

const URL_A = 'https://a.example/a.png'

function account(wire: WireName, quirks = {}): Account {
  return { name: wire, wire, baseUrl: '', apiKey: null, models: [], headers: {}, quirks }
}

function image(image_url: string): Part {
  return { type: 'input_image', image_url }
}

function user(...content: readonly Part[]): Item {
  return { type: 'message', role: 'user', content }
}

const answer: Item = {
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text: 'I see.' }],
}

function textsIn(items: readonly Item[]): readonly string[] {
  return items.flatMap((item) =>
    item.type === 'message'
      ? item.content.map((part) => ('text' in part ? part.text : part.type))
      : [],
  )
}

describe('the media URLs that listMediaUrlsToLoad returns', () => {
  const items = [
    user(image(URL_A), { type: 'input_file', file_url: 'https://a.example/b.pdf' }),
    user(image('http://a.example/plain.png'), image('data:image/png;base64,AAAA')),
    user({ type: 'opaque', raw: { type: 'video_url', video_url: { url: 'https://youtu.be/x' } } }),
  ]
  const planned = (wire: WireName, quirks = {}) => [
    ...listMediaUrlsToLoad(items, resolveMediaUrlsAndLimits(account(wire, quirks))).keys(),
  ]

  test('listMediaUrlsToLoad lists the URLs that an upstream does not load itself, latest first', () => {
    expect(planned('responses')).toEqual([])
    expect(planned('anthropic')).toEqual(['http://a.example/plain.png'])
    expect(planned('chat')).toEqual(['https://a.example/b.pdf'])
    expect(planned('gemini')).toEqual([
      'http://a.example/plain.png',
      'https://a.example/b.pdf',
      URL_A,
    ])
    expect(planned('gemini', { remoteUrls: true })).toEqual([])
  })

  test('listMediaUrlsToLoad lists all URLs for an account with the quirk `mediaUrls: false`', () => {
    const all = planned('responses', { mediaUrls: false })
    expect(all).toHaveLength(4)
    expect(planned('gemini', { remoteUrls: true, mediaUrls: false })).toEqual(all)
    expect(planned('chat', { profile: 'ollama' })).toEqual(all)
    expect(planned('chat', { profile: 'ollama', mediaUrls: true })).toHaveLength(1)
  })
})

describe('embedding a loaded medium', () => {
  const reader = resolveMediaUrlsAndLimits(account('gemini'))
  const shown = (loaded: LoadedMedia, ...items: readonly Item[]) =>
    embedLoadedMediaOrNotice(loaded, reader).run(items)

  test('the URL of an image is replaced by the loaded image as a data URL', () => {
    const loaded = new Map([[URL_A, { type: 'image/png', base64: 'AAAA' }]])
    const step = shown(loaded, user(image(URL_A)), answer)
    expect(step.items[0]).toEqual(user(image('data:image/png;base64,AAAA')))
    expect(step.notes).toMatchObject([{ did: 'changed', at: 0, why: 'media-loaded' }])
  })

  test('a loaded file gets the name in its URL', () => {
    const url = 'https://a.example/report.pdf?x=1'
    const loaded = new Map([[url, { type: 'application/pdf', base64: 'AAAA' }]])
    const step = shown(loaded, user({ type: 'input_file', file_url: url }))
    const file_data = 'data:application/pdf;base64,AAAA'
    expect(step.items[0]).toEqual(user({ type: 'input_file', file_data, filename: 'report.pdf' }))
  })

  test('the URL of an image that could not be loaded is replaced by a notice to the model, with a note (C85)', () => {
    const step = shown(new Map([[URL_A, { fault: 'media-late' as const }]]), user(image(URL_A)))
    expect(textsIn(step.items)[0]).toMatch(/image.*not shown.*in time/)
    expect(step.notes).toMatchObject([{ did: 'changed', at: 0, why: 'media-late' }])
  })
})

describe('correcting the types of media (C85)', () => {
  const correct = (...items: readonly Item[]) => correctOrHideMislabeledMedia().run(items)

  test('an image with a wrong media type gets the type of its content', () => {
    const step = correct(user(image(createDataUrl('image/jpeg', 'image/png'))))
    expect(step.items).toEqual([user(image(createDataUrl('image/jpeg')))])
    expect(step.notes).toMatchObject([{ did: 'changed', at: 0, why: 'media-type-corrected' }])
  })

  test('media with the right or an unknown type stay the same objects', () => {
    const items = [
      ...KINDS.filter((kind) => kind.startsWith('image/')).map((kind) =>
        user(image(createDataUrl(kind))),
      ),
      user(image(createDataUrl('image/jpeg', 'image/jpg'))),
      // The content of an unknown type is not checked.
      user(image('data:image/x-unheard-of;base64,notReallyOne')),
      user({ type: 'input_file', file_data: createDataUrl('application/pdf'), filename: 'a.pdf' }),
      user({ type: 'input_audio', input_audio: { data: dataOf('audio/wav'), format: 'wav' } }),
    ]
    expect(correctOrHideMislabeledMedia().run(items)).toEqual({ items, notes: [] })
    expect(correctOrHideMislabeledMedia().run(items).items).toBe(items)
  })

  test('an image whose content is HTML or audio is replaced by a notice to the model', () => {
    const page = `data:image/png;base64,${btoa('<!doctype html><title>404</title>')}`
    const step = correct(user(image(page), image(createDataUrl('audio/wav', 'image/png'))))
    expect(textsIn(step.items)).toEqual([
      expect.stringMatching(/image.*not shown/),
      expect.stringMatching(/image.*not shown/),
    ])
    expect(step.notes.map(({ why }) => why)).toEqual(['media-mislabelled', 'media-mislabelled'])
  })

  test('an image is replaced by a notice if its content does not begin as its type requires', () => {
    const step = correct(user(image('data:image/png;base64,notReallyOne')))
    expect(textsIn(step.items)).toEqual([expect.stringMatching(/image.*not shown/)])
  })

  test('an image URL that is bare base64 becomes a data URL with the type of its content', () => {
    const step = correct(user(image(dataOf('image/png'))))
    expect(step.items).toEqual([user(image(createDataUrl('image/png')))])
    expect(step.notes.map(({ why }) => why)).toEqual(['media-type-corrected'])
  })

  test.each(['', ' ', '@@@@', btoa('{"error": "not found"}'), btoa('404 page not found')])(
    'an image is replaced by a notice if its base64 content is no image: %j',
    (base64) => {
      const step = correct(user(image(`data:image/png;base64,${base64}`)))
      expect(textsIn(step.items)).toEqual([expect.stringMatching(/image.*not shown/)])
      expect(step.notes.map(({ why }) => why)).toEqual(['media-mislabelled'])
    },
  )

  test('an image whose base64 content has leading spaces or URL-safe characters stays unchanged', () => {
    for (const base64 of [` ${dataOf('image/jpeg').slice(0, 21)}`, '_9j_4AAQSkZJRgABAQ']) {
      const items = [user(image(`data:image/jpeg;base64,${base64}`))]
      expect(correctOrHideMislabeledMedia().run(items).items).toBe(items)
    }
  })

  test('audio with a wrong `format` gets the format of its content', () => {
    const part: Part = {
      type: 'input_audio',
      input_audio: { data: dataOf('audio/mpeg'), format: 'wav' },
    }
    const [item] = correct(user(part)).items
    expect(item).toMatchObject({ content: [{ input_audio: { format: 'mp3' } }] })
  })
})

function dataOf(kind: (typeof KINDS)[number]): string {
  return createDataUrl(kind).slice(`data:${kind};base64,`.length)
}

describe('the media size limits of an upstream (C99)', () => {
  const limits = { maxImageChars: 400, maxRequestChars: 1000 }
  const fit = (...items: readonly Item[]) => hideMediaOverSizeLimit(limits).run(items)
  const sized = (chars: number) => image(`data:image/png;base64,${'A'.repeat(chars)}`)

  test('an image over the size limit is hidden in an earlier question, and reported in the latest question', () => {
    const step = fit(user(sized(404)), answer, user(sized(400)))
    expect(textsIn(step.items)[0]).toMatch(/not shown: it is larger/)
    expect(step.notes).toMatchObject([{ at: 0, why: 'media-oversized' }])
    expect(findOversizedMedia(step.items, limits)).toBeNull()
    const refused = findOversizedMedia([user(sized(40)), answer, user(sized(404))], limits)
    expect(refused).toMatchObject({
      itemIndex: 2,
      message: expect.stringContaining('takes') as string,
    })
  })

  test('the oldest images are hidden in steps if all images exceed the total limit, but none of the latest question', () => {
    const rounds = Array.from({ length: 8 }, () => [user(sized(200)), answer]).flat()
    const step = fit(...rounds)
    const left = textsIn(step.items).filter((text) => text === 'input_image')
    expect(left.length).toBe(4)
    expect(step.items.at(-2)).toBe(rounds.at(-2))
    expect(findOversizedMedia([user(sized(400), sized(400), sized(300))], limits)).not.toBeNull()
  })

  test('the choice of hidden images changes only rarely while a conversation grows', () => {
    const size = fc.integer({ min: 1, max: 100 })
    fc.assert(
      fc.property(fc.array(size, { minLength: 4, maxLength: 60 }), (sizes) => {
        const items = sizes.flatMap((chars) => [user(sized(chars * 4)), answer])
        let steps = 0
        let before: readonly Item[] = []
        for (let end = 1; end <= items.length; end += 2) {
          const { items: sent } = fit(...items.slice(0, end))
          const isSame = before.every(
            (item, at) => JSON.stringify(item) === JSON.stringify(sent[at]),
          )
          if (!isSame) steps += 1
          before = sent
        }
        const total = sizes.reduce((sum, chars) => sum + chars * 4, 0)
        expect(steps).toBeLessThanOrEqual(Math.ceil(total / (limits.maxRequestChars / 4)))
      }),
      { numRuns: 50 },
    )
  })

  test('hideMediaOverSizeLimit returns the same list object if the upstream has no size limits', () => {
    const items = [user(sized(4000))]
    expect(
      hideMediaOverSizeLimit({ maxImageChars: null, maxRequestChars: null }).run(items).items,
    ).toBe(items)
  })
})

const part = fc.oneof(
  fc
    .constantFrom(...KINDS)
    .chain((kind) => fc.constantFrom(...KINDS).map((type) => image(createDataUrl(kind, type)))),
  fc.constantFrom(
    image(URL_A),
    image('https://a.example/lost.png'),
    image('https://a.example/unknown.png'),
    image('data:,'),
    image('data:image/png;base64,%%%'),
    { type: 'input_text', text: 'Hello' } as Part,
    { type: 'input_file', file_id: 'file-1' } as Part,
    { type: 'input_file', file_data: 'JVBERi0xLjc=' } as Part,
  ),
)
const item: fc.Arbitrary<Item> = fc.oneof(
  fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => user(...parts)),
  fc.constant(answer),
  fc
    .array(part, { maxLength: 2 })
    .map((output): Item => ({ type: 'function_call_output', call_id: 'c', output })),
)
const loaded: LoadedMedia = new Map([
  [URL_A, { type: 'image/png', base64: 'iVBORw0KGgo=' }],
  ['https://a.example/lost.png', { fault: 'media-gone' as const }],
])
const steps: readonly (readonly [name: string, step: Transform])[] = [
  [
    'embedLoadedMedia',
    embedLoadedMediaOrNotice(loaded, resolveMediaUrlsAndLimits(account('gemini'))),
  ],
  ['correctOrHideMislabeledMedia', correctOrHideMislabeledMedia()],
  ['hideMediaOverSizeLimit', hideMediaOverSizeLimit({ maxImageChars: 60, maxRequestChars: 200 })],
]

test.each(steps)(
  'the media transform %s is pure and idempotent, and notes all its changes',
  (_, step) => {
    fc.assert(
      fc.property(fc.array(item, { maxLength: 8 }), (items) => {
        const distinct = items.map((one) => ({ ...one }))
        expectPure(step.run, distinct)
        expectIdempotent(step.run, distinct)
        expectNotesMatchChanges(distinct, step.run(distinct))
        expect(runTransforms(distinct, [step]).items).toEqual(step.run(distinct).items)
      }),
    )
  },
)
