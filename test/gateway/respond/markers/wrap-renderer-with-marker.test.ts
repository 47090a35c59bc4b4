/** The positions of markers in answers, and that answers with markers are valid in both dialects. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { StreamEvent } from '../../../../src/core/stream-event.ts'
import {
  formatMarkerLine,
  extractMarkers,
} from '../../../../src/core/markers/format-and-extract-markers.ts'
import { joinVisibleText } from '../../../../src/dialects/chat/render/join-visible-text.ts'
import { chatDialect } from '../../../../src/dialects/chat/chat-dialect.ts'
import { createFailure } from '../../../../src/core/errors/gateway-error.ts'
import { responsesDialect } from '../../../../src/dialects/responses/responses-dialect.ts'
import {
  addMarkerToOutcome,
  wrapRendererWithMarker,
} from '../../../../src/gateway/respond/markers/wrap-renderer-with-marker.ts'
import { createAnswerContext as chatAnswering } from '../../../dialects/chat/kit.ts'
import { findEventFaults } from '../../../support/event-laws.ts'
import {
  createAnswerEvents,
  createMessageEvents,
  callEvents,
  insertMarker,
  messageEvents,
  collectOutcome,
  listTextPieces,
  reasoningEvents,
  MARKER_TURN_ID,
} from '../../../support/marked-answers.ts'
import { cutIntoPieces, markdown } from '../../../support/markdown-answers.ts'
import { responsesFaults } from '../../../support/responses-checker.ts'
import { answer, nonsense, tangledAnswer } from '../../../support/responses-answers.ts'
import { answeringTo } from '../../../support/responses-kit.ts'
import { numberOfRuns } from '../../../support/number-of-runs.ts'

const LINE = formatMarkerLine(MARKER_TURN_ID)
const MARKER_BEFORE_TEXT = `${LINE}\n\n`
const MARKER_AFTER_TEXT = `\n\n${LINE}\n\n`

describe('positions of the marker in an answer with text', () => {
  test('the marker is inserted before the first text, as a delta of its own', () => {
    expect(listTextPieces(insertMarker(createMessageEvents(['Ser', 'vus.'])))).toEqual([
      MARKER_BEFORE_TEXT,
      'Ser',
      'vus.',
    ])
  })

  test('the marker is inserted before the first text that comes after the turn is stored', () => {
    const events = createAnswerEvents([
      messageEvents(0, ['Let me think.']),
      reasoningEvents(1),
      messageEvents(2, ['So.']),
      messageEvents(3, ['Indeed.']),
    ])
    const ready = events.findIndex(({ type }) => type === 'reasoning-delta')
    expect(listTextPieces(insertMarker(events, ready))).toEqual([
      'Let me think.',
      MARKER_AFTER_TEXT,
      'So.',
      'Indeed.',
    ])
  })

  test('the marker is never inserted inside a text: if the turn is stored later, it is appended', () => {
    const pieceTexts = ['One', '.\n\n', 'Two\n\n', '- a\n\n', 'Three']
    for (const readyAt of [3, 4, 5]) {
      expect(listTextPieces(insertMarker(createMessageEvents(pieceTexts), readyAt))).toEqual([
        ...pieceTexts,
        MARKER_AFTER_TEXT,
      ])
    }
    const events = createMessageEvents(['One', '. Yes.\n\nTwo', '.'])
    expect(listTextPieces(insertMarker(events, 3))).toEqual([
      'One',
      '. Yes.\n\nTwo',
      '.',
      MARKER_AFTER_TEXT,
    ])
  })

  test('the marker is inserted at the end if there was no other position, even if the turn is stored only then', () => {
    const events = createMessageEvents(['One', ' line.'])
    for (const readyAt of [4, 5, 6]) {
      expect(listTextPieces(insertMarker(events, readyAt))).toEqual([
        'One',
        ' line.',
        MARKER_AFTER_TEXT,
      ])
    }
    expect(listTextPieces(insertMarker(events, Infinity))).toEqual(['One', ' line.'])
  })

  test('the marker is inserted only once', () => {
    const events = createMessageEvents(['One.\n\n', 'Two.\n\n', 'Three.'], ['Four.'], ['Five.'])
    expect(
      listTextPieces(insertMarker(events)).filter((piece) => piece.includes(LINE)),
    ).toHaveLength(1)
  })

  test('a text with HTML or a formula of several lines gets no marker, because parsers differ', () => {
    for (const texts of [
      ['<think>\n', 'so\n\nand so', '\n</think>\n\n', 'Servus.'],
      ['Servus.\n\n<div>\n\nyes\n\n</div>\n\n', 'Bye.'],
      ['- <b>\n\n', 'Bye.'],
      ['$$\nx\n$$\n\n', 'Bye.'],
      ['\\begin{align}\n\n', 'Bye.'],
    ]) {
      const pieces = listTextPieces(insertMarker(createMessageEvents(texts), 3))
      expect(pieces).toEqual(texts)
    }
    const code = '`$$` and `<div>`: `\\[`'
    expect(listTextPieces(insertMarker(createMessageEvents([code, '.']), 3))).toEqual([
      code,
      '.',
      MARKER_AFTER_TEXT,
    ])
  })

  test('a delta of only white space at the start of the answer is not delayed, and the marker is inserted after it', () => {
    expect(listTextPieces(insertMarker(createMessageEvents(['\n\n', 'Servus.'])))).toEqual([
      '\n\n',
      MARKER_AFTER_TEXT,
      'Servus.',
    ])
    expect(listTextPieces(insertMarker(createMessageEvents([' Servus.'])))).toEqual([
      MARKER_BEFORE_TEXT,
      ' Servus.',
    ])
  })
})

describe('the marker of an answer without text', () => {
  const search: StreamEvent[] = [
    { type: 'item-started', index: 1, item: { type: 'opaque', raw: { type: 'web_search_call' } } },
    { type: 'item-ended', index: 1, item: { type: 'opaque', raw: { type: 'web_search_call' } } },
  ]

  test.each([
    ['reasoning', [reasoningEvents(0)]],
    ['a tool of the provider', [reasoningEvents(0), search]],
    ['white space', [reasoningEvents(0), messageEvents(1, [' \n', '\n'])]],
  ])('an answer that has only %s gets a message with only the marker', (_, items) => {
    for (const finish of ['stop', 'length'] as const) {
      const events = createAnswerEvents(items, finish)
      const result = insertMarker(events, events.length)
      expect(result.events.slice(0, -1)).toEqual([
        ...events.slice(0, -1),
        ...messageEvents(items.length, [MARKER_BEFORE_TEXT]),
      ])
      expect(result.events.at(-1)).toEqual(events.at(-1))
      expect(result.outcome).toEqual(collectOutcome(result.events))
      expect(
        joinVisibleText(addMarkerToOutcome(collectOutcome(events), MARKER_TURN_ID).items),
      ).toContain(MARKER_BEFORE_TEXT)
    }
  })

  test('a message with only the marker starts with a blank line if it continues a text, and is not sent if that text is JSON or an open code fence', () => {
    const events = createAnswerEvents([reasoningEvents(0)])
    const markAfter = (continued: string) =>
      listTextPieces(insertMarker(events, 0, { beginsWithBreak: true, continuedText: continued }))
    expect(markAfter('So.')).toEqual([MARKER_AFTER_TEXT])
    expect(markAfter('```\nso()')).toEqual([])
    expect(markAfter('{"so": ')).toEqual([])
  })

  test('an answer without text gets no marker if it failed or if its turn is not stored', () => {
    const events = createAnswerEvents([reasoningEvents(0)])
    expect(listTextPieces(insertMarker(events, Infinity))).toEqual([])
    const failed: StreamEvent[] = [
      ...events.slice(0, -1),
      { type: 'answer-failed', failure: createFailure('upstream_broken', 'It broke.') },
    ]
    expect(listTextPieces(insertMarker(failed))).toEqual([])
  })
})

describe('answers in which a marker would be visible', () => {
  test.each([
    ['in JSON', ['{"a":', ' 1}\n\nServus']],
    ['in a JSON array', ['[', '{"a":1}]']],
    ['in a JSON array of literals', ['[tr', 'ue, false]']],
    ['in the undecided start of a JSON array', ['[']],
    ['in an open fence', ['x\n\n```\ncode\n\n', 'Servus']],
    ['in an open fence of tildes', ['x\n\n~~~~\n~~~\n\n', 'Servus']],
    ['after a table', ['| a |\n|---|\n| 1 |']],
    ['after a list', ['1. a\n', '2. b']],
    ['in open HTML', ['<div>\n\n', 'Servus']],
    ['in an open comment', ['x <b>y</b>\n\n<!-- a\n\n', 'Servus']],
    ['in an open formula', ['x\n\n$$\na\n\n', 'Servus']],
    ['in a formula in brackets', ['x\n\n\\[\na\n\n', 'Servus']],
  ])('no marker is inserted %s, where it would be visible', (_, pieceTexts) => {
    // The turn is ready after the first delta, or only at the end.
    for (const readyAt of [3, 5])
      expect(listTextPieces(insertMarker(createMessageEvents(pieceTexts), readyAt))).toEqual(
        pieceTexts,
      )
  })

  test.each([
    ['JSON', ['{"a":', ' 1}\n\nServus']],
    ['a possible JSON array', ['[', '{"a":1}]']],
    ['open HTML', ['<div>\n\n', 'Servus']],
    ['open reasoning', ['<think>', 'Hm.\n\n', 'Servus']],
  ])('no marker is inserted at the start of an answer with %s', (_, pieceTexts) => {
    expect(listTextPieces(insertMarker(createMessageEvents(pieceTexts)))).toEqual(pieceTexts)
  })

  test('in the middle of a text, a marker is inserted only before a paragraph', () => {
    for (const next of ['- a', '2. b', '> c', '    d', '| e', '# f', '<b>', '$$', '"g"', '(h)']) {
      const pieceTexts = ['One.\n\n', next]
      expect(listTextPieces(insertMarker(createMessageEvents(pieceTexts), 3)).at(1)).toBe(next)
    }
  })

  test('an answer without text gets no marker if it has a call, because the id of the call identifies the turn', () => {
    for (const items of [[callEvents(0)], [reasoningEvents(0), callEvents(1)], []]) {
      const events = createAnswerEvents(items)
      expect(insertMarker(events).events).toEqual(events)
      expect(insertMarker(events).outcome).toEqual(collectOutcome(events))
    }
  })

  test('no marker is appended to a text that is followed by calls', () => {
    const events = createAnswerEvents([messageEvents(0, ['Look:']), callEvents(1)])
    expect(insertMarker(events, 3).events).toEqual(events)
  })

  test('no marker is inserted at the end of an answer that failed', () => {
    const failure = { status: 502, type: 'server_error', code: null, message: 'x', param: null }
    const events = [
      ...createMessageEvents(['One.']).slice(0, -1),
      { type: 'answer-failed', failure } as const,
    ]
    expect(insertMarker(events, 3).events).toEqual(events)
  })
})

test('an answer that starts with a link or a text in brackets gets a marker, because it is no JSON', () => {
  for (const pieceTexts of [
    ['[Servus](https://a.b)'],
    ['[', 'Servus](https://a.b)', '\n\n', 'x'],
  ]) {
    expect(listTextPieces(insertMarker(createMessageEvents(pieceTexts))).join('')).toContain(LINE)
  }
})

describe('the marker of an answer that continues a text of the client', () => {
  const options = { beginsWithBreak: true }

  test('an answer that continues a text of the client starts with a blank line and the marker', () => {
    expect(listTextPieces(insertMarker(createMessageEvents(['Servus']), 0, options))).toEqual([
      MARKER_AFTER_TEXT,
      'Servus',
    ])
    expect(
      listTextPieces(insertMarker(createMessageEvents(['Servus.']), Infinity, options)),
    ).toEqual(['\n\n', 'Servus.'])
    expect(listTextPieces(insertMarker(createMessageEvents(['{"a":1}']), 0, options))).toEqual([
      '\n\n',
      '{"a":1}',
    ])
    expect(
      listTextPieces(insertMarker(createMessageEvents(['<b>\n\nServus']), 0, options)),
    ).toEqual(['\n\n', '<b>\n\nServus'])
  })

  test('an answer that continues JSON or an open code fence of the client gets no marker', () => {
    for (const continued of ['```\ncode', '{"a":']) {
      const result = insertMarker(createMessageEvents(['Servus']), 0, {
        ...options,
        continuedText: continued,
      })
      expect(listTextPieces(result)).toEqual(['\n\n', 'Servus'])
    }
  })

  test('if an answer continues a text of the client, the blank line before it is also in its item', () => {
    const { events, outcome } = insertMarker(createMessageEvents(['Servus']), Infinity, options)
    expect(findEventFaults(events)).toEqual([])
    expect(joinVisibleText(outcome.items)).toBe('\n\nServus')
    const outcomeWithBreak = addMarkerToOutcome(
      collectOutcome(createMessageEvents(['Servus'])),
      MARKER_TURN_ID,
      options,
    )
    expect(joinVisibleText(outcomeWithBreak.items)).toBe(`${MARKER_AFTER_TEXT}Servus`)
  })
})

test('a non-streamed answer has its marker at the same position as a streamed one', () => {
  fc.assert(
    fc.property(fc.array(markdown, { minLength: 1, maxLength: 3 }), (texts) => {
      const events = createMessageEvents(...texts.map((text) => [text]))
      expect(addMarkerToOutcome(collectOutcome(events), MARKER_TURN_ID)).toEqual(
        insertMarker(events).outcome,
      )
    }),
    numberOfRuns(300),
  )
  const outcome = collectOutcome(createAnswerEvents([callEvents(0)]))
  expect(addMarkerToOutcome(outcome, MARKER_TURN_ID)).toBe(outcome)
})

test('inserting a marker does not change the outcome that is stored', () => {
  const events = createMessageEvents(['Servus'])
  const outcome = collectOutcome(events)
  const before = structuredClone(outcome)
  expect(insertMarker(events).outcome).not.toEqual(before)
  addMarkerToOutcome(outcome, MARKER_TURN_ID)
  expect(outcome).toEqual(before)
})

test('annotations refer to the same text as before after a marker is inserted', () => {
  const annotation = { type: 'url_citation', start_index: 6, end_index: 9, url: 'https://a.b' }
  const [started, first, second, ended, over] = createMessageEvents(['One.\n\n', 'Two']).slice(1)
  if (ended?.type !== 'item-ended' || started === undefined || over === undefined) throw new Error()
  const text = 'One.\n\nTwo'
  const events = [
    { type: 'answer-started', upstreamId: null, model: null },
    started,
    first,
    second,
    { type: 'annotation-added', index: 0, part: 0, annotation },
    {
      ...ended,
      item: { ...ended.item, content: [{ type: 'output_text', text, annotations: [annotation] }] },
    },
    over,
  ] as StreamEvent[]
  const result = insertMarker(events, 3)
  expect(findEventFaults(result.events)).toEqual([])
  const received = result.events.flatMap((event) =>
    event.type === 'annotation-added' ? [event.annotation] : [],
  )
  const shown = joinVisibleText(result.outcome.items)
  for (const one of received) {
    expect(shown.slice(Number(one['start_index']), Number(one['end_index']))).toBe('Two')
  }
  expect(received).toHaveLength(1)
})

const anyAnswer = fc
  .array(
    fc.oneof(
      {
        weight: 4,
        arbitrary: markdown.chain(cutIntoPieces).map((texts) => ['message', texts] as const),
      },
      { weight: 1, arbitrary: fc.constantFrom(['call', []] as const, ['reasoning', []] as const) },
    ),
    { maxLength: 4 },
  )
  .map((items) =>
    createAnswerEvents(
      items.map(([kind, texts], index) => {
        if (kind === 'call') return callEvents(index)
        return kind === 'reasoning' ? reasoningEvents(index) : messageEvents(index, texts)
      }),
    ),
  )
const readyAt = fc.oneof(fc.constant(0), fc.nat({ max: 30 }))

test('a random answer with a marker has valid events, at most one marker in one piece, and no other text', () => {
  fc.assert(
    fc.property(anyAnswer, readyAt, (events, at) => {
      const { events: markedEvents, outcome } = insertMarker(events, at)
      expect(findEventFaults(markedEvents)).toEqual([])
      expect(outcome).toEqual(collectOutcome(markedEvents))
      const pieceTexts = listTextPieces({ events: markedEvents, outcome })
      expect(pieceTexts.filter((piece) => piece.includes(LINE)).length).toBeLessThanOrEqual(1)
      expect(joinModelText(markedEvents)).toBe(joinModelText(events))
    }),
    numberOfRuns(1000),
  )
})

/** Joins the deltas without markers. */
function joinModelText(events: readonly StreamEvent[]): string {
  const pieceTexts = listTextPieces({ events, outcome: collectOutcome([]) })
  return pieceTexts
    .filter((piece) => piece !== MARKER_BEFORE_TEXT && piece !== MARKER_AFTER_TEXT)
    .join('')
}

