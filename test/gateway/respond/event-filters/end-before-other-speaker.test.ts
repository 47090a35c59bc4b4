import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { StreamEvent } from '../../../../src/core/stream-event.ts'
import { createOtherSpeakerFilter } from '../../../../src/gateway/respond/event-filters/end-before-other-speaker.ts'
import { runStage } from '../../../../src/core/stream/stream-stage.ts'
import { findEventFaults } from '../../../support/event-laws.ts'
import { answer, nonsense, tangledAnswer } from '../../../support/responses-answers.ts'
import {
  createAnswer,
  messageStarted,
  ENDED,
  listFinalTexts,
  splitText,
  textDelta,
  STARTED,
  joinDeltas,
} from '../../said.ts'
import { numberOfRuns } from '../../../support/number-of-runs.ts'

function filterText(text: string, ...ownLabels: readonly string[]): string {
  return joinDeltas(runStage(createOtherSpeakerFilter(ownLabels), createAnswer([text])))
}

test.each([
  ["another speaker's line", 'Hello!\nBob: Hi', 'Hello!\n'],
  ['a line without a space after the colon', 'Hello!\nBob:Hi', 'Hello!\n'],
  ['a label alone', 'Hello!\nBob:\nHi', 'Hello!\n'],
  ['a label at the very end', 'Hello!\nBob:', 'Hello!\n'],
  ['a label with spaces, signs and emphasis', 'Hello!\n  **Dr. Bob (he/him)**: Hi', 'Hello!\n'],
  ['a label in another script', 'やあ\nボブ：こんにちは', 'やあ\n'],
  ['a label of 64 characters', `Hello!\n${'x'.repeat(64)}: Hi`, 'Hello!\n'],
  ['a line after a CRLF', 'Hello!\r\nBob: Hi', 'Hello!\r\n'],
  ['a line after a closed fence', '```\nBob: Hi\n```\nBob: Hi', '```\nBob: Hi\n```\n'],
])('an answer of the speaker Ada ends before %s', (_, text, expected) => {
  expect(filterText(text, 'Ada')).toBe(expected)
})

describe('lines that do not end an answer', () => {
  test.each([
    ['a label of 65 characters', `Hello!\n${'x'.repeat(65)}: Hi`],
    ['a label without a letter or digit', 'Hello!\n---: Hi\n:-)'],
    ['a link or a tag', 'Hello!\n[a]: b\n<a:b>'],
    ['a URL, a time, a path, a name with colons', 'x\nhttps://a.b\n12:30\nC:\\x\nstd::map'],
    ['a label in a code fence', '```yaml\nkey: value\n```\nDone'],
    [
      'a label in a fence of tildes that holds another',
      '~~~~\n```\nkey: value\n~~~\nkey: v\n~~~~\n',
    ],
    ['a label in a fence that is not closed', '```\nkey: value\n``` no\nkey: value'],
    ['its own label', 'Ada: Hello\nADA: Hi\n**Ada**: Ho'],
    ['blank lines', '\n\n   \n' + ' '.repeat(100) + '\nEnd'],
  ])('an answer of the speaker Ada continues after %s', (_, text) => {
    expect(filterText(text, 'Ada')).toBe(text)
  })

  test('if no labels of the model are configured, the label at the start of an answer does not end it', () => {
    expect(filterText('\nAda: Hello\nAda: Hi\nBob: Ho')).toBe('\nAda: Hello\nAda: Hi\n')
    expect(filterText('Sure\nAda: Hello')).toBe('Sure\n')
  })

  test('the first line of an answer is never cut, because the answer would be empty', () => {
    expect(filterText('Answer: 42', 'Ada')).toBe('Answer: 42')
    expect(filterText('Steps:\n1. one', 'Ada')).toBe('Steps:\n1. one')
    expect(filterText('\n  \nBob: Hello\nBob: Hi', 'Ada')).toBe('\n  \nBob: Hello\n')
  })
})

