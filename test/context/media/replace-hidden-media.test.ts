import { describe, expect, test } from 'vitest'
import type { Item, Part } from '../../../src/core/item.ts'
import { listContentParts } from '../../../src/core/media/media-handles.ts'
import { MEDIA_KINDS, type MediaKind } from '../../../src/core/media/content-part-media.ts'
import { PRESETS, type MediaRules } from '../../../src/core/context-policy.ts'
import { replaceHiddenMedia } from '../../../src/context/media/replace-hidden-media.ts'
import { deepFreeze } from '../../support/laws.ts'
import { talk } from '../../support/talk.ts'

const url = (name: string) => `https://pictures.example/${name}.png`
const image = (name: string): Part => ({ type: 'input_image', image_url: url(name) })
const dataImage = (letter: string, chars: number): Part => ({
  type: 'input_image',
  image_url: `data:image/png;base64,${letter.repeat(chars)}`,
})
const textPart = (text: string): Part => ({ type: 'input_text', text })
const AUDIO: Part = { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } }
const VIDEO: Part = {
  type: 'opaque',
  raw: { type: 'video_url', video_url: { url: 'https://v/1' } },
}
const PDF: Part = {
  type: 'input_file',
  filename: 'a.pdf',
  file_data: 'data:application/pdf;base64,JV',
}

const user = (...content: Part[]): Item => ({ type: 'message', role: 'user', content })
const output = (...parts: Part[]): Item => ({
  type: 'function_call_output',
  call_id: 'a',
  output: parts,
})
const OK = talk`assistant: ok`
const CALL = talk`call a`

interface TransformOverrides {
  readonly acceptedKinds?: readonly MediaKind[]
  readonly canView?: boolean
}

function createTransform(
  rules: Partial<MediaRules>,
  { acceptedKinds = MEDIA_KINDS, canView = false }: TransformOverrides = {},
) {
  return replaceHiddenMedia({
    rules: { ...PRESETS.replay.media, view: canView, ...rules },
    acceptedMediaKinds: new Set(acceptedKinds),
  })
}

/** Renders visible images by name, and notices as text, e.g. `a b | [Gateway notice: …]`. */
function renderItems(items: readonly Item[]): readonly string[] {
  return items.map((item) =>
    listContentParts(item)
      .map((part) => {
        if ('text' in part) return part.text
        if (part.type !== 'input_image') return part.type
        return (part.image_url ?? '').replace(/^.*\/(\w+)\.png$/, '$1')
      })
      .join(' | '),
  )
}

const run = (items: readonly Item[], rules: Partial<MediaRules>, asked?: TransformOverrides) =>
  renderItems(createTransform(rules, asked).run(items).items)

const OLDER = (handle: string) =>
  `[Gateway notice: An image (${handle}) was here. It is not shown any more, because only newer ones are. Do not describe it as if you saw it.]`

/** One question with an image for each character, e.g. `ab` → two turns. */
const turns = (names: string) =>
  names.split('').flatMap((name) => [user(textPart(`see ${name}`), image(name)), ...OK])

const listVisibleImages = (items: readonly Item[]) =>
  renderItems(items)
    .join(' ')
    .match(/(?<=\| )[a-z](?= |$)/g)
    ?.join('') ?? ''

