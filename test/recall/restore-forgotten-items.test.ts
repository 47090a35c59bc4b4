import { describe, expect, test } from 'vitest'
import {
  markGatewayToolCall,
  createGatewayToolOutput,
} from '../../src/core/items/gateway-tool-items.ts'
import type { Item } from '../../src/core/item.ts'
import { formatMarkerLine } from '../../src/core/markers/format-and-extract-markers.ts'
import type { RecordedTurn } from '../../src/core/items/recorded-turn.ts'
import { restoreForgottenItems } from '../../src/recall/restore-forgotten-items.ts'
import {
  fingerprintAnswer,
  splitIntoSegments,
} from '../../src/recall/split-and-fingerprint-segments.ts'
import { assistantMessage, user } from '../support/recalled-stories.ts'
import { show, talk } from '../support/talk.ts'
import { expectLinear } from '../support/count-reads.ts'

function recall(items: readonly Item[], turns: readonly RecordedTurn[], replaysTools = true) {
  return restoreForgottenItems(items, splitIntoSegments(items), turns, { replaysTools })
}

/**
 * Records turns as the gateway does: the new input, the output and the fingerprint of each answer.
 */
function createRecorder() {
  const turns: RecordedTurn[] = []
  return {
    turns,
    /**
     * Records an answer to the client's list; `echo` is the answer as the client will send it back.
     */
    record(items: readonly Item[], output: readonly Item[], echo = visible(output)): RecordedTurn {
      const { parent, newItemsStart } = recall(items, turns)
      const turn: RecordedTurn = {
        id: String(turns.length).padStart(20, '0'),
        thread: 't',
        parent: parent?.id ?? null,
        depth: parent === null ? 0 : parent.depth + 1,
        fingerprint: fingerprintAnswer(splitIntoSegments(items), echo),
        reasoningRefusedBy: null,
        createdAtMs: 0,
        usedAtMs: 0,
        input: items.slice(newItemsStart),
        output,
      }
      turns.push(turn)
      return turn
    },
  }
}

function visible(output: readonly Item[]): readonly Item[] {
  return output.filter((item) => item.type === 'message' || item.type === 'function_call')
}

function mark(turn: RecordedTurn, text: string): Item {
  return assistantMessage(addMarker(turn, text))
}

function addMarker({ id }: RecordedTurn, text: string): string {
  return `${formatMarkerLine(id)}\n\n${text}`
}

const warm = user('how warm is it?')

const looked = talk`
  thinks: where?
  assistant: Let me look.
  call a weather {"in":"Rome"}
`
const found = talk`
  thinks: cold
  assistant: It is 4 degrees.
`
const [output] = talk`output a 4 degrees`

describe('restoring a list that needs no changes', () => {
  test("restoreForgottenItems returns the client's list object if no stored turn is found", () => {
    const items = [warm, ...visible(found), user('and?')]
    expect(recall(items, [])).toEqual({
      items,
      notes: [],
      parent: null,
      firstTurnOfAnswer: null,
      newItemsStart: 2,
      usedTurns: [],
    })
    expect(recall(items, []).items).toBe(items)
    expect(recall([], []).items).toEqual([])
  })

  test("restoreForgottenItems returns the client's list object if the client sends all recorded items", () => {
    const { turns, record: answered } = createRecorder()
    const turn = answered(
      [warm],
      [{ ...assistantMessage('Warm.'), id: 'msg_1', status: 'completed' }],
    )
    const items = [warm, assistantMessage('Warm.'), user('and?')]
    const recalled = recall(items, turns)
    expect(recalled.items).toBe(items)
    expect(recalled.notes).toEqual([])
    expect(recalled.parent).toBe(turn)
    expect(recalled.newItemsStart).toBe(2)
  })
})

test('if the client omits the phase or the provider-specific fields of a message, they are restored', () => {
  const signed: Item = { ...assistantMessage('Warm.'), native: { anthropic: { signature: 'x' } } }
  const phased: Item = { ...assistantMessage('Warm.'), phase: 'commentary' }
  for (const recorded of [signed, phased]) {
    const { turns, record: answered } = createRecorder()
    answered([warm], [recorded])
    const recalled = recall([warm, assistantMessage('Warm.'), user('and?')], turns)
    expect(recalled.items[1]).toBe(recorded)
  }
})

describe('finding stored turns without any marker', () => {
  test('without markers, recorded reasoning is found by the text of its answer and restored (C131)', () => {
    const { turns, record: answered } = createRecorder()
    const turn = answered([warm], found)
    const recalled = recall([warm, assistantMessage('It is 4 degrees.'), user('and?')], turns)
    expect(recalled.items.slice(1, 3)).toEqual(found)
    expect(recalled.items[1]).toBe(found[0])
    expect(recalled.notes).toEqual([
      { did: 'added', at: 1, why: 'recalled', detail: `Recorded in turn ${turn.id}.` },
    ])
  })

  test('recorded reasoning is restored before each call of an answer with several tool calls (C130)', () => {
    const { turns, record: answered } = createRecorder()
    const list: Item[] = [warm]
    for (const id of ['a', 'b', 'c']) {
      const [call] = talk`call ${id}`
      const [result] = talk`output ${id}`
      const [thought] = talk`thinks: for ${id}`
      if (call === undefined || result === undefined || thought === undefined) throw new Error()
      answered(list, [thought, call])
      list.push(call, result)
    }
    expect(show(recall(list, turns).items)).toBe(
      show(talk`
        user: how warm is it?
        thinks: for a
        call a
        output a
        thinks: for b
        call b
        output b
        thinks: for c
        call c
        output c
      `),
    )
  })

  test('recorded reasoning is found by its call and restored, even if the text before the call was edited', () => {
    const { turns, record: answered } = createRecorder()
    answered([warm], found)
    const call = talk`
      thinks: where?
      call call_5hx8Qm20pT weather
    `
    answered([warm, ...visible(found), user('and?')], call)
    const items = [warm, assistantMessage('It is hot.'), user('and?'), ...call.slice(1)]
    expect(recall(items, turns).items).toEqual([...items.slice(0, 3), ...call])
  })

  test("a call id such as `call_0` restores nothing if the answer's text differs from the turn's text (C132)", () => {
    const { turns, record: answered } = createRecorder()
    answered(
      [user('hello')],
      talk`
        thinks: secret
        assistant: Hi!
        call call_0 weather
      `,
    )
    const items = [
      warm,
      ...talk`
        assistant: Let me look.
        call call_0 weather
        output call_0 4 degrees
      `,
    ]
    expect(recall(items, turns).items).toBe(items)
  })

  test("of two stored turns with the same fingerprint, the parent of a later answer's turn is restored", () => {
    const { turns, record: answered } = createRecorder()
    const first = answered([warm], [...talk`thinks: one`, assistantMessage('OK.')])
    answered([warm], [...talk`thinks: two`, assistantMessage('OK.')])
    const items = [warm, assistantMessage('OK.'), user('and?')]
    expect(recall(items, turns)).toMatchObject({ items, notes: [{ at: 1, why: 'turn-ambiguous' }] })
    const next = answered([warm, mark(first, 'OK.'), user('and?')], found)
    const recalled = recall([...items, ...visible(found), user('so?')], turns)
    expect(recalled.usedTurns).toEqual([first, next])
    expect(show(recalled.items)).toContain('thinks: one')
  })

  test("of two stored turns with the same fingerprint, the child of an earlier answer's turn is restored", () => {
    const { turns, record: answered } = createRecorder()
    const one = answered([warm], [...talk`thinks: one`, assistantMessage('OK.')])
    const two = answered([warm], [...talk`thinks: two`, assistantMessage('OK.')])
    const ones = answered(
      [warm, mark(one, 'OK.'), user('and?')],
      [...talk`thinks: 1`, assistantMessage('So.')],
    )
    answered([warm, mark(two, 'OK.'), user('and?')], [...talk`thinks: 2`, assistantMessage('So.')])
    const items = [warm, mark(one, 'OK.'), user('and?'), assistantMessage('So.'), user('so?')]
    expect(recall(items, turns).usedTurns).toEqual([one, ones])
  })
})

