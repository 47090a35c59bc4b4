/** Checks that the `<details>` blocks of Open WebUI before 0.10 are removed from answers. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Item, Part } from '../../../src/core/item.ts'
import { stripDetailsBlocks } from '../../../src/context/cleaning/strip-details-blocks.ts'
import { expectNotesMatchChanges, expectIdempotent, expectPure } from '../../support/laws.ts'
import { show, talk } from '../../support/talk.ts'

const { run } = stripDetailsBlocks()
const REASONING =
  '<details type="reasoning" done="true" duration="3">⏎<summary>Thought for 3 seconds</summary>⏎> Let me see.⏎</details>'
const CALL =
  '<details type="tool_calls" done="true" id="call_1" name="look" arguments="&quot;{}&quot;" result="&quot;4 degrees&quot;" files="" embeds="">⏎<summary>Tool Executed</summary>⏎</details>'
const CODE =
  '<details type="code_interpreter" done="true" duration="1" output="{}">⏎<summary>Analyzed</summary>⏎```python⏎print(1)⏎```⏎</details>'

/** Returns the remaining text of an answer in the middle of a chat. */
function stripFrom(text: string): string {
  const { items } = run(talk`
    user: well?
    assistant: ${text.replaceAll('⏎', '\n')}
  `)
  return show(items.slice(1)).replace(/^assistant: ?/, '')
}

test.each([
  ['only the answer after a reasoning block', `${REASONING}⏎It is cold.`, 'It is cold.'],
  ['the texts around a block, separated by a blank line', `Hm.⏎${CALL}⏎⏎⏎So.`, 'Hm.⏎⏎So.'],
  ['the text after several blocks', `${REASONING}⏎${CALL}⏎${CODE}⏎So.`, 'So.'],
  ['the texts between several blocks', `a⏎${REASONING}⏎b⏎⏎${CALL}⏎c`, 'a⏎⏎b⏎⏎c'],
  ['the texts around a block in the middle of a line', `a ${REASONING} b`, 'a⏎⏎b'],
  ['the indent of the line after a block', `a⏎${REASONING}⏎⏎    code`, 'a⏎⏎    code'],
])('removing details blocks from an answer leaves %s', (_, text, expected) => {
  expect(stripFrom(text)).toBe(expected)
})

test.each([
  [
    'contains another block',
    '<details type="reasoning">a⏎<details>⏎b⏎</details>⏎c⏎</details>⏎So.',
    'So.',
  ],
  ['was never closed', 'So.⏎<details type="reasoning" done="false">⏎> Let me', 'So.'],
  [
    'mentions a tag that it does not close',
    '<details type="reasoning">⏎> what does <details do?⏎> <details> folds⏎</details>⏎So.',
    'So.',
  ],
  [
    'mentions an unclosed tag before further blocks',
    `<details type="reasoning">⏎> <details> folds⏎</details>⏎So.⏎${CALL}⏎Done.`,
    'So.⏎⏎Done.',
  ],
])('a details block that %s is removed, and the answer around it stays', (_, text, expected) => {
  expect(stripFrom(text)).toBe(expected)
})

describe('texts from which no details block is removed', () => {
  test.each([
    ['a block in a code fence', `See:⏎\`\`\`html⏎${REASONING}⏎\`\`\`⏎ok`],
    ['a block in a longer fence of tildes', `~~~~⏎~~~⏎${REASONING}⏎~~~~`],
    ['a block in a fence that is open to the end', `\`\`\`⏎${REASONING}`],
    ['a block in a fence of a list', `1. see:⏎   - so:⏎     \`\`\`⏎     ${REASONING}⏎     \`\`\``],
    ['details of other types', '<details>⏎<summary>More</summary>⏎x⏎</details>'],
    ['details of an unknown type', '<details type="note">x</details>'],
    ['a tag that is only mentioned', 'It begins with `<details type="reasoning">` there.'],
  ])('removing details blocks does not change an answer with %s', (_, text) => {
    const items = talk`
      user: well?
      assistant: ${text.replaceAll('⏎', '\n')}
    `
    expect(run(items).items).toBe(items)
    expect(run(items).notes).toEqual([])
  })

  test('details blocks in messages of users and in tool outputs are not removed', () => {
    const items = talk`
      system: ${REASONING}
      user: ${REASONING}
      call a
      output a ${REASONING}
    `
    expect(run(items).items).toBe(items)
  })
})

