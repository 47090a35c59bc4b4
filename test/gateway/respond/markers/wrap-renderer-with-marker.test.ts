/** Where an answer names its turn, and that it stays a lawful answer. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { StreamEvent } from '../../../../src/core/stream-event.ts'
import {
  formatMarkerLine,
  extractMarkers,
} from '../../../../src/core/markers/extract-turn-markers.ts'
import { joinVisibleText } from '../../../../src/dialects/chat/render/join-visible-text.ts'
import { chatDialect } from '../../../../src/dialects/chat/chat-dialect.ts'
import { createFailure } from '../../../../src/core/errors/gateway-error.ts'
import { responsesDialect } from '../../../../src/dialects/responses/responses-dialect.ts'
import {
  addMarkerToOutcome,
  wrapRendererWithMarker,
} from '../../../../src/gateway/respond/markers/wrap-renderer-with-marker.ts'
import { createAnswerContext as chatAnswering } from '../../../dialects/chat/kit.ts'
import { eventFaults } from '../../../support/event-laws.ts'
import {
  answerAround,
  answerOf,
  callEvents,
  insertMarker,
  messageEvents,
  outcomeOf,
  pieces,
  reasoningEvents,
  TURN,
} from '../../../support/marked-answers.ts'
import { cutUp, markdown } from '../../../support/markdown-answers.ts'
import { responsesFaults } from '../../../support/responses-checker.ts'
import { answer, nonsense, tangledAnswer } from '../../../support/responses-answers.ts'
import { answeringTo } from '../../../support/responses-kit.ts'
import { numberOfRuns } from '../../../support/number-of-runs.ts'

const LINE = formatMarkerLine(TURN)
const FRONT = `${LINE}\n\n`
const OWN = `\n\n${LINE}\n\n`

describe('a marker stands', () => {
  test('in front of the first text, as a piece of its own', () => {
    expect(pieces(insertMarker(answerOf(['Ser', 'vus.'])))).toEqual([FRONT, 'Ser', 'vus.'])
  })

  test('in front of the first text behind what made the turn worth naming', () => {
    const events = answerAround([
      messageEvents(0, ['Let me think.']),
      reasoningEvents(1),
      messageEvents(2, ['So.']),
      messageEvents(3, ['Indeed.']),
    ])
    const ready = events.findIndex(({ type }) => type === 'reasoning-delta')
    expect(pieces(insertMarker(events, ready))).toEqual(['Let me think.', OWN, 'So.', 'Indeed.'])
  })

  test('behind the next blank line in front of a paragraph, if the turn is ready only later', () => {
    const said = ['One', '.\n\n', 'Two\n\n', '- a\n\n', 'Three']
    expect(pieces(insertMarker(answerOf(said), 4))).toEqual([
      'One',
      '.\n\n',
      FRONT,
      ...said.slice(2),
    ])
    expect(pieces(insertMarker(answerOf(said), 5))).toEqual([...said.slice(0, 4), FRONT, 'Three'])
  })

  test('within a piece, which is parted for it', () => {
    const events = answerOf(['One', '. Yes.\n\nTwo', '.'])
    expect(pieces(insertMarker(events, 3))).toEqual(['One', '. Yes.\n\n', FRONT, 'Two', '.'])
  })

  test('not within a piece of which it is known how probable it was', () => {
    const logprobs = [{ token: '.\n\nTwo', logprob: 0 }]
    const events = answerOf(['One', '.\n\nTwo', ' three.']).map((event) =>
      event.type === 'text-delta' ? { ...event, logprobs } : event,
    )
    expect(pieces(insertMarker(events, 3))).toEqual(['One', '.\n\nTwo', ' three.', OWN])
  })

  test('at the very end, if nothing else is left, even if the turn is ready only then', () => {
    const events = answerOf(['One', ' line.'])
    for (const readyAt of [4, 5, 6]) {
      expect(pieces(insertMarker(events, readyAt))).toEqual(['One', ' line.', OWN])
    }
    expect(pieces(insertMarker(events, Infinity))).toEqual(['One', ' line.'])
  })

  test('nowhere else once it stands', () => {
    const events = answerOf(['One.\n\n', 'Two.\n\n', 'Three.'], ['Four.'], ['Five.'])
    expect(pieces(insertMarker(events)).filter((piece) => piece.includes(LINE))).toHaveLength(1)
  })

  test('behind thoughts that are told as text', () => {
    const said = ['<think>\n', 'so\n\nand so', '\n</think>\n\n', 'Servus.']
    expect(pieces(insertMarker(answerOf(said)))).toEqual([...said.slice(0, 3), FRONT, 'Servus.'])
    const details = '<details type="reasoning">\n<summary>x</summary>\n\nso\n\n</details>\n'
    expect(pieces(insertMarker(answerOf([details, '\nServus.'])))).toEqual([
      details,
      '\n',
      FRONT,
      'Servus.',
    ])
  })

  test('behind blanks with which the answer begins, which are not waited for', () => {
    expect(pieces(insertMarker(answerOf(['\n\n', 'Servus.'])))).toEqual(['\n\n', OWN, 'Servus.'])
    expect(pieces(insertMarker(answerOf([' Servus.'])))).toEqual([FRONT, ' Servus.'])
  })
})

describe('where nothing is said, a marker is a message by itself', () => {
  const search: StreamEvent[] = [
    { type: 'item-started', index: 1, item: { type: 'opaque', raw: { type: 'web_search_call' } } },
    { type: 'item-ended', index: 1, item: { type: 'opaque', raw: { type: 'web_search_call' } } },
  ]

  test.each([
    ['behind a thought', [reasoningEvents(0)]],
    ['behind a tool of the provider’s own', [reasoningEvents(0), search]],
    ['behind blanks', [reasoningEvents(0), messageEvents(1, [' \n', '\n'])]],
  ])('%s', (_, items) => {
    for (const finish of ['stop', 'length'] as const) {
      const events = answerAround(items, finish)
      const told = insertMarker(events, events.length)
      expect(told.events.slice(0, -1)).toEqual([
        ...events.slice(0, -1),
        ...messageEvents(items.length, [FRONT]),
      ])
      expect(told.events.at(-1)).toEqual(events.at(-1))
      expect(told.outcome).toEqual(outcomeOf(told.events))
      expect(joinVisibleText(addMarkerToOutcome(outcomeOf(events), TURN).items)).toContain(FRONT)
    }
  })

  test('apart from the text that it is put behind', () => {
    const events = answerAround([reasoningEvents(0)])
    const told = (continued: string) =>
      pieces(insertMarker(events, 0, { beginsWithBreak: true, continued }))
    expect(told('So.')).toEqual([OWN])
    expect(told('```\nso()')).toEqual([])
    expect(told('{"so": ')).toEqual([])
  })

  test('but not if it failed, or may not be named', () => {
    const events = answerAround([reasoningEvents(0)])
    expect(pieces(insertMarker(events, Infinity))).toEqual([])
    const failed: StreamEvent[] = [
      ...events.slice(0, -1),
      { type: 'answer-failed', failure: createFailure('upstream_broken', 'It broke.') },
    ]
    expect(pieces(insertMarker(failed))).toEqual([])
  })
})

describe('there is no marker', () => {
  test.each([
    ['in JSON', ['{"a":', ' 1}\n\nServus']],
    ['in a list in JSON', ['[', '{"a":1}]']],
    ['in a list of words in JSON', ['[tr', 'ue, false]']],
    ['in a list of which too little is known', ['[']],
    ['in an open fence', ['x\n\n```\ncode\n\n', 'Servus']],
    ['in an open fence of tildes', ['x\n\n~~~~\n~~~\n\n', 'Servus']],
    ['behind a table', ['| a |\n|---|\n| 1 |']],
    ['behind a list', ['1. a\n', '2. b']],
    ['in open HTML', ['<div>\n\n', 'Servus']],
    ['in an open comment', ['x <b>y</b>\n\n<!-- a\n\n', 'Servus']],
    ['in an open formula', ['x\n\n$$\na\n\n', 'Servus']],
    ['in a formula in brackets', ['x\n\n\\[\na\n\n', 'Servus']],
  ])('%s', (_, said) => {
    // Ready behind the first piece, and at the end alone.
    for (const readyAt of [3, 5])
      expect(pieces(insertMarker(answerOf(said), readyAt))).toEqual(said)
  })

  test.each([
    ['JSON', ['{"a":', ' 1}\n\nServus']],
    ['what may be a list in JSON', ['[', '{"a":1}]']],
    ['HTML that is not over', ['<div>\n\n', 'Servus']],
    ['thoughts that are not over', ['<think>', 'Hm.\n\n', 'Servus']],
  ])('in front of %s', (_, said) => {
    expect(pieces(insertMarker(answerOf(said)))).toEqual(said)
  })

  test('in front of anything but a paragraph', () => {
    for (const next of ['- a', '2. b', '> c', '    d', '| e', '# f', '<b>', '$$', '"g"', '(h)']) {
      const said = ['One.\n\n', next]
      expect(pieces(insertMarker(answerOf(said), 3)).at(1)).toBe(next)
    }
  })

  test('where there is no text: a call names its turn by itself', () => {
    for (const items of [[callEvents(0)], [reasoningEvents(0), callEvents(1)], []]) {
      const events = answerAround(items)
      expect(insertMarker(events).events).toEqual(events)
      expect(insertMarker(events).outcome).toEqual(outcomeOf(events))
    }
  })

  test('behind a text that calls follow', () => {
    const events = answerAround([messageEvents(0, ['Look:']), callEvents(1)])
    expect(insertMarker(events, 3).events).toEqual(events)
  })

  test('at the end of an answer that failed', () => {
    const failure = { status: 502, type: 'server_error', code: null, message: 'x', param: null }
    const events = [...answerOf(['One.']).slice(0, -1), { type: 'answer-failed', failure } as const]
    expect(insertMarker(events, 3).events).toEqual(events)
  })
})

test('a link, or a text in brackets, is no JSON', () => {
  for (const said of [['[Servus](https://a.b)'], ['[', 'Servus](https://a.b)', '\n\n', 'x']]) {
    expect(pieces(insertMarker(answerOf(said))).join('')).toContain(LINE)
  }
})

describe('an answer that goes on with a text of the client', () => {
  const options = { beginsWithBreak: true }

  test('begins with a blank line', () => {
    expect(pieces(insertMarker(answerOf(['Servus']), 0, options))).toEqual([OWN, 'Servus'])
    expect(pieces(insertMarker(answerOf(['Servus.']), Infinity, options))).toEqual([
      '\n\n',
      'Servus.',
    ])
    expect(pieces(insertMarker(answerOf(['{"a":1}']), 0, options))).toEqual(['\n\n', '{"a":1}'])
    expect(pieces(insertMarker(answerOf(['<b>\n\nServus']), 0, options))).toEqual([
      '\n\n',
      '<b>\n\n',
      FRONT,
      'Servus',
    ])
  })

  test('has no marker where that text leaves a fence open, or is JSON', () => {
    for (const continued of ['```\ncode', '{"a":']) {
      const told = insertMarker(answerOf(['Servus']), 0, { ...options, continued })
      expect(pieces(told)).toEqual(['\n\n', 'Servus'])
    }
  })

  test('says so in the item as well', () => {
    const { events, outcome } = insertMarker(answerOf(['Servus']), Infinity, options)
    expect(eventFaults(events)).toEqual([])
    expect(joinVisibleText(outcome.items)).toBe('\n\nServus')
    const whole = addMarkerToOutcome(outcomeOf(answerOf(['Servus'])), TURN, options)
    expect(joinVisibleText(whole.items)).toBe(`${OWN}Servus`)
  })
})

test('an answer that was there at once has its marker in the same place', () => {
  fc.assert(
    fc.property(fc.array(markdown, { minLength: 1, maxLength: 3 }), (texts) => {
      const events = answerOf(...texts.map((text) => [text]))
      expect(addMarkerToOutcome(outcomeOf(events), TURN)).toEqual(insertMarker(events).outcome)
    }),
    numberOfRuns(300),
  )
  const outcome = outcomeOf(answerAround([callEvents(0)]))
  expect(addMarkerToOutcome(outcome, TURN)).toBe(outcome)
})

test('what is recorded is not touched', () => {
  const events = answerOf(['Servus'])
  const outcome = outcomeOf(events)
  const before = structuredClone(outcome)
  expect(insertMarker(events).outcome).not.toEqual(before)
  addMarkerToOutcome(outcome, TURN)
  expect(outcome).toEqual(before)
})

test('annotations stay with the words that they are about', () => {
  const annotation = { type: 'url_citation', start_index: 6, end_index: 9, url: 'https://a.b' }
  const [started, first, second, ended, over] = answerOf(['One.\n\n', 'Two']).slice(1)
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
  const told = insertMarker(events, 3)
  expect(eventFaults(told.events)).toEqual([])
  const heard = told.events.flatMap((event) =>
    event.type === 'annotation-added' ? [event.annotation] : [],
  )
  const shown = joinVisibleText(told.outcome.items)
  for (const one of heard) {
    expect(shown.slice(Number(one['start_index']), Number(one['end_index']))).toBe('Two')
  }
  expect(heard).toHaveLength(1)
})

const anyAnswer = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: markdown.chain(cutUp).map((said) => ['message', said] as const) },
      { weight: 1, arbitrary: fc.constantFrom(['call', []] as const, ['reasoning', []] as const) },
    ),
    { maxLength: 4 },
  )
  .map((items) =>
    answerAround(
      items.map(([kind, said], index) => {
        if (kind === 'call') return callEvents(index)
        return kind === 'reasoning' ? reasoningEvents(index) : messageEvents(index, said)
      }),
    ),
  )
const readyAt = fc.oneof(fc.constant(0), fc.nat({ max: 30 }))

test('the answer stays lawful, with one marker at most, in one piece, and nothing else added', () => {
  fc.assert(
    fc.property(anyAnswer, readyAt, (events, at) => {
      const { events: told, outcome } = insertMarker(events, at)
      expect(eventFaults(told)).toEqual([])
      expect(outcome).toEqual(outcomeOf(told))
      const said = pieces({ events: told, outcome })
      expect(said.filter((piece) => piece.includes(LINE)).length).toBeLessThanOrEqual(1)
      expect(own(told)).toBe(own(events))
    }),
    numberOfRuns(1000),
  )
})

/** All that the model says. */
function own(events: readonly StreamEvent[]): string {
  const said = pieces({ events, outcome: outcomeOf([]) })
  return said.filter((piece) => piece !== FRONT && piece !== OWN).join('')
}