describe('choosing between two turns with the same fingerprint', () => {
  const twins = () => {
    const { turns, record: answered } = createRecorder()
    const one = answered([warm], [...talk`thinks: one`, assistantMessage('OK.')])
    const two = answered([warm], [...talk`thinks: two`, assistantMessage('OK.')])
    return { turns, one, two }
  }

  test('of two stored turns with the same fingerprint, the one that a marker in the answer names is restored', () => {
    const { turns, one, two } = twins()
    const items = [warm, mark(one, 'OK.'), user('and?'), mark(two, 'Hm.'), user('so?')]
    expect(recall(items, turns).usedTurns).toEqual([one])
  })

  test('of two stored turns with the same fingerprint, the one that a marker names is restored, even if the marker is in another answer', () => {
    const { turns, two } = twins()
    const items = [warm, assistantMessage('OK.'), user('and?'), mark(two, 'Hm.'), user('so?')]
    const recalled = recall(items, turns)
    expect(recalled.usedTurns).toEqual([two])
    expect(show(recalled.items.slice(1, 3))).toBe('thinks: two\nassistant: OK.')
  })

  test('of two stored turns with the same fingerprint, neither is restored if markers name both', () => {
    const { turns, one, two } = twins()
    const both = mark(two, `${formatMarkerLine(one.id)}\n\nHm.`)
    const recalled = recall([warm, assistantMessage('OK.'), user('and?'), both], turns)
    expect(recalled.items).toEqual([
      warm,
      assistantMessage('OK.'),
      user('and?'),
      assistantMessage('Hm.'),
    ])
    expect(recalled.notes.map(({ at, why }) => [at, why])).toEqual([
      [1, 'turn-ambiguous'],
      [3, 'marker-removed'],
    ])
  })
})

test("if a marker's turn is not restored because another stored turn has the same text, a note says so", () => {
  const { turns, record: answered } = createRecorder()
  answered([warm], [...talk`thinks: one`, assistantMessage('Let me look.')])
  const looking = [
    ...talk`thinks: two`,
    assistantMessage('Let me look.'),
    ...talk`thinks: yes`,
    assistantMessage('OK.'),
  ]
  const two = answered([warm], looking)
  const stopped = mark(two, 'Let me look.\nOK')
  const three = answered([warm, stopped], [...talk`thinks: three`, assistantMessage('It is cold.')])
  const text = `${formatMarkerLine(two.id)}\n\nLet me look.\nOK\n\n${formatMarkerLine(three.id)}\n\nIt is cold.`
  const recalled = recall([warm, assistantMessage(text), user('so?')], turns)
  expect(recalled.usedTurns).toEqual([three])
  expect(recalled.notes.map(({ why }) => why)).toContain('marker-doubted')
})

describe("restoring turns by the markers in the client's text", () => {
  test('markers restore omitted calls, outputs and reasoning in their recorded order (C6)', () => {
    const { turns, record: answered } = createRecorder()
    const one = answered([warm], looked)
    const two = answered([warm, ...visible(looked), output ?? warm], found)
    const text = `${formatMarkerLine(one.id)}\n\nLet me look.\n\n${formatMarkerLine(two.id)}\n\nIt is 4 degrees.`
    const recalled = recall([warm, assistantMessage(text), user('and?')], turns)
    expect(recalled.items).toEqual([warm, ...looked, output, ...found, user('and?')])
    expect(recalled.items[3]).toBe(looked[2])
    expect(recalled.notes.map(({ did, at, why }) => [did, at, why])).toEqual([
      ['added', 1, 'recalled'],
      ['changed', 2, 'marker-removed'],
      ['added', 3, 'recalled'],
      ['added', 4, 'recalled'],
      ['added', 5, 'recalled'],
    ])
    expect(recalled.parent).toBe(two)
  })

  test('markers of turns that are not stored are removed, and nothing else changes (C7)', () => {
    const unknown = assistantMessage(`${formatMarkerLine('Z'.repeat(20))}\n\nIt is 4 degrees.`)
    const recalled = recall([warm, unknown, user('and?')], [])
    expect(recalled.items).toEqual([warm, assistantMessage('It is 4 degrees.'), user('and?')])
    expect(recalled.notes).toEqual([{ did: 'changed', at: 1, why: 'marker-unknown' }])
    const alone = recall(
      [warm, assistantMessage(formatMarkerLine('Z'.repeat(20))), user('and?')],
      [],
    )
    expect(alone.items).toEqual([warm, user('and?')])
    expect(alone.notes).toEqual([{ did: 'dropped', at: 1, why: 'marker-unknown' }])
  })

  test('the marker of a stored turn that was not loaded, because there are too many turns, adds the note `beyond-memory`', () => {
    const [old, foreign] = ['0'.repeat(20), 'Z'.repeat(20)]
    const items = [
      warm,
      assistantMessage(`${formatMarkerLine(old)}\n\nIt is 4 degrees.`),
      user('and?'),
      assistantMessage(`${formatMarkerLine(foreign)}\n\nSo what.`),
      user('and?'),
    ]
    const policy = { replaysTools: true }
    const { notes } = restoreForgottenItems(
      items,
      splitIntoSegments(items),
      [],
      policy,
      new Set([old]),
    )
    expect(notes.map(({ at, why }) => [at, why])).toEqual([
      [1, 'beyond-memory'],
      [3, 'marker-unknown'],
    ])
  })

  test('a marker that was moved to the text of another turn does not restore its turn there (C132)', () => {
    const { turns, record: answered } = createRecorder()
    const one = answered([warm], found)
    const back = [warm, assistantMessage('It is 4 degrees.'), user('and?')]
    const two = answered(back, [...talk`thinks: no`, assistantMessage('So what.')])
    const moved = [warm, mark(two, 'It is 4 degrees.'), user('and?'), mark(one, 'So what.')]
    expect(recall(moved, turns).usedTurns).toEqual([one, two])
    // The fingerprint does not match, because the question was edited.
    const history = user('how cold is it?')
    const elsewhere = recall([history, ...moved.slice(1)], turns)
    expect(elsewhere.usedTurns).toEqual([])
    expect(elsewhere.items).toEqual([
      history,
      assistantMessage('It is 4 degrees.'),
      user('and?'),
      assistantMessage('So what.'),
    ])
  })

  test('a marker that was copied to another answer restores its turn in neither, unless a fingerprint decides', () => {
    const { turns, record: answered } = createRecorder()
    const one = answered([warm], found)
    const answers = [mark(one, 'Hm.'), user('and?'), mark(one, 'It is 4 degrees.')]
    const recalled = recall([user('how cold is it?'), ...answers], turns)
    expect(recalled.usedTurns).toEqual([])
    expect(recalled.notes.map(({ why }) => why)).toContain('marker-doubted')
    expect(recall([warm, ...answers.toReversed()], turns).usedTurns).toEqual([one])
  })

  const searched = talk`
    thinks: hm
    hosted web_search_call
  `

  test("the marker of a turn without text is not trusted if another question comes between the turn's question and the marker", () => {
    const { turns, record: answered } = createRecorder()
    const turn = answered([warm], searched)
    const plain = assistantMessage(`Servus.\n\n${formatMarkerLine(turn.id)}`)
    const recalled = recall([warm, user('still there?'), plain, user('and?')], turns)
    expect(recalled.usedTurns).toEqual([])
    expect(recalled.notes.map(({ why }) => why)).toContain('marker-doubted')
  })

  test("the marker of a turn without text restores the turn's reasoning and its hosted search", () => {
    const { turns, record: answered } = createRecorder()
    const turn = answered([warm], searched)
    const recalled = recall(
      [warm, assistantMessage(formatMarkerLine(turn.id)), user('and?')],
      turns,
    )
    expect(recalled.items).toEqual([warm, ...searched, user('and?')])
    expect(recalled.notes.map(({ did, why }) => [did, why])).toEqual([
      ['changed', 'marker-removed'],
      ['added', 'recalled'],
      ['added', 'recalled'],
    ])
  })
})

