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
const held = (letter: string, chars: number): Part => ({
  type: 'input_image',
  image_url: `data:image/png;base64,${letter.repeat(chars)}`,
})
const words = (text: string): Part => ({ type: 'input_text', text })
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

interface Asked {
  readonly sees?: readonly MediaKind[]
  readonly canView?: boolean
}

function shownOf(rules: Partial<MediaRules>, { sees = MEDIA_KINDS, canView = false }: Asked = {}) {
  return replaceHiddenMedia({
    rules: { ...PRESETS.replay.media, ...rules },
    sees: new Set(sees),
    canView,
  })
}

/** `a b` for shown images, the text of a notice in between. */
function sent(items: readonly Item[]): readonly string[] {
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

const run = (items: readonly Item[], rules: Partial<MediaRules>, asked?: Asked) =>
  sent(shownOf(rules, asked).run(items).items)

const OLDER = (handle: string) =>
  `[Gateway notice: An image (${handle}) was here. It is not shown any more, because only newer ones are. Do not describe it as if you saw it.]`

/** One question with an image each. */
const turns = (names: string) =>
  names.split('').flatMap((name) => [user(words(`see ${name}`), image(name)), ...OK])

const shownIn = (items: readonly Item[]) =>
  sent(items)
    .join(' ')
    .match(/(?<=\| )[a-z](?= |$)/g)
    ?.join('') ?? ''

describe('the window (C72)', () => {
  test('shows media in the newest messages; elsewhere stands a notice with the handle', () => {
    expect(run(turns('abc'), { window: 4 })).toEqual([
      `see a | ${OLDER('media_1')}`,
      'ok',
      'see b | b',
      'ok',
      'see c | c',
      'ok',
    ])
  })

  test('tells what it hides once, in a note', () => {
    const { items, notes } = shownOf({ window: 4 }).run(turns('abc'))
    expect(notes).toEqual([{ did: 'changed', at: 0, why: 'media-outside-window' }])
    expect(items).toHaveLength(6)
  })

  test('moves in steps of half of it', () => {
    const borders = 'abcdefgh'
      .split('')
      .map((_, at) => shownIn(shownOf({ window: 8 }).run(turns('abcdefgh'.slice(0, at + 1))).items))
    expect(borders).toEqual(['a', 'ab', 'abc', 'abcd', 'cde', 'cdef', 'efg', 'efgh'])
  })

  test('of none shows nothing but the question', () => {
    const items = [...turns('ab'), user(image('c')), ...CALL, output(image('d'))]
    expect(shownIn(shownOf({ window: 0 }).run(turns('ab')).items)).toBe('b')
    expect(sent(shownOf({ window: 0 }).run(items).items).slice(-3)).toEqual([
      'c',
      '',
      OLDER('media_4'),
    ])
  })

  test('goes for recordings, films and files as well', () => {
    const items = [user(AUDIO, VIDEO, PDF), ...OK, ...turns('a')]
    const [first] = shownOf({ window: 2 }).run(items).items
    expect(sent(first === undefined ? [] : [first])[0]?.match(/An? [a-z ]+\(media_\d\)/g)).toEqual([
      'An audio recording (media_1)',
      'A video (media_2)',
      'A file (media_3)',
    ])
  })
})

describe('the limit of messages with images (C73)', () => {
  test('counts messages and not images, in steps', () => {
    const two = [user(image('a'), image('b')), ...OK, user(image('c'), image('d')), ...OK]
    expect(sent(shownOf({ imageMessages: 2 }).run(two).items)).toEqual(sent(two))
    const shown = 'abcdef'
      .split('')
      .map((_, at) =>
        shownIn(shownOf({ imageMessages: 3 }).run(turns('abcdef'.slice(0, at + 1))).items),
      )
    expect(shown).toEqual(['a', 'ab', 'abc', 'cd', 'cde', 'ef'])
  })

  test('counts the older images that it hides together', () => {
    const items = [user(image('a'), image('b')), ...OK, ...turns('c')]
    expect(run(items, { imageMessages: 1 })[0]).toBe(
      '[Gateway notice: 2 images (media_1, media_2) were here. They are not shown any more, because only newer ones are. Do not describe them as if you saw them.]',
    )
  })

  test('lets recordings be, and 0 is none but those of the question', () => {
    const items = [user(AUDIO, image('a')), ...OK, user(image('b'))]
    expect(run(items, { imageMessages: 0 })).toEqual([
      `input_audio | ${OLDER('media_2')}`,
      'ok',
      'b',
    ])
  })
})

describe('the limit of images (C74)', () => {
  test('keeps the newest, in steps', () => {
    const shown = 'abcdefghi'
      .split('')
      .map((_, at) =>
        shownIn(shownOf({ images: 5 }).run(turns('abcdefghi'.slice(0, at + 1))).items),
      )
    expect(shown).toEqual(['a', 'ab', 'abc', 'abcd', 'abcde', 'def', 'defg', 'defgh', 'ghi'])
  })

  test('never cuts the newest question, which takes the room of the older ones', () => {
    const items = [...turns('abc'), user(image('d'), image('e')), user(image('f'))]
    expect(run(items, { images: 2 }).slice(-2)).toEqual(['d | e', 'f'])
    expect(shownIn(shownOf({ images: 2 }).run(items).items.slice(0, -2))).toBe('')
  })

  test('holds in a long tool loop, and the newest output is always seen', () => {
    const loop = (count: number) => [
      ...turns('x'),
      user(words('go'), image('q')),
      ...Array.from({ length: count }, (_, at) => [...CALL, output(image(`t${at}`))]).flat(),
    ]
    for (let count = 1; count < 30; count += 1) {
      const shown = sent(shownOf({ images: 4 }).run(loop(count)).items).filter((text) =>
        /(^|\| )(q|x|t\d+)$/.test(text),
      )
      expect(shown.length).toBeLessThanOrEqual(4)
      expect(shown[0] === 'see x | x' ? shown[1] : shown[0]).toBe('go | q')
      expect(shown.at(-1)).toBe(`t${count - 1}`)
    }
  })

  test('in a tool loop, too, the border moves in steps', () => {
    let steps = 0
    let before: readonly string[] = []
    for (let count = 1; count <= 40; count += 1) {
      const loop = Array.from({ length: count }, (_, at) => output(image(`t${at}`)))
      const now = run([user(words('go')), ...loop], { images: 8 })
      if (before.some((text, at) => text !== now[at])) steps += 1
      before = now
    }
    expect(steps).toBe(8)
  })
})

describe('an image that comes again (C76)', () => {
  test('is shown where it came last, and leaves a note in a message that is nothing else', () => {
    expect(
      run([user(image('a')), ...OK, user(words('and'), image('a'))], { repeated: 'last' }),
    ).toEqual([
      '[Gateway notice: An image (media_1) was here. It comes again later in this conversation.]',
      'ok',
      'and | a',
    ])
  })

  test('does not use up the limit', () => {
    const items = [...turns('ab'), ...turns('b'), ...turns('b')]
    expect(shownIn(shownOf({ images: 2, repeated: 'last' }).run(items).items)).toBe('ab')
    expect(shownIn(shownOf({ imageMessages: 2, repeated: 'last' }).run(items).items)).toBe('ab')
    expect(shownIn(shownOf({ images: 2 }).run(items).items)).not.toContain('a')
  })

  test('changes nothing else of what was sent', () => {
    const before = shownOf({ images: 5, repeated: 'last' }).run(turns('abcdef')).items
    const after = shownOf({ images: 5, repeated: 'last' }).run(turns('abcdefa')).items
    expect(sent(after).slice(0, before.length)).toEqual(sent(before))
  })

  test('twice at once stays twice', () => {
    const items = [user(image('a'), image('a')), user(image('a')), ...OK, user(words('so'))]
    expect(shownOf({ repeated: 'last', images: 3 }).run(items).items).toBe(items)
  })

  test('is the same by its data as well, and another in tool outputs is not', () => {
    const items = [user(held('A', 40)), ...CALL, output(held('B', 40)), ...OK, user(held('A', 40))]
    const { notes } = shownOf({ repeated: 'last' }).run(items)
    expect(notes).toEqual([{ did: 'changed', at: 0, why: 'media-repeated' }])
  })
})

test('so many bytes are kept, of the newest and in steps; an address has none', () => {
  const shown = 'abcdefghij'.split('').map((_, at) => {
    const items = 'ABCDEFGHIJ'
      .slice(0, at + 1)
      .split('')
      .flatMap((name) => [user(held(name, 400), image(name.toLowerCase())), ...OK])
    const { items: sentItems, notes } = shownOf({ bytes: 1600 }).run(items)
    expect(notes.every(({ why }) => why === 'media-over-bytes')).toBe(true)
    return sentItems.filter((item, place) => item.type === 'message' && item === items[place])
      .length
  })
  // A data URL of 422 characters is 317 bytes; the border moves by 800.
  expect(shown.map((count, at) => count - at - 1)).toEqual([1, 2, 3, 4, 5, 3, 4, 2, 3, 4])
})

describe('a model that is blind (C78)', () => {
  const items = [
    user(words('what is this?'), image('a'), AUDIO),
    ...CALL,
    output(words('a screenshot'), image('b'), image('c')),
  ]
  const BLIND: Asked = { sees: ['file'], canView: true }

  test('is told what it cannot see, and not to describe it, in the newest question as well', () => {
    expect(run(items, {}, BLIND)).toEqual([
      'what is this? | [Gateway notice: An image (media_1) was here. You cannot see it. Do not describe it, and do not guess what it shows.] | [Gateway notice: An audio recording (media_2) was here. You cannot hear it. Do not describe it, and do not guess what it shows.]',
      '',
      'a screenshot | [Gateway notice: 2 images (media_3, media_4) were here. You cannot see them. Do not describe them, and do not guess what they show.]',
    ])
  })

  test('is given what it can see', () => {
    const mixed = [user(image('a'), VIDEO, words('so?'))]
    expect(run(mixed, {}, { sees: ['image'] })[0]).toMatch(/^a \| .*You cannot see it.* \| so\?$/)
  })

  test('is another one than who sees the same list (C77)', () => {
    deepFreeze(items)
    expect(shownOf({}).run(items).items).toBe(items)
    expect(shownOf({}, BLIND).run(items).items).not.toBe(items)
    expect(shownOf({}).run(items).items).toBe(items)
  })

  test('is not told of a tool that does not help it, nor anybody of one that is not offered (C79)', () => {
    const old = [...turns('a'), ...turns('b')]
    expect(run(old, {}, BLIND).join()).not.toContain('view_media')
    expect(run(old, { images: 1 }).join()).not.toContain('view_media')
    expect(run(old, { images: 1 }, { canView: true })[0]).toMatch(
      /The tool view_media shows it\.\]$/,
    )
  })

  test('takes no room from what can be seen', () => {
    const mixed = [user(VIDEO, image('a')), ...OK, user(VIDEO)]
    expect(run(mixed, { images: 1 }, { sees: ['image'] })[0]).toMatch(/\| a$/)
  })
})