test('no token waits', () => {
  fc.assert(
    fc.property(anyAnswer, readyAt, (events, at) => {
      for (let end = 1; end <= events.length; end += 1) {
        if (events[end - 1]?.type !== 'text-delta') continue
        const heard: StreamEvent[] = []
        const inner = { push: (event: StreamEvent) => (heard.push(event), []), end: () => [] }
        const renderer = wrapRendererWithMarker(inner, {
          turnId: TURN,
          isReady: () => heard.length >= at,
        })
        for (const event of events.slice(0, end)) renderer.push(event)
        expect(own(heard)).toBe(own(events.slice(0, end)))
      }
    }),
    numberOfRuns(60),
  )
})

test('what is read of a marked text is the text, but for breaks at its very end', () => {
  fc.assert(
    fc.property(anyAnswer, readyAt, (events, at) => {
      const { outcome } = insertMarker(events, at)
      const [text, plain] = [
        joinVisibleText(outcome.items),
        joinVisibleText(outcomeOf(events).items),
      ]
      const { text: read, marks } = extractMarkers(text)
      expect(read.trimEnd()).toBe(plain.trimEnd())
      const isMarked = text !== plain
      expect(marks.map(({ turnId }) => turnId)).toEqual(isMarked ? [TURN] : [])
      if (!isMarked) return
      // The newer part of the text is what follows the marker.
      const place = text.indexOf(LINE)
      const behind = text.slice(place + LINE.length).trimStart()
      expect(read.slice(marks[0]?.at).trim()).toBe(behind.trim())
    }),
    numberOfRuns(1000),
  )
})