describe('text of an answer that the user edited', () => {
  const long = [
    ...talk`
    thinks: one
    assistant: First.
    thinks: two
    assistant: Second.
    thinks: three
    assistant: Third.
  `,
  ]
  const edit = (text: string) => {
    const { turns, record: answered } = createRecorder()
    const turn = answered([warm], long)
    const recalled = recall([warm, mark(turn, text), user('and?')], turns)
    const notes = recalled.notes.filter(({ did }) => did !== 'added')
    return {
      items: recalled.items.slice(1, -1),
      shown: show(recalled.items.slice(1, -1)).split('\n'),
      notes: notes.map(({ did, at, why }) => `${did} ${at} ${why}`),
    }
  }

  test("an edited answer is sent as the client has it, without the turn's recorded messages and reasoning", () => {
    for (const text of [
      'First.\nSecond, or not.\nThird.',
      'First.\n\nThird.',
      'First.\nAnd a half.\nSecond.\nThird.',
      'Zeroth.\nFirst.\nSecond.\nThird.',
      'First.\nThird. And last.',
    ]) {
      const { shown, notes } = edit(text)
      expect(shown).toEqual([`assistant: ${text.replaceAll('\n', '⏎')}`])
      expect(notes).toEqual([
        'dropped 1 reasoning-of-edited-text',
        'dropped 1 reasoning-of-edited-text',
        'dropped 1 reasoning-of-edited-text',
        'changed 1 text-edited',
      ])
    }
  })

  test("if the client has only the turn's first messages, the others are dropped with the reasoning that led to them", () => {
    const { shown, notes } = edit('First.\nSecond.')
    expect(shown).toEqual(['thinks: one', 'assistant: First.', 'thinks: two', 'assistant: Second.'])
    expect(notes).toEqual([
      'changed 2 marker-removed',
      'dropped 5 text-removed',
      'dropped 5 reasoning-without-follower',
    ])
  })

  test('text that the user added at the end of an answer continues its last message, and the recorded items stay', () => {
    const { items, shown } = edit('First.\nSecond.\nThird.\n\nAnd so on.')
    expect(shown.at(-1)).toBe('assistant: Third.⏎⏎And so on.')
    expect(items.slice(0, -1)).toEqual(long.slice(0, -1))
    expect(edit('First.\nSecond.\nThird. Or so.').shown.at(-1)).toBe('assistant: Third. Or so.')
  })

  test('if a later turn was edited, the recorded items of the earlier turns stay, and the text comes after the recorded calls', () => {
    const { turns, record: answered } = createRecorder()
    const one = answered([warm], looked)
    const two = answered(
      [warm, ...visible(looked), output ?? warm],
      [...found, ...talk`call b weather`],
    )
    const last = talk`output b 5`
    const three = answered(
      [warm, ...visible(looked), output ?? warm, ...two.output, ...last],
      found,
    )
    const texts = [
      mark(one, 'Let me look.'),
      mark(two, 'Is it 5?'),
      mark(three, 'It is 4 degrees.'),
    ]
    const recalled = recall([warm, ...texts, user('and?')], turns)
    expect(recalled.usedTurns).toEqual([one, two, three])
    expect(recalled.items).toEqual([
      warm,
      ...looked,
      output,
      ...talk`call b weather`,
      ...last,
      assistantMessage('Is it 5?'),
      assistantMessage('It is 4 degrees.'),
      user('and?'),
    ])
  })

  test('if the user stopped an answer and the client has only its beginning, only this beginning is sent', () => {
    const { shown, notes } = edit('First.\nSecond.\nThi')
    expect(shown.at(-1)).toBe('assistant: Thi')
    expect(notes).toContain('changed 6 text-edited')
    expect(edit('First.\nSeco').shown).toEqual([
      'thinks: one',
      'assistant: First.',
      'thinks: two',
      'assistant: Seco',
    ])
  })

  test('edited text keeps its indentation and blank lines, and gets the phase of the replaced message', () => {
    const { turns, record: answered } = createRecorder()
    const turn = answered(
      [warm],
      [...talk`thinks: hm`, { ...assistantMessage('Code:'), phase: 'commentary' }],
    )
    const text = 'Code!\n\n    indented  twice\n\n\nend'
    expect(recall([warm, mark(turn, text), user('and?')], turns).items[1]).toEqual({
      ...assistantMessage(text),
      phase: 'commentary',
    })
  })

  test("images and citations in an answer's edited text are kept", () => {
    const { turns, record: answered } = createRecorder()
    const turn = answered([warm], long)
    const edited: Item = {
      type: 'message',
      role: 'assistant',
      id: 'msg_client',
      content: [
        { type: 'output_text', text: 'Mine.', annotations: [{ type: 'url_citation', url: 'x' }] },
        { type: 'input_image', image_url: 'https://example.com/a.png' },
      ],
    }
    const items = [warm, mark(turn, 'First.'), edited, assistantMessage('Third.'), user('and?')]
    const { id: _id, ...own } = edited
    expect(recall(items, turns).items[2]).toEqual(own)
  })

  test('several edited messages of an answer keep their order', () => {
    const { turns, record: answered } = createRecorder()
    const turn = answered([warm], long)
    const own = [assistantMessage('Mine.'), assistantMessage('Mine, too.')]
    const items = [warm, mark(turn, 'First.'), ...own, assistantMessage('Third.'), user('and?')]
    expect(recall(items, turns).items.slice(2, 4)).toEqual(own)
    expect(recall(items, turns).items[2]).toBe(own[0])
  })

  test("text that the user added to a turn without recorded text comes before the turn's recorded items", () => {
    const { turns, record: answered } = createRecorder()
    const called = talk`
      thinks: where?
      call a weather
    `
    const turn = answered([warm], called)
    const items = [warm, mark(turn, 'Mine.'), ...called.slice(1), output ?? warm]
    expect(recall(items, turns).items).toEqual([warm, assistantMessage('Mine.'), ...called, output])
  })
})

describe('whitespace that differs from the recorded text', () => {
  const code = 'for x in y:\nprint(x)\n\ndone'
  const recallOf = (text: string) => {
    const { turns, record: answered } = createRecorder()
    answered([warm], [...talk`thinks: hm`, assistantMessage(code)])
    const { items, notes } = recall([warm, assistantMessage(text), user('and?')], turns)
    return { shown: show(items.slice(1, -1)), whys: notes.map(({ why }) => why) }
  }

  test("if the client's text has other whitespace with a meaning, e.g. indentation, it counts as edited, and the client's text is sent", () => {
    const edited = code.replace('print', '    print')
    expect(recallOf(edited)).toEqual({
      shown: show([...talk`thinks: hm`, assistantMessage(edited)]),
      whys: ['recalled', 'text-edited'],
    })
  })

  test("if the client's text differs from the recorded text only in whitespace without a meaning, e.g. blank lines, the recorded text is sent", () => {
    const recorded = show([...talk`thinks: hm`, assistantMessage(code)])
    expect(recallOf(code.replace('\n\n', '\n\n\n'))).toEqual({
      shown: recorded,
      whys: ['recalled', 'text-restored'],
    })
    expect(recallOf(`\n${code.replaceAll('\n', '\r\n')}  `)).toEqual({
      shown: recorded,
      whys: ['recalled'],
    })
  })

  test('a text with a marker in a code fence is sent as recorded', () => {
    const { turns, record: answered } = createRecorder()
    const turn = answered(
      [warm],
      [assistantMessage(code), ...talk`thinks: hm`, assistantMessage('So.')],
    )
    const fenced = `\`\`\`\n${formatMarkerLine(turn.id)}\n\`\`\`\n\n${code}\n\nSo.`
    const recalled = recall([warm, assistantMessage(fenced), user('and?')], turns)
    expect(recalled.items.slice(1, -1)).toEqual(turn.output)
    expect(recalled.notes.map(({ why }) => why)).toContain('text-restored')
  })
})

describe('text that the client has although it was cut off before it was recorded', () => {
  const cutOff = (recorded: readonly Item[], text: string, ...more: readonly Item[]) => {
    const { turns, record: answered } = createRecorder()
    const { id } = answered([warm], recorded)
    const known = turns.map((turn) => ({ ...turn, fingerprint: null }))
    const first = assistantMessage(`${formatMarkerLine(id)}\n\n${text}`)
    return show(recall([warm, first, ...more, user('and?')], known).items.slice(1, -1))
  }

  test('text missing from a cut-off recording is placed after the recorded reasoning that led to it', () => {
    expect(cutOff(talk`thinks: one`, 'It was')).toBe('thinks: one\nassistant: It was')
    const two = [...talk`thinks: one`, assistantMessage('First.'), ...talk`thinks: two`]
    expect(cutOff(two, 'First.\n\nSeco')).toBe(
      'thinks: one\nassistant: First.\nthinks: two\nassistant: Seco',
    )
    expect(cutOff(two, 'First, or not.', assistantMessage('Seco'))).toBe(
      'assistant: First, or not.\nassistant: Seco',
    )
  })

  test('text that only the client has comes after the recorded reasoning that follows a hosted search', () => {
    const searched = talk`
      thinks: one
      hosted web_search_call
      thinks: two
    `
    expect(cutOff(searched, 'It was')).toBe(`${show(searched)}\nassistant: It was`)
  })

  test('text that only the client has comes before a tool call that only the client has', () => {
    const called = talk`
      call a
      output a 4
    `
    expect(cutOff(talk`thinks: one`, 'It was', ...called)).toBe(
      `thinks: one\nassistant: It was\n${show(called)}`,
    )
  })

  test('text that only the client has after tool outputs comes after the recorded reasoning that led to it', () => {
    const { turns, record: answered } = createRecorder()
    const list = [warm, ...visible(looked), output ?? warm]
    answered([warm], looked)
    const two = answered(list, talk`thinks: cold`)
    turns.splice(1, 1, { ...two, fingerprint: null })
    const { items } = recall([...list, mark(two, 'It was'), user('and?')], turns)
    expect(show(items.slice(-3, -1))).toBe('thinks: cold\nassistant: It was')
  })

  test('text that only the client has comes after the recorded reasoning that led to it and before the turn that continues the answer', () => {
    const { turns, record: answered } = createRecorder()
    const one = answered([warm], talk`thinks: one`)
    const known = [{ ...one, fingerprint: null }]
    turns.splice(0, 1, ...known)
    const two = answered(
      [warm, mark(one, 'It was')],
      [...talk`thinks: two`, assistantMessage('cold.')],
    )
    const text = `It was\n\n${formatMarkerLine(two.id)}\n\ncold.`
    expect(show(recall([warm, mark(one, text), user('and?')], turns).items.slice(1, -1))).toBe(
      'thinks: one\nassistant: It was\nthinks: two\nassistant: cold.',
    )
  })
})