test('a notice is a part of its own, and what else was said is the same object (C82)', () => {
  const said = words('look')
  const item = user(image('a'), said)
  const [changed] = shownOf({ images: 0 }).run([item, ...OK, user(words('so?'))]).items
  expect(changed === undefined ? null : listContentParts(changed)[1]).toBe(said)
  expect(changed === undefined ? null : listContentParts(changed)).toHaveLength(2)
})

test('what a wire knew of a hidden part does not come back with the notice', () => {
  const hidden: Item = {
    ...user(image('a')),
    native: { chat: { name: 'ada', $parts: [{ image_url: { url: url('a') } }] } },
  }
  const [changed] = shownOf({ images: 0 }).run([hidden, ...OK, user(words('so?'))]).items
  expect(changed?.native).toEqual({ chat: { name: 'ada' } })
})

test('handles are those of the whole conversation, where the list is a part of it (C80)', () => {
  const whole = turns('abc')
  const rules = { ...PRESETS.replay.media, images: 1 }
  const { run } = replaceHiddenMedia({
    rules,
    sees: new Set(MEDIA_KINDS),
    canView: false,
    conversation: whole,
  })
  expect(sent(run(whole.slice(2)).items)[0]).toContain('media_2')
})

test('what a pinned question shows takes no room of others, so that none comes back when it is old', () => {
  const pinned: Item = { ...user(image('b')), native: { backstory: { pin: true } } }
  const asked = [user(image('a')), ...OK, pinned]
  expect(run(asked, { images: 1 })).toEqual(['a', 'ok', 'b'])
  expect(run([...asked, ...OK, user(words('So?'))], { images: 1 })).toEqual([
    'a',
    'ok',
    'b',
    'ok',
    'So?',
  ])
})