test('inserting a marker delays no delta', () => {
  fc.assert(
    fc.property(anyAnswer, readyAt, (events, at) => {
      for (let end = 1; end <= events.length; end += 1) {
        if (events[end - 1]?.type !== 'text-delta') continue
        const received: StreamEvent[] = []
        const inner = { push: (event: StreamEvent) => (received.push(event), []), end: () => [] }
        const renderer = wrapRendererWithMarker(inner, {
          turnId: MARKER_TURN_ID,
          isReady: () => received.length >= at,
        })
        for (const event of events.slice(0, end)) renderer.push(event)
        expect(joinModelText(received)).toBe(joinModelText(events.slice(0, end)))
      }
    }),
    numberOfRuns(60),
  )
})

test('removing the marker restores the original text, except for line breaks at its end', () => {
  fc.assert(
    fc.property(anyAnswer, readyAt, (events, at) => {
      const { outcome } = insertMarker(events, at)
      const [text, plain] = [
        joinVisibleText(outcome.items),
        joinVisibleText(collectOutcome(events).items),
      ]
      const { text: read, markers } = extractMarkers(text)
      expect(read.trimEnd()).toBe(plain.trimEnd())
      const isMarked = text !== plain
      expect(markers.map(({ turnId }) => turnId)).toEqual(isMarked ? [MARKER_TURN_ID] : [])
      if (!isMarked) return
      // The position of the marker separates the text before it from the text after it.
      const index = text.indexOf(LINE)
      const after = text.slice(index + LINE.length).trimStart()
      expect(read.slice(markers[0]?.offset).trim()).toBe(after.trim())
    }),
    numberOfRuns(1000),
  )
})