describe('text after a hosted search that is the last recorded item', () => {
  const searched = talk`
    thinks: where?
    hosted web_search_call
  `
  const recallOf = (recorded: readonly Item[], text: string, ...more: readonly Item[]) => {
    const { turns, record: answered } = createRecorder()
    const turn = answered([warm], recorded, [])
    return show(recall([warm, mark(turn, text), ...more, user('and?')], turns).items.slice(1, -1))
  }

  test('text that only the client has comes after a hosted search if the search is the last recorded item of the answer', () => {
    expect(recallOf(searched, 'It is 4')).toBe(`${show(searched)}\nassistant: It is 4`)
    expect(recallOf([assistantMessage('Let me look.'), ...searched], 'Let me look.\nIt is 4')).toBe(
      `assistant: Let me look.\n${show(searched)}\nassistant: It is 4`,
    )
  })

  test('text that only the client has comes after items of a gateway tool if these are the last recorded items of the answer', () => {
    const [call] = talk`call h recall`
    if (call === undefined) throw new Error('no call')
    const house = [markGatewayToolCall(call), createGatewayToolOutput('h', 'fog')]
    expect(recallOf(house, 'It is 4')).toBe(`${show(house)}\nassistant: It is 4`)
  })

  test('text that only the client has comes after a recorded search and before the turn that continues the answer', () => {
    const { turns, record: answered } = createRecorder()
    const one = answered([warm], searched, [])
    const begun = addMarker(one, 'It is 4')
    const two = answered(
      [warm, assistantMessage(begun)],
      found.slice(0, 1).concat(assistantMessage('degrees.')),
    )
    const text = `${begun}\n\n${addMarker(two, 'degrees.')}`
    expect(
      show(recall([warm, assistantMessage(text), user('and?')], turns).items.slice(1, -1)),
    ).toBe(`${show(searched)}\nassistant: It is 4\nthinks: cold\nassistant: degrees.`)
  })

  test('text that only the client has keeps its position before or after a recorded search if the client sends the search, too', () => {
    const [, search] = searched
    if (search === undefined) throw new Error('no search')
    const { turns, record: answered } = createRecorder()
    const turn = answered([warm], searched, [])
    const recalled = (...given: readonly Item[]) =>
      show(recall([warm, ...given, user('and?')], turns).items.slice(1, -1))
    expect(recalled(mark(turn, 'Mine.'), search)).toBe(`assistant: Mine.\n${show(searched)}`)
    expect(recalled(search, mark(turn, 'Mine.'))).toBe(`${show(searched)}\nassistant: Mine.`)
  })
})

describe('an answer that the user had the model continue', () => {
  const begun = talk`
    thinks: hm
    assistant: It is 4 de
  `
  const rest = talk`
    thinks: and
    assistant: grees.
  `

  test("an answer that the model continued is restored from both its turns, although only the second turn has the answer's fingerprint", () => {
    const { turns, record: answered } = createRecorder()
    const one = answered([warm], begun)
    const two = answered([warm, assistantMessage('It is 4 de')], rest)
    expect(two).toMatchObject({ parent: one.id, input: [] })
    const recalled = recall([warm, assistantMessage('It is 4 degrees.'), user('and?')], turns)
    expect(recalled.items).toEqual([warm, ...begun, ...rest, user('and?')])
    expect(recalled.parent).toBe(two)
  })

  test('if the user edited an answer before the model continued it, only the continuation keeps its reasoning', () => {
    const { turns, record: answered } = createRecorder()
    const one = answered([warm], begun)
    const edited = `${formatMarkerLine(one.id)}\n\nIt is 5 de`
    const two = answered([warm, assistantMessage(edited)], rest)
    const recalled = recall([warm, assistantMessage(`${edited}\n\ngrees.`), user('and?')], turns)
    expect(recalled.usedTurns).toEqual([one, two])
    expect(show(recalled.items.slice(1, -1))).toBe(
      'assistant: It is 5 de\nthinks: and\nassistant: grees.',
    )
  })
})

test('all recorded items of a turn that continues an answer come after the continued text, even if this text was not stored', () => {
  const { turns, record: answered } = createRecorder()
  const rest = talk`
    thinks: where?
    hosted web_search_call
    thinks: cold
    assistant: degrees.
  `
  const begun = assistantMessage('It is 4')
  const turn = answered([warm, begun], rest)
  const recalled = (given: Item) =>
    show(recall([warm, given, user('and?')], turns).items.slice(1, -1))
  expect(recalled(assistantMessage(`It is 4\n\n${addMarker(turn, 'degrees.')}`))).toBe(
    show([begun, ...rest]),
  )
  expect(recalled(assistantMessage(`It is 4\n\ndegrees.\n\n${formatMarkerLine(turn.id)}`))).toBe(
    show([begun, ...rest]),
  )
})

describe('a turn without text that continues an answer', () => {
  const thought = talk`
    thinks: and so?
  `
  const searched = talk`
    thinks: where?
    hosted web_search_call
  `
  const asking = user('and?')
  const restored = (items: readonly Item[], turns: readonly RecordedTurn[]) =>
    show(recall([warm, ...items, asking], turns).items.slice(1, -1))

  test('the items of a turn without text that continues an answer come after the continued text, even if this text was not stored', () => {
    const { turns, record: answered } = createRecorder()
    const turn = answered([warm, assistantMessage('It is 4')], thought, [])
    expect(turn.input).toEqual([])
    const alone = formatMarkerLine(turn.id)
    const shown = `assistant: It is 4\n${show(thought)}`
    expect(restored([assistantMessage(`It is 4\n\n${alone}`)], turns)).toBe(shown)
    expect(restored([assistantMessage('It is 4'), assistantMessage(alone)], turns)).toBe(shown)
  })

  test('the items of a turn without text that continues an answer come between the text before its marker and the text after it', () => {
    const { turns, record: answered } = createRecorder()
    const one = answered([warm], searched, [])
    const begun = addMarker(one, 'It is 4')
    const two = answered([warm, assistantMessage(begun)], searched, [])
    const shown = `${show(searched)}\nassistant: It is 4\n${show(searched)}\nassistant: degrees.`
    expect(restored([assistantMessage(`${begun}\n\n${addMarker(two, 'degrees.')}`)], turns)).toBe(
      shown,
    )
    const twice = `${begun}\n\n${formatMarkerLine(two.id)}\n\n${addMarker(two, 'degrees.')}`
    expect(restored([assistantMessage(twice)], turns)).toBe(shown)
  })

  test('the items of a turn without text that continues an answer come at its marker, even if the text before was not recorded completely', () => {
    const { turns, record: answered } = createRecorder()
    const look = assistantMessage('Let me look.')
    const one = answered([warm], [look, ...searched])
    const begun = addMarker(one, 'Let me look.\nIt is 4')
    const two = answered([warm, assistantMessage(begun)], thought, [])
    const text = `${begun}\n\n${addMarker(two, 'degrees.')}`
    const both = [
      look,
      ...searched,
      assistantMessage('It is 4'),
      ...thought,
      assistantMessage('degrees.'),
    ]
    expect(restored([assistantMessage(text)], turns)).toBe(show(both))
    const three = answered([warm, assistantMessage(text)], [...thought, assistantMessage('Cold.')])
    expect(restored([assistantMessage(`${text}\n\n${addMarker(three, 'Cold.')}`)], turns)).toBe(
      show([...both, ...thought, assistantMessage('Cold.')]),
    )
  })
})

