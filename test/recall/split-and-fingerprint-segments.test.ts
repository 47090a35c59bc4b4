import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Item } from '../../src/core/item.ts'
import { formatMarkerLine } from '../../src/core/markers/format-and-extract-markers.ts'
import {
  fingerprintAnswer,
  splitIntoSegments,
} from '../../src/recall/split-and-fingerprint-segments.ts'
import { assistantMessage, user } from '../support/recalled-stories.ts'
import { talk } from '../support/talk.ts'
import { expectLinear } from '../support/count-reads.ts'

const A = 'A'.repeat(20)
const B = 'B'.repeat(20)

function prints(items: readonly Item[]) {
  return splitIntoSegments(items).segments.map(({ fingerprint }) => fingerprint)
}

describe('splitting a list into segments of consecutive model-made items', () => {
  test('consecutive model-made items of a list form one segment, which ends at the next item of another kind', () => {
    const { segments } = splitIntoSegments(talk`
      system: be brief
      user: how warm is it?
      thinks: somewhere
      assistant: Let me look.
      call a weather
      hosted web_search_call
      output a 4 degrees
      assistant: It is
      assistant: cold.
      developer: go on
      assistant: Very.
    `)
    expect(
      segments.map(({ start, end, normalizedText, callIds }) => ({
        start,
        end,
        words: normalizedText,
        callIds,
      })),
    ).toEqual([
      { start: 2, end: 6, words: 'Letmelook.', callIds: ['a'] },
      { start: 7, end: 9, words: 'Itiscold.', callIds: [] },
      { start: 10, end: 11, words: 'Very.', callIds: [] },
    ])
  })

  test('an empty assistant message does not start, end or separate segments', () => {
    const plan = splitIntoSegments([
      user('one'),
      assistantMessage(' \n'),
      user('two'),
      assistantMessage('yes'),
      assistantMessage(''),
      assistantMessage('no'),
      assistantMessage(''),
    ])
    expect(plan.segments.map(({ start, end }) => [start, end])).toEqual([[3, 6]])
  })

  test('each segment lists the ids of the turns that its markers name, and the lookup keys list those of all segments once', () => {
    const { segments, lookupKeys } = splitIntoSegments([
      user('one'),
      assistantMessage(`${formatMarkerLine(A)}\n\nyes\n\n${formatMarkerLine(B)}`),
      ...talk`
        call a
        output a
        call a
      `,
      assistantMessage(`no\n\n${formatMarkerLine(A)}`),
    ])
    expect(segments.map(({ markerTurnIds }) => markerTurnIds)).toEqual([[A, B], [A]])
    expect(lookupKeys).toEqual({
      turnIds: [A, B],
      callIds: ['a'],
      fingerprints: segments.map(({ fingerprint }) => fingerprint),
    })
  })

  test('a segment without text and calls does not change the fingerprints of later segments', () => {
    const before = [user('one'), assistantMessage('yes'), user('two')]
    const after = [user('three'), assistantMessage('no')]
    const silent = assistantMessage(formatMarkerLine(A))
    expect(prints([...before, silent, ...after])).toEqual([
      prints(before)[0],
      null,
      prints([...before, ...after])[1],
    ])
  })
})