/** Random lines, with and without labels and fences. */
const lines = fc
  .array(
    fc.constantFrom(
      'Bob: hi',
      'Ada: hi',
      'Bob:',
      'text',
      '',
      ' ',
      '```',
      '```js',
      '~~~',
      'a:b:c',
      'http://x',
      '[x]: y',
      '12:30',
      'x'.repeat(70),
      `${'x'.repeat(63)}: y`,
    ),
    { maxLength: 8 },
  )
  .map((lines) => lines.join('\n'))

/** Implements the rule again, on complete lines. */
function cutLineByLine(text: string): string {
  let fence = ''
  let passed = 0
  let hasText = false
  for (const line of text.split('\n')) {
    if (fence !== '') {
      if (new RegExp(`^\\s*${fence}${fence[0]}*\\s*$`).test(line)) fence = ''
    } else {
      fence = /^\s*(`{3,}|~{3,})/.exec(line)?.[1] ?? ''
      const label = /^(?![[<])([^:]{1,64}):(?![\d/:\\])/.exec(line)?.[1]
      if (fence === '' && label !== undefined && label !== 'Ada' && hasText)
        return text.slice(0, passed)
    }
    hasText ||= line.trim() !== ''
    passed += line.length + 1
  }
  return text
}

describe('an answer in any deltas', () => {
  test('an answer ends before the same line of another speaker, with valid events, however it is split into deltas', () => {
    fc.assert(
      fc.property(splitText(lines), (pieces) => {
        const text = pieces.join('')
        const events = runStage(createOtherSpeakerFilter(['Ada']), createAnswer(pieces))
        expect(joinDeltas(events)).toBe(cutLineByLine(text))
        expect(joinDeltas(events).trim() === '').toBe(text.trim() === '')
        expect(listFinalTexts(events)).toEqual([cutLineByLine(text)])
        expect(findEventFaults(events)).toEqual([])
      }),
      numberOfRuns(500),
    )
  })

  test('the speaker filter holds back only the start of a line, until it is known whether this is a label', () => {
    fc.assert(
      fc.property(splitText(lines), (pieces) => {
        const filter = createOtherSpeakerFilter(['Ada'])
        filter.push(messageStarted())
        let [received, passed] = ['', '']
        for (const piece of pieces) {
          received += piece
          passed += joinDeltas(filter.push(textDelta(piece)))
          if (cutLineByLine(`${received}\n`) !== `${received}\n`) return
          const held = received.slice(passed.length)
          expect(held).not.toContain('\n')
          expect(held.length).toBeLessThanOrEqual(65)
          expect(held === '' || passed === '' || passed.endsWith('\n')).toBe(true)
        }
      }),
      numberOfRuns(300),
    )
  })
})

test('the speaker filter passes on the start of a line before the next event that is not text', () => {
  const filter = createOtherSpeakerFilter()
  const call: StreamEvent = {
    type: 'item-started',
    index: 1,
    item: { type: 'function_call', call_id: 'a', name: 'f', arguments: '' },
  }
  expect(
    joinDeltas(
      [STARTED, messageStarted(), textDelta('Hi\nBo')].flatMap((event) => filter.push(event)),
    ),
  ).toBe('Hi\n')
  expect(filter.push(call)).toEqual([textDelta('Bo'), call])
  // The start of this line has passed already, so the rest cannot be a label.
  expect(filter.push(textDelta('b: Hi'))).toEqual([textDelta('b: Hi')])
  expect(filter.push(ENDED)).toEqual([ENDED])
})

test("an answer ends before another speaker's label at the very end of its text", () => {
  const filter = createOtherSpeakerFilter()
  for (const event of [STARTED, messageStarted(), textDelta('Hi\nBob:')]) filter.push(event)
  expect(filter.push(ENDED).at(-1)).toEqual({ ...ENDED, finish: 'stop' })
})

test('ending answers before a line of another speaker keeps random answers valid, and does not throw for invalid events', () => {
  fc.assert(
    fc.property(fc.oneof(answer, tangledAnswer), (events) => {
      fc.pre(findEventFaults(events).length === 0)
      expect(findEventFaults(runStage(createOtherSpeakerFilter(), events))).toEqual([])
    }),
    numberOfRuns(200),
  )
  fc.assert(
    fc.property(nonsense, (events) => void runStage(createOtherSpeakerFilter(), events)),
    {
      numRuns: 100,
    },
  )
})