describe('a continuation whose input was stored with the complete conversation', () => {
  const origin = { wire: 'responses', account: 'a', model: 'm', prefixHash: null }
  const begun = talk`
    thinks: hm
    assistant: It is 4 de
  `.map((item) => ({ ...item, origin }))

  /** The user stopped the first part, perhaps edited it, and had the answer continued. */
  const recordContinuation = (restored: readonly Item[], output: readonly Item[]) => {
    const { record: answered } = createRecorder()
    const one = answered([warm], begun)
    const assistantMessage = restored.filter((item) => item.type === 'message')
    const two = {
      ...answered([warm, ...assistantMessage], output),
      parent: null,
      input: [warm, ...restored],
    }
    return { turns: [one, two], one, two }
  }

  test('a continued answer is restored from the input of the turn that continues it, even if its own turn was not loaded', () => {
    const rest = talk`assistant: grees.`
    const { turns, one, two } = recordContinuation(begun, rest)
    for (const list of [turns, [two]]) {
      const recalled = recall([warm, mark(one, 'It is 4 degrees.'), user('and?')], list)
      expect(recalled.items).toEqual([warm, ...begun, ...rest, user('and?')])
      expect(recalled.usedTurns).toEqual(list)
      expect(recalled.parent).toBe(two)
    }
  })

  test("a continued answer without text is restored only if the client's list has its marker", () => {
    const silent = begun.slice(0, 1)
    const called = talk`
      thinks: look
      call a weather
    `
    const { turns, one, two } = recordContinuation(silent, called)
    const mute = { ...one, output: silent }
    turns.splice(0, 1, mute)
    const list = [
      warm,
      assistantMessage(formatMarkerLine(mute.id)),
      ...visible(called),
      output ?? warm,
    ]
    const recalled = recall(list, turns)
    expect(recalled.items).toEqual([warm, ...silent, ...called, output])
    expect(recalled.notes.map(({ why }) => why)).not.toContain('marker-doubted')
    // Without the marker, an earlier turn may have been here.
    const bare = recall([warm, ...visible(called), output ?? warm], [mute, two])
    expect(bare.items).toEqual([warm, ...called, output])
  })

  test('if a turn continues an answer without adding text, the continued turn is restored first, although both turns have the same fingerprint', () => {
    const { turns, one, two } = recordContinuation(begun, talk`thinks: more`)
    const alike = [one, { ...two, fingerprint: one.fingerprint }]
    expect(turns).toHaveLength(2)
    const both = assistantMessage(`${addMarker(one, 'It is 4 de')}\n\n${formatMarkerLine(two.id)}`)
    const recalled = recall([warm, both, user('and?')], alike)
    expect(recalled.items).toEqual([warm, ...begun, ...talk`thinks: more`, user('and?')])
    expect(recalled.usedTurns).toEqual(alike)
  })

  test('a continued answer is restored with the edit that the user made before the model continued it', () => {
    const [thought] = begun
    const edited = assistantMessage('It is 5 de')
    const { two } = recordContinuation(
      thought === undefined ? [] : [thought, edited],
      talk`assistant: grees.`,
    )
    const { items } = recall([warm, assistantMessage('It is 5 degrees.'), user('and?')], [two])
    expect(show(items.slice(1, -1))).toBe('thinks: hm\nassistant: It is 5 de\nassistant: grees.')
  })

  test("a turn that continues an answer with a tool call is found by this call, although the answer's text and marker are those of the continued turn", () => {
    const called = talk`
      thinks: look
      call a weather
    `
    const { turns, one } = recordContinuation(begun, called)
    const list = [warm, mark(one, 'It is 4 de'), ...visible(called), output ?? warm]
    expect(recall(list, turns).items).toEqual([warm, ...begun, ...called, output])
  })

  test('the turn of an edited answer is found although a later turn has no parent', () => {
    const { turns, record: answered } = createRecorder()
    const one = answered([warm], found)
    const edited = mark(one, 'It is 5 degrees.')
    const list = [warm, edited, user('and?')]
    const restored = [warm, assistantMessage('It is 5 degrees.'), user('and?')]
    const two = { ...answered(list, begun), parent: null, input: restored }
    turns.splice(1, 1, two)
    const { items, usedTurns } = recall(
      [...list, assistantMessage('It is 4 de'), user('so?')],
      turns,
    )
    expect(usedTurns).toEqual([one, two])
    expect(show(items.slice(1, 3))).toBe('assistant: It is 5 degrees.\nuser: and?')
  })
})

describe('matching an edited answer with its turns', () => {
  test('an edited answer that the model continued several times is restored from all its turns', () => {
    const { turns, record: answered } = createRecorder()
    const one = answered([warm], [...talk`thinks: one`, assistantMessage('It is 4 degrees now.')])
    const first = addMarker(one, 'It is 4 degrees now.')
    const two = answered(
      [warm, assistantMessage(first)],
      [...talk`thinks: two`, assistantMessage('And tomorrow it rains.')],
    )
    const second = `${first}\n\n${addMarker(two, 'And tomorrow it rains.')}`
    const three = answered(
      [warm, assistantMessage(second)],
      [
        ...talk`thinks: three`,
        assistantMessage('The day after it snows.'),
        ...talk`thinks: four`,
        assistantMessage('Bye.'),
      ],
    )
    const third = `${second}\n\n${addMarker(three, 'The day after it snows.\n\nFarewell!')}`
    const recalled = recall([warm, assistantMessage(third), user('and?')], turns)
    expect(recalled.usedTurns).toEqual([one, two, three])
    expect(show(recalled.items.slice(-4, -1))).toBe(
      'thinks: two\nassistant: And tomorrow it rains.\nassistant: The day after it snows.⏎⏎Farewell!',
    )
  })

  test('an edited answer is restored from the turn whose tool outputs come before it, although all questions are equal', () => {
    const { turns, record: answered } = createRecorder()
    const list = [warm, ...visible(looked), output ?? warm]
    answered([warm], looked)
    const two = answered(list, found)
    const again = [
      ...list,
      mark(two, 'Something else.'),
      warm,
      assistantMessage('I do not know.'),
      warm,
    ]
    expect(recall(again, turns).usedTurns).toContain(two)
  })

  test('an edited answer is restored from the turn whose tool outputs have the texts of those before the answer, although another output has the same call id', () => {
    const { turns, record: answered } = createRecorder()
    const [other] = talk`output a 9 degrees`
    const list = [warm, ...visible(looked), output ?? warm]
    answered([warm], looked)
    const two = answered(list, found)
    const edited = mark(two, 'Something else.')
    const again = [
      ...list,
      edited,
      warm,
      ...visible(looked),
      other ?? warm,
      assistantMessage('So.'),
      warm,
    ]
    expect(recall(again, turns).usedTurns).toContain(two)
  })
})

describe('a turn that continues an answer which was not stored', () => {
  const more = [...talk`thinks: hm`, assistantMessage('so.')]
  const items = [user('and?'), assistantMessage('It is\n\nso.'), user('ok')]
  const whole = [user('and?'), assistantMessage('It is'), ...more, user('ok')]

  test("if a turn continues an answer that was not stored, the turn's items are restored after the continued text", () => {
    const { turns, record: answered } = createRecorder()
    answered([user('and?'), assistantMessage('It is')], more)
    expect(recall(items, turns).items).toEqual(whole)
    // The same applies if the input contains a part of the history.
    const all = turns.map((turn) => ({ ...turn, input: [user('and?'), assistantMessage('It is')] }))
    expect(recall(items, all).items).toEqual(whole)
  })

  test('a turn that continues an answer that was not stored does not restore its stored parent, which is another answer', () => {
    const { turns, record: answered } = createRecorder()
    const silent = answered(
      [warm],
      talk`
      thinks: silent
      call a
    `,
    )
    const two = answered([user('and?'), assistantMessage('It is')], more)
    const list = turns.map((turn) => (turn === two ? { ...two, parent: silent.id } : turn))
    const recalled = recall(items, list)
    expect(recalled.usedTurns).toEqual(list.slice(1))
    expect(recalled.items).toEqual(whole)
  })
})

test('a turn without a marker is restored if markers name the turns before and after it in the same answer', () => {
  const { turns, record: answered } = createRecorder()
  const one = answered([warm], looked)
  const two = talk`
    thinks: again
    call b weather
  `
  const [second] = talk`output b 5 degrees`
  const list = [warm, ...visible(looked), output ?? warm]
  answered(list, two)
  const three = answered([...list, ...visible(two), second ?? warm], found)
  const text = `${formatMarkerLine(one.id)}\n\nLet me look.\n\n${formatMarkerLine(three.id)}\n\nIt is 4 degrees.`
  const truth = [warm, ...looked, output, ...two, second, ...found, user('and?')]
  expect(recall([warm, assistantMessage(text), user('and?')], turns).items).toEqual(truth)
})

