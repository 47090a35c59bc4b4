/** Decodes reasoning from three field names, from details, from content parts and from think tags. */
import { describe, expect, test } from 'vitest'
import { assistant, chunk, DONE, finish, decode, itemsIn, decodeChunks, reasoning } from '../kit.ts'

describe('reasoning in a chat stream', () => {
  test('reasoning in any of the reasoning fields of a chat stream becomes an item before the message', () => {
    for (const field of ['reasoning_content', 'reasoning', 'thinking']) {
      expect(
        decode(chunk({ [field]: 'Hm' }), chunk({ [field]: 'm' }), chunk({ content: 'a' })),
      ).toEqual([reasoning('Hmm'), assistant('a')])
    }
  })

  test('reasoning that a chat service sends in two fields is read once', () => {
    const both = chunk({ reasoning: 'Hm', reasoning_content: 'Hm' })
    expect(decode(both, chunk({ content: 'a' }))[0]).toEqual(reasoning('Hm'))
    const details = [{ type: 'reasoning.text', text: 'Hm', index: 0 }]
    const named = chunk({ reasoning: 'Hm', reasoning_details: details })
    expect(decode(named)).toEqual([reasoning('Hm', { reasoning_details: details })])
  })

  test('reasoning in a chat stream is read from `reasoning_details` if no other field contains it', () => {
    const detail = { type: 'reasoning.summary', summary: 'Hm', index: 0 }
    expect(decode(chunk({ reasoning_details: [detail] }))).toEqual([
      {
        type: 'reasoning',
        summary: [{ type: 'summary_text', text: 'Hm' }],
        native: { chat: { reasoning_details: [detail] } },
      },
    ])
  })

  test('streamed pieces of `reasoning_details` are joined to complete blocks', () => {
    const items = decode(
      chunk({ reasoning_details: [{ type: 'reasoning.text', text: '', signature: '', index: 0 }] }),
      chunk({
        reasoning: 'a',
        reasoning_details: [{ type: 'reasoning.text', text: 'a', index: 0 }],
      }),
      chunk({
        reasoning: 'b',
        reasoning_details: [{ type: 'reasoning.text', text: 'b', index: 0 }],
      }),
      chunk({ reasoning_details: [{ type: 'reasoning.text', signature: 'sig', index: 0 }] }),
      chunk({
        reasoning_details: [{ type: 'reasoning.encrypted', data: 'xx', id: 'r1', index: 1 }],
      }),
      chunk({ content: 'so' }),
    )
    expect(items[0]).toEqual(
      reasoning('ab', {
        reasoning_details: [
          { type: 'reasoning.text', text: 'ab', index: 0, signature: 'sig' },
          { type: 'reasoning.encrypted', data: 'xx', id: 'r1', index: 1 },
        ],
      }),
    )
  })

  test('`reasoning_details` that arrive after the text are stored with the message', () => {
    const late = { type: 'reasoning.encrypted', data: 'xx', index: 0 }
    expect(decode(chunk({ content: 'a' }), chunk({ reasoning_details: [late] }))).toEqual([
      { ...assistant('a'), native: { chat: { reasoning_details: [late] } } },
    ])
  })

  test('reasoning between two texts in a chat stream makes them two messages', () => {
    expect(
      decode(
        chunk({ reasoning: 'one' }),
        chunk({ content: 'a' }),
        chunk({ reasoning: 'two' }),
        chunk({ content: 'b' }),
      ),
    ).toEqual([reasoning('one'), assistant('a'), reasoning('two'), assistant('b')])
  })

  test("reasoning in a chat stream is read from Mistral's content parts", () => {
    expect(
      decode(
        chunk({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm' }] }] }),
        chunk({ content: [{ type: 'text', text: 'a' }, 'x', { type: 'reference' }] }),
        chunk({ content: 'b' }),
      ),
    ).toEqual([reasoning('Hm'), assistant('ab')])
  })
})

describe('reasoning in think tags of a chat stream', () => {
  const decodeTagged = (kind: true | 'unopened', ...texts: readonly string[]) =>
    itemsIn(
      decodeChunks([...texts.map((content) => chunk({ content })), finish(), DONE], {
        thinkTags: kind,
      }),
    )

  test('think tags stay in the text of a chat stream without the quirk `thinkTags`', () => {
    expect(decode(chunk({ content: '<think>Hm</think>a' }))).toEqual([
      assistant('<think>Hm</think>a'),
    ])
  })

  test('reasoning in think tags is extracted even if chunks of a chat stream split the tags', () => {
    const text = '\n<think>\nHm < 3 </thin king</think>\n\nSo <think> it is'
    for (let cut = 1; cut < text.length; cut++) {
      expect(decodeTagged(true, text.slice(0, cut), text.slice(cut))).toEqual([
        reasoning('\nHm < 3 </thin king'),
        assistant('So <think> it is'),
      ])
    }
  })

  test('`<thinking>` and similar tags are extracted as reasoning, but text that only begins like a tag is not', () => {
    expect(decodeTagged(true, '<reasoning>Hm</reasoning>a')).toEqual([
      reasoning('Hm'),
      assistant('a'),
    ])
    expect(decodeTagged(true, '<thin', 'g> a')).toEqual([assistant('<thing> a')])
    expect(decodeTagged(true, '<thi')).toEqual([assistant('<thi')])
  })

  test('think tags are extracted from a chat stream even without the opening or the closing tag', () => {
    expect(decodeTagged('unopened', 'Hm</th', 'ink>a')).toEqual([reasoning('Hm'), assistant('a')])
    expect(decodeTagged(true, '<think>Hm')).toEqual([reasoning('Hm')])
  })
})