describe('the fingerprint of a segment of model-made items', () => {
  const asked = [user('how warm is it?')]
  const texts = ['Let me look.', 'It is 4 degrees.\n\n- one\n- two']

  test("a segment's fingerprint is the same however the client joins the messages of an answer", () => {
    const name = fingerprintAnswer(
      splitIntoSegments(asked),
      texts.map((text) => assistantMessage(text)),
    )
    const ways = [
      texts.map((text) => assistantMessage(text)),
      [assistantMessage(texts.join('\n'))],
      [assistantMessage(texts.join('\n\n'))],
      [assistantMessage(texts.join(''))],
      [assistantMessage(texts.join('\r\n').replaceAll('\n', '\r\n'))],
      [assistantMessage(`  ${texts.join('\n')}\n`)],
      [
        {
          ...assistantMessage(''),
          content: texts.map((text) => ({ type: 'output_text', text }) as const),
        },
      ],
    ]
    for (const way of ways) expect(prints([...asked, ...way])).toEqual([name])
  })

  test("a segment's fingerprint ignores markers and the boxes in which clients show reasoning and tools", () => {
    const name = prints([...asked, assistantMessage('It is 4 degrees.')])
    const ways = [
      `${formatMarkerLine(A)}\n\nIt is 4 degrees.`,
      `It is 4 degrees.\n\n${formatMarkerLine(A)}\n\n${formatMarkerLine(B)}`,
      `It is 4 degrees.\n\n&#91;${A}&#93;: #`,
      `It is 4 degrees.\n\n\`\`\`\n${formatMarkerLine(A)}\n\`\`\``,
      `<details type="reasoning" done="true">\n<summary>Thought</summary>\n> hm\n</details>\nIt is 4 degrees.`,
    ]
    for (const way of ways) expect(prints([...asked, assistantMessage(way)])).toEqual(name)
  })

  test("a segment's fingerprint depends on its text, its calls and all earlier segments (C131)", () => {
    const all = [
      [...asked, assistantMessage('yes'), user('and'), assistantMessage('so')],
      [...asked, assistantMessage('no'), user('and'), assistantMessage('so')],
      [...asked, assistantMessage('yes'), user('and'), assistantMessage('not')],
      [...asked, assistantMessage('yes'), user('but'), assistantMessage('so')],
      [...asked, assistantMessage('yes'), user('and'), assistantMessage('so'), ...talk`call a`],
      [...asked, assistantMessage('yes'), user('and'), assistantMessage('so'), ...talk`call b`],
      [user('and'), assistantMessage('so')],
    ].map((items) => prints(items).at(-1))
    expect(new Set(all).size).toBe(all.length)
  })

  test("of the user messages in a round, a segment's fingerprint covers only the last line of the first message", () => {
    const loop = talk`
      call a
      output a
      assistant: so
    `
    const name = prints([user('how warm is it?'), ...loop])
    const ways: readonly (readonly Item[])[] = [
      [user('### Task:\nAnswer with the context.\n<context>…</context>\n\nhow warm  is it?\n \n')],
      [user('how warm is it?'), user('Make it shorter')],
      [...talk`system: be brief`, user('how warm is it?')],
      [user('how warm is it?'), ...talk`developer: now`],
      [user('how warm is it?'), assistantMessage('')],
    ]
    for (const way of ways) expect(prints([...way, ...loop])).toEqual(name)
    expect(prints([user('how cold is it?'), ...loop])).not.toEqual(name)
    expect(
      prints([...asked, assistantMessage('yes'), user('a\r\nand'), assistantMessage('so')]),
    ).toEqual(prints([...asked, assistantMessage('yes'), user('and'), assistantMessage('so')]))
  })

  test('the fingerprint of an answer that the model continued covers the text of both parts', () => {
    const begun = splitIntoSegments([...asked, assistantMessage('It is 4 de')])
    const name = fingerprintAnswer(begun, [assistantMessage('grees.')])
    for (const text of ['It is 4 degrees.', 'It is 4 de\n\ngrees.']) {
      expect(prints([...asked, assistantMessage(text)])).toEqual([name])
    }
  })

  test('the fingerprint that is computed for an answer equals that of its segment when the client sends the answer back', () => {
    const word = fc.constantFrom('OK.', ' ', '\n', 'a b', '```', 'ü\u2028')
    const item = fc.oneof(
      fc.array(word).map((words) => user(words.join(''))),
      fc.array(word).map((words) => assistantMessage(words.join(''))),
      fc.constantFrom(
        ...talk`
        call a
        output a
        system: hm
        thinks: hm
      `,
      ),
    )
    fc.assert(
      fc.property(fc.array(item), fc.array(word, { minLength: 1 }), (items, words) => {
        const answer = [assistantMessage(`x${words.join('')}`)]
        const name = fingerprintAnswer(splitIntoSegments(items), answer)
        const back = splitIntoSegments([...items, ...answer, user('and?')])
        expect(back.segments.at(-1)?.fingerprint).toBe(name)
        expect(back.lookupKeys.fingerprints).toContain(name)
      }),
      { numRuns: 200 },
    )
  })
})

test('the work of splitting a list into segments is proportional to its length, up to two thousand segments', () => {
  const text = `${'a long answer with many words '.repeat(30)}\n\n${formatMarkerLine(A)}`
  const rounds = (count: number) =>
    Array.from({ length: count }, (_, at) => [
      user(`question ${at}`),
      assistantMessage(text),
    ]).flat()
  expect(splitIntoSegments(rounds(2000)).segments).toHaveLength(2000)
  expectLinear(500, rounds, splitIntoSegments)
})
