/** Reasoning out of streams: under three names, in details, in parts of the text, or in tags. */
import { describe, expect, test } from 'vitest'
import { assistant, chunk, DONE, finish, heard, itemsIn, receive, thought } from './kit.ts'

describe('reasoning', () => {
  test('is an item in front of the words, whatever its field is called', () => {
    for (const field of ['reasoning_content', 'reasoning', 'thinking']) {
      expect(
        heard(chunk({ [field]: 'Hm' }), chunk({ [field]: 'm' }), chunk({ content: 'a' })),
      ).toEqual([thought('Hmm'), assistant('a')])
    }
  })

  test('is told once where it comes under two names', () => {
    const both = chunk({ reasoning: 'Hm', reasoning_content: 'Hm' })
    expect(heard(both, chunk({ content: 'a' }))[0]).toEqual(thought('Hm'))
    const details = [{ type: 'reasoning.text', text: 'Hm', index: 0 }]
    const named = chunk({ reasoning: 'Hm', reasoning_details: details })
    expect(heard(named)).toEqual([thought('Hm', { reasoning_details: details })])
  })

  test('is read out of the details where there is nothing else', () => {
    const detail = { type: 'reasoning.summary', summary: 'Hm', index: 0 }
    expect(heard(chunk({ reasoning_details: [detail] }))).toEqual([
      {
        type: 'reasoning',
        summary: [{ type: 'summary_text', text: 'Hm' }],
        native: { chat: { reasoning_details: [detail] } },
      },
    ])
  })

  test('details come together again block by block', () => {
    const items = heard(
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
      thought('ab', {
        reasoning_details: [
          { type: 'reasoning.text', text: 'ab', index: 0, signature: 'sig' },
          { type: 'reasoning.encrypted', data: 'xx', id: 'r1', index: 1 },
        ],
      }),
    )
  })

  test('details that come behind the words stay with them', () => {
    const late = { type: 'reasoning.encrypted', data: 'xx', index: 0 }
    expect(heard(chunk({ content: 'a' }), chunk({ reasoning_details: [late] }))).toEqual([
      { ...assistant('a'), native: { chat: { reasoning_details: [late] } } },
    ])
  })

  test('between two pieces of text parts them', () => {
    expect(
      heard(
        chunk({ reasoning: 'one' }),
        chunk({ content: 'a' }),
        chunk({ reasoning: 'two' }),
        chunk({ content: 'b' }),
      ),
    ).toEqual([thought('one'), assistant('a'), thought('two'), assistant('b')])
  })

  test('comes as parts of the content from Mistral', () => {
    expect(
      heard(
        chunk({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm' }] }] }),
        chunk({ content: [{ type: 'text', text: 'a' }, 'x', { type: 'reference' }] }),
        chunk({ content: 'b' }),
      ),
    ).toEqual([thought('Hm'), assistant('ab')])
  })
})

describe('thinking in tags', () => {
  const said = (kind: true | 'unopened', ...texts: readonly string[]) =>
    itemsIn(
      receive([...texts.map((content) => chunk({ content })), finish(), DONE], { thinkTags: kind }),
    )

  test('stays in the text unless it is asked for', () => {
    expect(heard(chunk({ content: '<think>Hm</think>a' }))).toEqual([
      assistant('<think>Hm</think>a'),
    ])
  })

  test('is taken out, wherever the stream is cut', () => {
    const text = '\n<think>\nHm < 3 </thin king</think>\n\nSo <think> it is'
    for (let cut = 1; cut < text.length; cut++) {
      expect(said(true, text.slice(0, cut), text.slice(cut))).toEqual([
        thought('\nHm < 3 </thin king'),
        assistant('So <think> it is'),
      ])
    }
  })

  test('knows the other names for it, and text that only begins alike', () => {
    expect(said(true, '<reasoning>Hm</reasoning>a')).toEqual([thought('Hm'), assistant('a')])
    expect(said(true, '<thin', 'g> a')).toEqual([assistant('<thing> a')])
    expect(said(true, '<thi')).toEqual([assistant('<thi')])
  })

  test('may begin without its tag, and end without one', () => {
    expect(said('unopened', 'Hm</th', 'ink>a')).toEqual([thought('Hm'), assistant('a')])
    expect(said(true, '<think>Hm')).toEqual([thought('Hm')])
  })
})