describe('streams that are rendered with a marker', () => {
  test('the Responses renderer writes a valid stream with a marker for any answer', () => {
    const answers = fc.oneof(answer, tangledAnswer, anyAnswer)
    fc.assert(
      fc.property(answers, fc.nat({ max: 20 }), fc.boolean(), (events, at, beginsWithBreak) => {
        let count = 0
        const marker = { turnId: MARKER_TURN_ID, isReady: () => count >= at }
        const renderer = wrapRendererWithMarker(
          responsesDialect.createRenderer(answeringTo()),
          marker,
          {
            beginsWithBreak,
          },
        )
        const messages = events.flatMap((event) => {
          count += 1
          return renderer.push(event)
        })
        messages.push(...renderer.end(collectOutcome(events), 1_700_000_001_000))
        expect(responsesFaults(messages)).toEqual([])
      }),
      numberOfRuns(300),
    )
  })

  test('the Responses renderer writes a valid stream with a marker for events in an invalid order', () => {
    fc.assert(
      fc.property(nonsense, (events) => {
        const marker = { turnId: MARKER_TURN_ID, isReady: () => true }
        const renderer = wrapRendererWithMarker(
          responsesDialect.createRenderer(answeringTo()),
          marker,
        )
        const messages = events.flatMap((event) => [...renderer.push(event)])
        messages.push(...renderer.end(collectOutcome(events), 1_700_000_001_000))
        const isContradiction = (fault: string) => / (says|differs) /.test(fault)
        expect(responsesFaults(messages).filter((fault) => !isContradiction(fault))).toEqual([])
      }),
      numberOfRuns(300),
    )
  })

  test('the Chat Completions renderer streams the same text with a marker as it renders non-streamed', () => {
    fc.assert(
      fc.property(anyAnswer, readyAt, (events, at) => {
        const { events: markedEvents, outcome } = insertMarker(events, at)
        const renderer = chatDialect.createRenderer(chatAnswering())
        const messages = markedEvents.flatMap((event) => [...renderer.push(event)])
        messages.push(...renderer.end(outcome, 1_700_000_001_000))
        const text = messages
          .slice(0, -1)
          .map(({ data }) => JSON.parse(data) as { choices: { delta: { content?: string } }[] })
          .map(({ choices }) => choices[0]?.delta.content ?? '')
          .join('')
        expect(text).toBe(joinVisibleText(outcome.items))
      }),
      numberOfRuns(200),
    )
  })
})