describe('the media window, a number of messages (C72)', () => {
  test('media of messages before the media window are replaced by notices with handles such as `media_1`', () => {
    expect(run(turns('abc'), { window: 4 })).toEqual([
      `see a | ${OLDER('media_1')}`,
      'ok',
      'see b | b',
      'ok',
      'see c | c',
      'ok',
    ])
  })

  test('each item with media outside of the window gets one note', () => {
    const { items, notes } = createTransform({ window: 4 }).run(turns('abc'))
    expect(notes).toEqual([{ did: 'changed', at: 0, why: 'media-outside-window' }])
    expect(items).toHaveLength(6)
  })

  test('a media window moves in steps of half its size', () => {
    const borders = 'abcdefgh'
      .split('')
      .map((_, at) =>
        listVisibleImages(
          createTransform({ window: 8 }).run(turns('abcdefgh'.slice(0, at + 1))).items,
        ),
      )
    expect(borders).toEqual(['a', 'ab', 'abc', 'abcd', 'cde', 'cdef', 'efg', 'efgh'])
  })

  test('a media window of 0 shows only the media of the latest question', () => {
    const items = [...turns('ab'), user(image('c')), ...CALL, output(image('d'))]
    expect(listVisibleImages(createTransform({ window: 0 }).run(turns('ab')).items)).toBe('b')
    expect(renderItems(createTransform({ window: 0 }).run(items).items).slice(-3)).toEqual([
      'c',
      '',
      OLDER('media_4'),
    ])
  })

  test('a media window also applies to recordings, videos and files', () => {
    const items = [user(AUDIO, VIDEO, PDF), ...OK, ...turns('a')]
    const [first] = createTransform({ window: 2 }).run(items).items
    expect(
      renderItems(first === undefined ? [] : [first])[0]?.match(/An? [a-z ]+\(media_\d\)/g),
    ).toEqual(['An audio recording (media_1)', 'A video (media_2)', 'A file (media_3)'])
  })
})

describe('the limit of messages with images (C73)', () => {
  test('the limit of messages with images counts a message with several images once', () => {
    const two = [user(image('a'), image('b')), ...OK, user(image('c'), image('d')), ...OK]
    expect(renderItems(createTransform({ imageMessages: 2 }).run(two).items)).toEqual(
      renderItems(two),
    )
    const shown = 'abcdef'
      .split('')
      .map((_, at) =>
        listVisibleImages(
          createTransform({ imageMessages: 3 }).run(turns('abcdef'.slice(0, at + 1))).items,
        ),
      )
    expect(shown).toEqual(['a', 'ab', 'abc', 'cd', 'cde', 'ef'])
  })

  test('hidden images of one message are replaced by one notice', () => {
    const items = [user(image('a'), image('b')), ...OK, ...turns('c')]
    expect(run(items, { imageMessages: 1 })[0]).toBe(
      '[Gateway notice: 2 images (media_1, media_2) were here. They are not shown any more, because only newer ones are. Do not describe them as if you saw them.]',
    )
  })

  test('a limit of 0 messages with images hides no recordings and no images of the latest question', () => {
    const items = [user(AUDIO, image('a')), ...OK, user(image('b'))]
    expect(run(items, { imageMessages: 0 })).toEqual([
      `input_audio | ${OLDER('media_2')}`,
      'ok',
      'b',
    ])
  })
})

describe('the limit on the number of images (C74)', () => {
  test('a limit of images keeps the latest images and moves in steps of half its size', () => {
    const shown = 'abcdefghi'
      .split('')
      .map((_, at) =>
        listVisibleImages(
          createTransform({ images: 5 }).run(turns('abcdefghi'.slice(0, at + 1))).items,
        ),
      )
    expect(shown).toEqual(['a', 'ab', 'abc', 'abcd', 'abcde', 'def', 'defg', 'defgh', 'ghi'])
  })

  test('images of the latest question count toward the limit but are never hidden', () => {
    const items = [...turns('abc'), user(image('d'), image('e')), user(image('f'))]
    expect(run(items, { images: 2 }).slice(-2)).toEqual(['d | e', 'f'])
    expect(listVisibleImages(createTransform({ images: 2 }).run(items).items.slice(0, -2))).toBe('')
  })

  test('a limit of images applies to the outputs of a long tool loop, but not to the latest output', () => {
    const loop = (count: number) => [
      ...turns('x'),
      user(textPart('go'), image('q')),
      ...Array.from({ length: count }, (_, at) => [...CALL, output(image(`t${at}`))]).flat(),
    ]
    for (let count = 1; count < 30; count += 1) {
      const shown = renderItems(createTransform({ images: 4 }).run(loop(count)).items).filter(
        (text) => /(^|\| )(q|x|t\d+)$/.test(text),
      )
      expect(shown.length).toBeLessThanOrEqual(4)
      expect(shown[0] === 'see x | x' ? shown[1] : shown[0]).toBe('go | q')
      expect(shown.at(-1)).toBe(`t${count - 1}`)
    }
  })

  test('a limit of images moves in steps during a tool loop', () => {
    let steps = 0
    let before: readonly string[] = []
    for (let count = 1; count <= 40; count += 1) {
      const loop = Array.from({ length: count }, (_, at) => output(image(`t${at}`)))
      const now = run([user(textPart('go')), ...loop], { images: 8 })
      if (before.some((text, at) => text !== now[at])) steps += 1
      before = now
    }
    expect(steps).toBe(8)
  })
})