test('of two turns with the same text, the child of a turn that was found by its marker is restored', () => {
  const { turns, record: answered } = createRecorder()
  const first = [warm, assistantMessage('Yes. No.'), user('and?')]
  const one = answered([warm], [...talk`thinks: one`, assistantMessage('Yes.')])
  const two = answered([warm], [...talk`thinks: two`, assistantMessage('No.')])
  for (const turn of [one, two]) {
    answered(
      [warm, mark(turn, 'Yes. No.'), user('and?')],
      [...talk`thinks: ${turn.id}`, assistantMessage('OK.')],
    )
  }
  expect(recall([...first, assistantMessage('OK.')], turns).usedTurns).toEqual([])
  const items = [warm, mark(two, 'Yes. No.'), user('and?'), assistantMessage('OK.')]
  expect(recall(items, turns).usedTurns).toEqual([two, turns[3]])
})

describe('tool calls that are recorded, sent by the client, or both', () => {
  const twice = talk`
    thinks: where?
    call a weather {"in":"Rome","days":[1]}
    call b weather {"in":"Bonn"}
  `

  test("the client's call is sent instead of the recorded call only if its JSON arguments differ", () => {
    const { turns, record: answered } = createRecorder()
    answered([warm], twice)
    const items = [
      warm,
      ...talk`
        call a weather {"days": [1], "in": "Rome"}
        call b weather {"in":"Nice"}
        output a 4
        output b 9
      `,
    ]
    const recalled = recall(items, turns)
    expect(recalled.items.slice(1)).toEqual([...twice.slice(0, 2), ...items.slice(2)])
    expect(recalled.items[2]).toBe(twice[1])
    expect(recalled.notes.map(({ at, why }) => [at, why])).toEqual([
      [1, 'recalled'],
      [3, 'call-edited'],
    ])
  })

  test('a tool call that only the client has comes after the recorded calls of the answer', () => {
    const { turns, record: answered } = createRecorder()
    const turn = answered([warm], looked)
    const items = [
      warm,
      mark(turn, 'Let me look.'),
      ...talk`
        call z mine
        call a weather {"in":"Rome"}
        output a 4
        output z 9
      `,
    ]
    expect(show(recall(items, turns).items.slice(1, 5))).toBe(
      'thinks: where?\nassistant: Let me look.\ncall a weather {"in":"Rome"}\ncall z mine',
    )
  })

  test('a recorded call without an output is not restored, nor is the reasoning that led to it', () => {
    const { turns, record: answered } = createRecorder()
    const turn = answered([warm], [...visible(looked).slice(0, 1), ...twice])
    const recalled = recall([warm, mark(turn, 'Let me look.'), user('no')], turns)
    expect(show(recalled.items.slice(1, -1))).toBe('assistant: Let me look.')
    expect(recalled.notes.map(({ why }) => why)).toEqual([
      'marker-removed',
      'call-forgotten',
      'call-forgotten',
      'reasoning-without-follower',
    ])
  })

  test('no recorded call is restored if `replaysTools` is false (C16)', () => {
    const { turns, record: answered } = createRecorder()
    const one = answered([warm], looked)
    const two = answered(
      [warm, ...visible(looked), output ?? warm],
      [...talk`hosted web_search_call`, ...found],
    )
    const text = `${formatMarkerLine(one.id)}\n\nLet me look.\n\n${formatMarkerLine(two.id)}\n\nIt is 4 degrees.`
    const items = [warm, assistantMessage(text), user('and?')]
    expect(show(recall(items, turns, false).items.slice(1, -1))).toBe(
      'thinks: where?\nassistant: Let me look.\nthinks: cold\nassistant: It is 4 degrees.',
    )
    const native = [warm, ...visible(looked), output ?? warm, mark(two, 'It is 4 degrees.')]
    expect(show(recall(native, turns, false).items)).toContain('call a weather')
  })

  test('a tool output that the client omits is restored at its recorded position between the outputs that the client sends', () => {
    const { turns, record: answered } = createRecorder()
    answered([warm], twice)
    const outputs = talk`
      output a 4
      output b 9
    `
    const list = [warm, ...twice.slice(1), ...outputs]
    const two = answered(list, found)
    const items = [warm, ...twice.slice(1), ...outputs.slice(1), mark(two, 'It is 4 degrees.')]
    expect(show(recall([...items, user('and?')], turns).items)).toBe(
      show([warm, ...twice, ...outputs, ...found, user('and?')]),
    )
  })

  test('a tool output that the client omits is restored even if it belongs to the second of two calls of an answer', () => {
    const { turns, record: answered } = createRecorder()
    answered([warm], twice)
    const outputs = talk`
      output a 4
      output b 9
    `
    const list = [warm, ...twice.slice(1), ...outputs]
    const two = answered([...list, user('and?')], found)
    const back = [mark(two, 'It is 4 degrees.'), user('so?')]
    const items = [...list.slice(0, -1), user('and?'), ...back]
    expect(show(recall(items, turns).items)).toBe(
      show([warm, ...twice, ...outputs, user('and?'), ...found, user('so?')]),
    )
  })

  test('a tool output that the client omits is restored even if only the input of a turn that is not restored contains it', () => {
    const { turns, record: answered } = createRecorder()
    const one = answered([warm], looked)
    const two = talk`
      thinks: again
      call b
    `
    const list = [warm, ...visible(looked), output ?? warm]
    answered(list, two)
    const last = [user('never mind')]
    const three = answered([...list, ...visible(two), ...talk`output b`, ...last], found)
    const items = [warm, mark(one, 'Let me look.'), ...last, mark(three, 'It is 4 degrees.')]
    expect(recall(items, turns).items).toEqual([warm, ...looked, output, ...last, ...found])
  })

  test('if several recorded calls have the same id, each of them is restored with its own output', () => {
    const { turns, record: answered } = createRecorder()
    const list: Item[] = [warm]
    const texts: string[] = []
    const truth: Item[] = [warm]
    for (const at of ['one', 'two', 'three']) {
      const made = talk`
        assistant: Looking ${at}.
        call call_0 weather
      `
      const results = talk`output call_0 ${at}`
      const turn = answered(list, made)
      list.push(...made, ...results)
      truth.push(...made, ...results)
      texts.push(`${formatMarkerLine(turn.id)}\n\nLooking ${at}.`)
    }
    const last = answered(list, found)
    texts.push(`${formatMarkerLine(last.id)}\n\nIt is 4 degrees.`)
    const items = [warm, assistantMessage(texts.join('\n')), user('and?')]
    expect(recall(items, turns).items).toEqual([...truth, ...found, user('and?')])
  })
})

describe('restoring items of hosted tools', () => {
  // Providers reject a search without its reasoning and reasoning without its search, so both are
  // restored or neither.
  test('items of hosted tools are restored unless they must never be replayed (C11)', () => {
    const { turns, record: answered } = createRecorder()
    answered(
      [warm],
      talk`
      thinks: search
      hosted web_search_call
      thinks: draw
      hosted image_generation_call
      hosted openrouter:datetime
      thinks: done
      assistant: Here.
    `,
    )
    const recalled = recall([warm, assistantMessage('Here.'), user('and?')], turns)
    expect(show(recalled.items.slice(1, -1))).toBe(
      'thinks: search\nhosted web_search_call\nthinks: done\nassistant: Here.',
    )
    expect(recalled.notes.map(({ at, why }) => [at, why])).toEqual([
      [1, 'recalled'],
      [2, 'recalled'],
      [3, 'not-replayable'],
      [3, 'not-replayable'],
      [3, 'reasoning-without-follower'],
      [3, 'recalled'],
    ])
  })

  test('an item of a hosted tool that is never restored stays if the client itself sends it', () => {
    const { turns, record: answered } = createRecorder()
    const raw = { type: 'image_generation_call', id: 'ig_1' }
    const drawn: Item = { type: 'opaque', raw: { ...raw, result: 'base64' } }
    const own: Item = { type: 'opaque', raw: { ...raw, result: null } }
    answered([warm], [...talk`thinks: draw`, drawn, assistantMessage('Here.')])
    const { items } = recall([warm, own, assistantMessage('Here.'), user('and?')], turns)
    expect(items[2]).toBe(own)
    expect(items).toHaveLength(5)
  })

  test('an item of a hosted tool is not restored a second time if the client sends it', () => {
    const { turns, record: answered } = createRecorder()
    const drawn = talk`
      thinks: draw
      hosted image_generation_call
      assistant: Here.
    `
    answered([warm], drawn)
    const items = [warm, ...drawn.slice(1), user('and?')]
    expect(recall(items, turns).items).toEqual([warm, ...drawn, user('and?')])
  })
})