test('a details block after a closed code fence is removed', () => {
  expect(stripFrom(`\`\`\`⏎x⏎\`\`\`⏎${REASONING}⏎So.`)).toBe('```⏎x⏎```⏎⏎So.')
  expect(stripFrom(`\`\`\`not a fence\`\`\`⏎${REASONING}⏎So.`)).toBe('```not a fence```⏎⏎So.')
  expect(stripFrom(`- a⏎  \`\`\`⏎  x⏎  \`\`\`⏎${REASONING}⏎So.`)).toBe('- a⏎  ```⏎  x⏎  ```⏎⏎So.')
})

test('a message that holds only details blocks is dropped, unless it is the only item', () => {
  const step = run(talk`
    user: well?
    assistant: ${REASONING.replaceAll('⏎', '\n')}
    user: and?
  `)
  expect(show(step.items)).toBe('user: well?\nuser: and?')
  expect(step.notes).toEqual([{ did: 'dropped', at: 1, why: 'details-removed' }])
  const alone = run(talk`assistant: ${REASONING.replaceAll('⏎', '\n')}`)
  expect(show(alone.items)).toBe('assistant:')
  expect(alone.notes).toEqual([{ did: 'changed', at: 0, why: 'details-removed' }])
})

test('removing a details block also removes the annotations of the changed text, because their positions are wrong for the new text', () => {
  const annotated: Part = {
    type: 'output_text',
    text: '<details type="reasoning">a</details>b',
    annotations: [{ type: 'url_citation', start_index: 0, end_index: 1, url: 'https://a.example' }],
  }
  const image: Part = { type: 'input_image', image_url: 'data:image/png;base64,AA==' }
  const items: readonly Item[] = [
    { type: 'message', role: 'assistant', content: [annotated, image] },
    { type: 'message', role: 'assistant', content: [{ ...annotated, text: '' }, image] },
  ]
  const step = run(items)
  expect(step.items).toEqual([
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'b' }, image] },
    items[1],
  ])
  expect(step.items[1]).toBe(items[1])
})

/** Pieces of generated texts. */
const anyText = fc
  .array(
    fc.constantFrom(
      '<details type="reasoning">',
      '<details type="tool_calls" id="a">',
      '<details>',
      '</details>',
      '<details',
      '```',
      '~~~~',
      '`',
      '\n',
      '\n\n',
      ' ',
      '    ',
      'so',
      '> ',
      '- ',
    ),
    { maxLength: 30 },
  )
  .map((pieces) => pieces.join(''))
const chats = fc.array(
  fc.tuple(
    fc.constantFrom('assistant' as const, 'user' as const),
    fc.array(anyText, { maxLength: 2 }),
  ),
  { maxLength: 3 },
)
const itemsOf = (chat: typeof chats extends fc.Arbitrary<infer One> ? One : never) =>
  chat.map(([role, texts]): Item => ({
    type: 'message',
    role,
    content: texts.map((text) => ({ type: 'output_text', text })),
  }))

test('removing details blocks from any text does not modify its input, has a note for each change, and changes nothing in a second run', () => {
  fc.assert(
    fc.property(chats.map(itemsOf), (items) => {
      expectPure(run, items)
      expectIdempotent(run, items)
      expectNotesMatchChanges(items, run(items))
    }),
    { numRuns: 2000 },
  )
})

test('removing details blocks takes linear time for a long text full of tags', () => {
  const told = (text: string): readonly Item[] => {
    const items = talk`
      user: well?
      assistant: ${'x'}
    `.map((item) =>
      item.type === 'message' && item.role === 'assistant'
        ? ({ ...item, content: [{ type: 'output_text', text }] } satisfies Item)
        : item,
    )
    return run(items).items
  }
  const hostile = [
    '<details type="reasoning">',
    '<details type="reasoning"> <details>',
    '<details type="reasoning"> <details></details>',
    '\n```<details type="reasoning">',
    ' '.repeat(50),
  ]
  for (const piece of hostile) {
    // A quadratic search would exceed the time limit of the test.
    const text = piece.repeat(1_000_000 / piece.length)
    expect(told(`<details type="reasoning">${text}`)[0]).toMatchObject({ role: 'user' })
    expect(told(`x <details type="reasoning">${text}`)).toHaveLength(2)
  }
})