describe('images that occur several times (C76)', () => {
  test('with `media.repeated: last`, a notice replaces each earlier occurrence of a repeated image', () => {
    expect(
      run([user(image('a')), ...OK, user(textPart('and'), image('a'))], { repeated: 'last' }),
    ).toEqual([
      '[Gateway notice: An image (media_1) was here. It comes again later in this conversation.]',
      'ok',
      'and | a',
    ])
  })

  test('with `media.repeated: last`, a repeated image counts once toward the limit of images', () => {
    const items = [...turns('ab'), ...turns('b'), ...turns('b')]
    expect(
      listVisibleImages(createTransform({ images: 2, repeated: 'last' }).run(items).items),
    ).toBe('ab')
    expect(
      listVisibleImages(createTransform({ imageMessages: 2, repeated: 'last' }).run(items).items),
    ).toBe('ab')
    expect(listVisibleImages(createTransform({ images: 2 }).run(items).items)).not.toContain('a')
  })

  test('if an image comes again that a limit has already hidden, the earlier items are sent unchanged', () => {
    const before = createTransform({ images: 5, repeated: 'last' }).run(turns('abcdef')).items
    const after = createTransform({ images: 5, repeated: 'last' }).run(turns('abcdefa')).items
    expect(renderItems(after).slice(0, before.length)).toEqual(renderItems(before))
  })

  test('an image that occurs twice in one question is shown twice, even with `media.repeated: last`', () => {
    const items = [user(image('a'), image('a')), user(image('a')), ...OK, user(textPart('so'))]
    expect(createTransform({ repeated: 'last', images: 3 }).run(items).items).toBe(items)
  })

  test('an image sent as data counts as repeated only if a later image has the same data', () => {
    const items = [
      user(dataImage('A', 40)),
      ...CALL,
      output(dataImage('B', 40)),
      ...OK,
      user(dataImage('A', 40)),
    ]
    const { notes } = createTransform({ repeated: 'last' }).run(items)
    expect(notes).toEqual([{ did: 'changed', at: 0, why: 'media-repeated' }])
  })
})

test('a limit of bytes hides the oldest media, and counts 0 bytes for an image sent as a URL', () => {
  const shown = 'abcdefghij'.split('').map((_, at) => {
    const items = 'ABCDEFGHIJ'
      .slice(0, at + 1)
      .split('')
      .flatMap((name) => [user(dataImage(name, 400), image(name.toLowerCase())), ...OK])
    const { items: sentItems, notes } = createTransform({ bytes: 1600 }).run(items)
    expect(notes.every(({ why }) => why === 'media-over-bytes')).toBe(true)
    return sentItems.filter((item, place) => item.type === 'message' && item === items[place])
      .length
  })
  // A data URL of 422 characters is 317 bytes; the cutoff moves by 800 bytes.
  expect(shown.map((count, at) => count - at - 1)).toEqual([1, 2, 3, 4, 5, 3, 4, 2, 3, 4])
})