describe('reasoning that the client sends itself', () => {
  const thought = (id: string, sealed: string | null): Item => ({
    type: 'reasoning',
    id,
    summary: [],
    encrypted_content: sealed,
  })
  const once = [
    thought('rs_1', 'x'),
    assistantMessage('One.'),
    thought('rs_2', 'y'),
    assistantMessage('Two.'),
  ]

  test("the client's reasoning is replaced by the recorded reasoning unless both are the same", () => {
    const { turns, record: answered } = createRecorder()
    answered([warm], once)
    const merged = { ...thought('rs_9', 'other'), summary: [] }
    const own = thought('rs_2', 'y')
    const items = [warm, merged, own, assistantMessage('One.\n\nTwo.'), user('and?')]
    const recalled = recall(items, turns)
    expect(recalled.items).toEqual([warm, ...once, user('and?')])
    expect(recalled.items[3]).toBe(own)
    expect(recalled.notes.map(({ did, at, why }) => [did, at, why])).toEqual([
      ['changed', 1, 'reasoning-replaced'],
      ['added', 1, 'recalled'],
    ])
  })

  test.each([
    ['has no summary', { encrypted_content: 'x' }],
    ['has no encrypted content', { summary: [{ type: 'summary_text', text: 'Hm.' }] }],
    ['has neither', { encrypted_content: '' }],
  ] as const)(
    'a copy of recorded reasoning that %s is replaced by the recorded reasoning',
    (_, sent) => {
      const { turns, record: answered } = createRecorder()
      const summary = (['H', 'm.'] as const).map(
        (text) => ({ type: 'summary_text', text }) as const,
      )
      const output: readonly Item[] = [
        { type: 'reasoning', id: 'rs_1', summary, encrypted_content: 'x' },
        assistantMessage('One.'),
      ]
      answered([warm], output)
      const copy: Item = { type: 'reasoning', id: 'rs_1', summary: [], ...sent }
      const recalled = recall([warm, copy, assistantMessage('One.'), user('and?')], turns)
      expect(recalled.items).toEqual([warm, ...output, user('and?')])
      expect(recalled.notes).toEqual([{ did: 'changed', at: 1, why: 'reasoning-replaced' }])
    },
  )

  test('an edited copy of recorded reasoning is sent as the client has it', () => {
    const { turns, record: answered } = createRecorder()
    answered([warm], once)
    const copies = [
      { ...thought('rs_1', 'other') },
      { ...thought('rs_1', ''), summary: [{ type: 'summary_text', text: 'Edited.' }] } as Item,
    ]
    for (const copy of copies) {
      const items = [warm, copy, ...once.slice(1), user('and?')]
      expect(recall(items, turns).items[1]).toBe(copy)
    }
  })

  test("the client's reasoning stays if no recorded reasoning was found for its answer", () => {
    const { turns, record: answered } = createRecorder()
    answered([warm], [assistantMessage('One.')])
    const items = [warm, thought('rs_9', 'other'), assistantMessage('One.'), user('and?'), ...once]
    expect(recall(items, turns).items).toBe(items)
  })
})

test("an empty assistant message after an answer is skipped, so the answer's turn stays the parent of the next turn", () => {
  const { turns, record: answered } = createRecorder()
  const turn = answered([warm], found)
  const items = [warm, ...visible(found), user('and?'), assistantMessage(''), user('hello?')]
  const recalled = recall(items, turns)
  expect(recalled).toMatchObject({ parent: turn, newItemsStart: 2 })
  expect(recalled.items).toEqual([warm, ...found, ...items.slice(2)])
})

test("the next turn has no parent if the last answer in the client's list is not stored", () => {
  const { turns, record: answered } = createRecorder()
  answered([warm], found)
  const items = [
    warm,
    ...visible(found),
    user('and?'),
    assistantMessage('Never said.'),
    user('so?'),
  ]
  expect(recall(items, turns)).toMatchObject({ parent: null, newItemsStart: 4 })
})

describe('amount of work for one long answer', () => {
  /** Counts how often a field of the items is read. */
  function countReads(count: number, make: (at: number) => Item, field: 'call_id' | 'raw' | 'id') {
    let reads = 0
    const counted = (at: number): Item => {
      const item = make(at)
      const value = Reflect.get(item, field) as unknown
      return Object.defineProperty({ ...item }, field, {
        enumerable: true,
        get() {
          reads += 1
          return value
        },
      })
    }
    const turn: RecordedTurn = {
      id: '0'.repeat(20),
      thread: 't',
      parent: null,
      depth: 0,
      fingerprint: null,
      reasoningRefusedBy: null,
      createdAtMs: 0,
      usedAtMs: 0,
      input: [warm],
      output: Array.from({ length: count }, (_, at) => counted(at)),
    }
    // Reverse order, so that no item is at the position where it is searched first.
    const own = Array.from({ length: count }, (_, at) => counted(count - 1 - at))
    const recalled = recall([warm, mark(turn, ''), ...own, user('and?')], [turn])
    expect(recalled.usedTurns).toEqual([turn])
    return reads
  }

  test.each<[string, (at: number) => Item, 'call_id' | 'raw' | 'id']>([
    [
      'calls',
      (at) => ({ type: 'function_call', call_id: `call_${at}`, name: 'look', arguments: '{}' }),
      'call_id',
    ],
    [
      'items of hosted tools',
      (at) => ({ type: 'opaque', raw: { type: 'web_search_call', query: `${at}` } }),
      'raw',
    ],
    ['reasoning items', (at) => ({ type: 'reasoning', id: `rs_${at}`, summary: [] }), 'id'],
  ])(
    'restoring one answer reads its items in proportion to their number: %s',
    (_name, make, field) => {
      const reads = countReads(300, make, field)
      expect(reads).toBeGreaterThan(300)
      expect(countReads(600, make, field)).toBeLessThan(2.5 * reads)
    },
  )
})

test('the work of restoring is proportional to the number of answers, up to two thousand', () => {
  const recalledOf = (items: readonly Item[]) => {
    const plan = splitIntoSegments(items)
    const named = plan.segments.map(({ start, end, fingerprint }, at): RecordedTurn => ({
      id: String(at).padStart(20, '0'),
      thread: 't',
      parent: at === 0 ? null : String(at - 1).padStart(20, '0'),
      depth: at,
      fingerprint,
      reasoningRefusedBy: null,
      createdAtMs: 0,
      usedAtMs: 0,
      input: items.slice(start - 1, start),
      output: [...talk`thinks: ${String(at)}`, ...items.slice(start, end)],
    }))
    // Each segment has two possible turns; the next segment decides between them.
    const twins = named.map((turn) => ({ ...turn, id: `1${turn.id.slice(1)}`, parent: null }))
    const turns = [...named.slice(0, -1), ...twins.slice(0, -1), ...named.slice(-1)]
    return { named, recalled: restoreForgottenItems(items, plan, turns, { replaysTools: true }) }
  }
  const rounds = (count: number) =>
    Array.from({ length: count }).flatMap((_, at) => [
      user(`question ${at % 3}`),
      assistantMessage(`${at % 7} is the answer. `.repeat(20)),
    ])
  const { named, recalled } = recalledOf(rounds(2000))
  expect(recalled.items).toHaveLength(6000)
  expect(recalled.usedTurns).toEqual(named)
  expectLinear(500, rounds, recalledOf)
})

describe('an answer that broke off before its last text was recorded', () => {
  const [where] = talk`thinks: where?`
  const [cold] = talk`thinks: cold`
  const history = [warm]
  const look = assistantMessage('Let me look.')
  const thanks = user('thanks')

  test("if an answer broke off before any text was recorded, its recorded reasoning comes before the client's text", () => {
    const { turns, record: answered } = createRecorder()
    const turn = answered(
      history,
      [where].flatMap((item) => item ?? []),
      [],
    )
    const { items } = recall([warm, mark(turn, 'It is 4'), thanks], turns)
    expect(items).toEqual([warm, where, assistantMessage('It is 4'), thanks])
  })

  test('recorded reasoning after the last recorded text comes before text that only the client has', () => {
    const { turns, record: answered } = createRecorder()
    const turn = answered(
      history,
      [where, look, cold].flatMap((item) => item ?? []),
      [],
    )
    const { items } = recall([warm, mark(turn, 'Let me look.\n\nIt is 4'), thanks], turns)
    expect(items).toEqual([warm, where, look, cold, assistantMessage('It is 4'), thanks])
  })

  test('the recorded reasoning of an answer that broke off is restored even if the client has no text after this reasoning', () => {
    const { turns, record: answered } = createRecorder()
    const turn = answered(
      history,
      [where, look, cold].flatMap((item) => item ?? []),
      [],
    )
    const { items } = recall([warm, mark(turn, 'Let me look.'), thanks], turns)
    expect(items).toEqual([warm, where, look, cold, thanks])
  })
})