describe('the renderers give lawful streams', () => {
  test('Responses, for any answer', () => {
    const answers = fc.oneof(answer, tangledAnswer, anyAnswer)
    fc.assert(
      fc.property(answers, fc.nat({ max: 20 }), fc.boolean(), (events, at, beginsWithBreak) => {
        let count = 0
        const mark = { turnId: TURN, isReady: () => count >= at }
        const renderer = wrapRendererWithMarker(
          responsesDialect.createRenderer(answeringTo()),
          mark,
          {
            beginsWithBreak,
          },
        )
        const messages = events.flatMap((event) => {
          count += 1
          return renderer.push(event)
        })
        messages.push(...renderer.end(outcomeOf(events), 1_700_000_001_000))
        expect(responsesFaults(messages)).toEqual([])
      }),
      numberOfRuns(300),
    )
  })

  test('Responses, for events in an order that makes no sense', () => {
    fc.assert(
      fc.property(nonsense, (events) => {
        const mark = { turnId: TURN, isReady: () => true }
        const renderer = wrapRendererWithMarker(
          responsesDialect.createRenderer(answeringTo()),
          mark,
        )
        const messages = events.flatMap((event) => [...renderer.push(event)])
        messages.push(...renderer.end(outcomeOf(events), 1_700_000_001_000))
        const isContradiction = (fault: string) => / (says|differs) /.test(fault)
        expect(responsesFaults(messages).filter((fault) => !isContradiction(fault))).toEqual([])
      }),
      numberOfRuns(300),
    )
  })

  test('Chat, with the words that a whole answer has', () => {
    fc.assert(
      fc.property(anyAnswer, readyAt, (events, at) => {
        const { events: told, outcome } = insertMarker(events, at)
        const renderer = chatDialect.createRenderer(chatAnswering())
        const messages = told.flatMap((event) => [...renderer.push(event)])
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