describe('notices for a model that does not accept images (C78)', () => {
  const items = [
    user(textPart('what is this?'), image('a'), AUDIO),
    ...CALL,
    output(textPart('a screenshot'), image('b'), image('c')),
  ]
  const BLIND: TransformOverrides = { acceptedKinds: ['file'], canView: true }

  test('a model that accepts no images gets a notice instead, even in the latest question', () => {
    expect(run(items, {}, BLIND)).toEqual([
      'what is this? | [Gateway notice: An image (media_1) was here. You cannot see it. Do not describe it, and do not guess what it shows.] | [Gateway notice: An audio recording (media_2) was here. You cannot hear it. Do not describe it, and do not guess what it shows.]',
      '',
      'a screenshot | [Gateway notice: 2 images (media_3, media_4) were here. You cannot see them. Do not describe them, and do not guess what they show.]',
    ])
  })

  test('a model that accepts images but no videos is sent the images, and a notice instead of each video', () => {
    const mixed = [user(image('a'), VIDEO, textPart('so?'))]
    expect(run(mixed, {}, { acceptedKinds: ['image'] })[0]).toMatch(
      /^a \| .*You cannot see it.* \| so\?$/,
    )
  })

  test('images that were hidden from one model are sent to the next model if that model accepts images (C77)', () => {
    deepFreeze(items)
    expect(createTransform({}).run(items).items).toBe(items)
    expect(createTransform({}, BLIND).run(items).items).not.toBe(items)
    expect(createTransform({}).run(items).items).toBe(items)
  })

  test('a media notice mentions the viewing tool only if the tool is offered and the model accepts the kind (C79)', () => {
    const old = [...turns('a'), ...turns('b')]
    expect(run(old, {}, BLIND).join()).not.toContain('view_media')
    expect(run(old, { images: 1 }).join()).not.toContain('view_media')
    expect(run(old, { images: 1 }, { canView: true })[0]).toMatch(
      /The tool view_media shows it\.\]$/,
    )
  })

  test('media that the model does not accept do not count toward a limit', () => {
    const mixed = [user(VIDEO, image('a')), ...OK, user(VIDEO)]
    expect(run(mixed, { images: 1 }, { acceptedKinds: ['image'] })[0]).toMatch(/\| a$/)
  })
})

test('a media notice is a content part of its own, and the text beside it stays unchanged (C82)', () => {
  const said = textPart('look')
  const item = user(image('a'), said)
  const [changed] = createTransform({ images: 0 }).run([item, ...OK, user(textPart('so?'))]).items
  expect(changed === undefined ? null : listContentParts(changed)[1]).toBe(said)
  expect(changed === undefined ? null : listContentParts(changed)).toHaveLength(2)
})

test('a media notice has no wire-specific fields of the part that it replaces', () => {
  const hidden: Item = {
    ...user(image('a')),
    native: { chat: { name: 'ada', $parts: [{ image_url: { url: url('a') } }] } },
  }
  const [changed] = createTransform({ images: 0 }).run([hidden, ...OK, user(textPart('so?'))]).items
  expect(changed?.native).toEqual({ chat: { name: 'ada' } })
})

test('media handles are numbered over the complete conversation if the list is only a part of it (C80)', () => {
  const whole = turns('abc')
  const rules = { ...PRESETS.replay.media, images: 1 }
  const { run } = replaceHiddenMedia({
    rules,
    acceptedMediaKinds: new Set(MEDIA_KINDS),
    conversation: whole,
  })
  expect(renderItems(run(whole.slice(2)).items)[0]).toContain('media_2')
})

test('media of a pinned question never count toward a limit, so that no hidden media come back later', () => {
  const pinned: Item = { ...user(image('b')), native: { backstory: { pin: true } } }
  const asked = [user(image('a')), ...OK, pinned]
  expect(run(asked, { images: 1 })).toEqual(['a', 'ok', 'b'])
  expect(run([...asked, ...OK, user(textPart('So?'))], { images: 1 })).toEqual([
    'a',
    'ok',
    'b',
    'ok',
    'So?',
  ])
})