describe('an answer without text whose marker the client has', () => {
  const silent = talk`thinks: colder`

  test("the marker of a turn without text restores the turn only if it comes after the turn's question", () => {
    const gateway = createRecorder()
    const cold = user('how cold is it?')
    const history = [warm, assistantMessage(''), cold]
    const turn = gateway.record(history, silent, [])
    const alone = assistantMessage(formatMarkerLine(turn.id))
    const next = user('and?')
    const restored = recall([...history, alone, next], gateway.turns)
    expect(show(restored.items)).toBe(show([...history, ...silent, next]))
    const moved = recall([warm, alone, cold, assistantMessage(''), next], gateway.turns)
    expect(show(moved.items)).toBe(show([warm, cold, assistantMessage(''), next]))
    expect(moved.notes.map(({ why }) => why)).toEqual(['marker-doubted', 'marker-removed'])
  })

  test('the marker of a turn without text restores the turn after its own question, however often an equal question comes before or after', () => {
    const gateway = createRecorder()
    const [again, third] = [user('how warm is it?'), user('how warm is it?')]
    const turn = gateway.record([warm, assistantMessage(''), again], silent, [])
    const alone = assistantMessage(formatMarkerLine(turn.id))
    const restored = recall([warm, assistantMessage(''), again, alone, third], gateway.turns)
    expect(show(restored.items)).toBe(show([warm, assistantMessage(''), again, ...silent, third]))
    const moved = recall([warm, alone, again, assistantMessage(''), third], gateway.turns)
    expect(show(moved.items)).toBe(show([warm, again, assistantMessage(''), third]))
  })

  test("a marker that was moved into an earlier answer without text restores its turn only at the turn's own text", () => {
    const gateway = createRecorder()
    const history = [warm, assistantMessage(''), user('how cold is it?')]
    const turn = gateway.record(history, found)
    const text = assistantMessage('It is 4 degrees.')
    const more = talk`call a weather {"in":"Rome"}`
    gateway.record([...history, text], more)
    const [, , cold] = history
    const alone = assistantMessage(formatMarkerLine(turn.id))
    const sent = [warm, alone, cold as Item, text, ...more, output as Item]
    expect(show(recall(sent, gateway.turns).items)).toBe(
      show([warm, cold as Item, ...found, ...more, output as Item]),
    )
  })

  test("the marker of a turn without text restores nothing if a later question comes between the turn's tool outputs and the marker", () => {
    const gateway = createRecorder()
    const calling = looked.filter(({ type }) => type !== 'message')
    gateway.record([warm], calling)
    const called = [warm, ...visible(calling), output as Item]
    const turn = gateway.record(called, silent, [])
    const alone = assistantMessage(formatMarkerLine(turn.id))
    const [cold, next] = [user('how cold is it?'), user('and?')]
    const { items } = recall([...called, assistantMessage(''), cold, alone, next], gateway.turns)
    expect(show(items)).toBe(
      show([warm, ...calling, output as Item, assistantMessage(''), cold, next]),
    )
  })

  describe('an answer without text after tool outputs, if an earlier answer was continued since', () => {
    const [cold, next, text] = [
      user('how cold is it?'),
      user('and?'),
      assistantMessage('It is 4 degrees.'),
    ]
    const calling = looked.filter(({ type }) => type !== 'message')

    /** `given` is the output in the turn's input, `there` the client's current one. */
    const recallWithOutput = (given: Item, there: Item): readonly Item[] => {
      const gateway = createRecorder()
      const first = gateway.record([warm], found)
      gateway.record([warm, text, cold], calling)
      const called = [cold, ...visible(calling)]
      const turn = gateway.record([warm, text, ...called, given], silent, [])
      gateway.record([warm, text], [assistantMessage('Or 5.')])
      const both = mark(first, 'It is 4 degrees.\n\nOr 5.')
      const sent = [warm, both, ...called, there, assistantMessage(formatMarkerLine(turn.id)), next]
      return recall(sent, gateway.turns).items
    }
    const before = [warm, ...found, assistantMessage('Or 5.'), cold, ...calling, output as Item]

    test('the marker of a turn without text restores the turn after the tool outputs that are in its input', () => {
      const items = recallWithOutput(output as Item, output as Item)
      expect(show(items)).toBe(show([...before, ...silent, next]))
    })

    test("the marker of a turn without text restores nothing if the output before it has another text than the one in the turn's input", () => {
      const failed = { ...output, output: 'It timed out.' } as Item
      expect(show(recallWithOutput(failed, output as Item))).toBe(show([...before, next]))
    })
  })

  test('the marker of a turn without text restores nothing if it was moved into an earlier answer without text', () => {
    const gateway = createRecorder()
    const cold = user('how cold is it?')
    const history = [warm, assistantMessage(''), cold]
    gateway.record(history, looked)
    const called = [cold, ...visible(looked), output as Item]
    const turn = gateway.record([warm, assistantMessage(''), ...called], silent, [])
    const alone = assistantMessage(formatMarkerLine(turn.id))
    const next = user('and?')
    const restored = [cold, ...looked, output as Item]
    expect(
      show(recall([warm, assistantMessage(''), ...called, alone, next], gateway.turns).items),
    ).toBe(show([warm, assistantMessage(''), ...restored, ...silent, next]))
    expect(show(recall([warm, alone, ...called, next], gateway.turns).items)).toBe(
      show([warm, ...restored, next]),
    )
  })

  test('an answer that has only a marker in a code fence has no fingerprint', () => {
    const gateway = createRecorder()
    const turn = gateway.record([warm], silent, [])
    const fenced = assistantMessage(`\`\`\`\n${formatMarkerLine(turn.id)}\n\`\`\``)
    const [{ fingerprint } = { fingerprint: '' }] = splitIntoSegments([warm, fenced]).segments
    expect(fingerprint).toBeNull()
  })

  test('a turn without text that continues an answer is restored after this answer if the client has its marker', () => {
    const gateway = createRecorder()
    const first = gateway.record([warm], found)
    const text = mark(first, 'It is 4 degrees.')
    const second = gateway.record([warm, text], silent, [])
    const both = assistantMessage(
      `${addMarker(first, 'It is 4 degrees.')}\n\n${formatMarkerLine(second.id)}`,
    )
    const next = user('and?')
    expect(show(recall([warm, both, next], gateway.turns).items)).toBe(
      show([warm, ...found, ...silent, next]),
    )
    // Without a marker, the continuation is unknown.
    expect(show(recall([warm, text, next], gateway.turns).items)).toBe(show([warm, ...found, next]))
    expect(
      show(recall([warm, assistantMessage('It is 4 degrees.'), next], gateway.turns).items),
    ).toBe(show([warm, ...found, next]))
  })
})

test('the turn of an edited answer is found by its question, even if another turn also has the text that the user did not edit', () => {
  const gateway = createRecorder()
  const cold = user('how cold is it?')
  const [wonders, wondersMore, wondersOn] = talk`
    thinks: where?
    thinks: and where?
    thinks: there
  `
  if (wonders === undefined || wondersMore === undefined || wondersOn === undefined)
    throw new Error()
  const first = gateway.record([warm], [wonders, assistantMessage('Let me look.')])
  const edited = mark(first, 'Never mind.')
  const history = [warm, edited, cold]
  const both = [wondersMore, assistantMessage('Let me look.'), wondersOn, assistantMessage('OK.')]
  const second = gateway.record(history, both)
  const kept = mark(second, 'Let me look.\n\nSo it is.')
  expect(show(recall([...history, kept, user('and?')], gateway.turns).items)).toBe(
    show([
      warm,
      assistantMessage('Never mind.'),
      cold,
      assistantMessage('Let me look.\n\nSo it is.'),
      user('and?'),
    ]),
  )
  expect(recall([...history, kept, user('and?')], gateway.turns).usedTurns).toEqual([first, second])
})

test('a marker that is not trusted restores nothing and adds the note `marker-doubted`', () => {
  const gateway = createRecorder()
  const [one, two, three] = talk`
    thinks: where?
    thinks: and where?
    thinks: there
  `
  if (one === undefined || two === undefined || three === undefined) throw new Error()
  gateway.record([warm], [one, assistantMessage('Let me look.')])
  const second = gateway.record(
    [warm],
    [two, assistantMessage('Let me look.'), three, assistantMessage('OK.')],
  )
  const edited = mark(second, 'Let me look.\n\nSo it is.')
  const { items, notes } = recall([warm, edited, user('and?')], gateway.turns)
  expect(show(items)).toBe(
    show([warm, assistantMessage('Let me look.\n\nSo it is.'), user('and?')]),
  )
  expect(notes).toEqual([
    { did: 'dropped', at: 1, why: 'marker-doubted' },
    { did: 'changed', at: 1, why: 'marker-removed' },
  ])
})
