import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { StreamEvent } from '../../../../src/core/stream-event.ts'
import { createOtherSpeakerFilter } from '../../../../src/gateway/respond/event-filters/end-before-other-speaker.ts'
import { runStage } from '../../../../src/core/stream/stage.ts'
import { eventFaults } from '../../../support/event-laws.ts'
import { answer, nonsense, tangledAnswer } from '../../../support/responses-answers.ts'
import {
  answerOf,
  begun,
  ENDED,
  finalTextsIn,
  inPieces,
  said,
  STARTED,
  textIn,
} from '../../said.ts'
import { numberOfRuns } from '../../../support/number-of-runs.ts'

function left(text: string, ...ownLabels: readonly string[]): string {
  return textIn(runStage(createOtherSpeakerFilter(ownLabels), answerOf([text])))
}

describe('the text ends in front of', () => {
  test.each([
    ["another speaker's line", 'Hello!\nBob: Hi', 'Hello!\n'],
    ['such a line without a space', 'Hello!\nBob:Hi', 'Hello!\n'],
    ['a label alone', 'Hello!\nBob:\nHi', 'Hello!\n'],
    ['a label at the very end', 'Hello!\nBob:', 'Hello!\n'],
    ['a label with spaces, signs and emphasis', 'Hello!\n  **Dr. Bob (he/him)**: Hi', 'Hello!\n'],
    ['a label in another script', 'やあ\nボブ：こんにちは', 'やあ\n'],
    ['a label of 64 characters', `Hello!\n${'x'.repeat(64)}: Hi`, 'Hello!\n'],
    ['a line behind another line end', 'Hello!\r\nBob: Hi', 'Hello!\r\n'],
    ['a line behind a closed fence', '```\nBob: Hi\n```\nBob: Hi', '```\nBob: Hi\n```\n'],
  ])('%s', (_, text, rest) => {
    expect(left(text, 'Ada')).toBe(rest)
  })
})

describe('the text goes on behind', () => {
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
  ])('%s', (_, text) => {
    expect(left(text, 'Ada')).toBe(text)
  })

  test('the label that it opens with, if it has none of its own', () => {
    expect(left('\nAda: Hello\nAda: Hi\nBob: Ho')).toBe('\nAda: Hello\nAda: Hi\n')
    expect(left('Sure\nAda: Hello')).toBe('Sure\n')
    expect(left('Bob: Hello', 'Ada')).toBe('')
  })
})

/** Lines that a model might write, and some that nobody would. */
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

/** The same rule, told over whole lines. */
function cutNaively(text: string): string {
  let fence = ''
  let passed = 0
  for (const line of text.split('\n')) {
    if (fence !== '') {
      if (new RegExp(`^\\s*${fence}${fence[0]}*\\s*$`).test(line)) fence = ''
    } else {
      fence = /^\s*(`{3,}|~{3,})/.exec(line)?.[1] ?? ''
      const label = /^(?![[<])([^:]{1,64}):(?![\d/:\\])/.exec(line)?.[1]
      if (fence === '' && label !== undefined && label !== 'Ada') return text.slice(0, passed)
    }
    passed += line.length + 1
  }
  return text
}

describe('wherever the deltas are cut', () => {
  test('it ends at the same place, lawfully', () => {
    fc.assert(
      fc.property(inPieces(lines), (pieces) => {
        const text = pieces.join('')
        const events = runStage(createOtherSpeakerFilter(['Ada']), answerOf(pieces))
        expect(textIn(events)).toBe(cutNaively(text))
        expect(finalTextsIn(events)).toEqual([cutNaively(text)])
        expect(eventFaults(events)).toEqual([])
      }),
      numberOfRuns(500),
    )
  })

  test('no more than the beginning of a line is held back', () => {
    fc.assert(
      fc.property(inPieces(lines), (pieces) => {
        const guard = createOtherSpeakerFilter(['Ada'])
        guard.push(begun())
        let [come, gone] = ['', '']
        for (const piece of pieces) {
          come += piece
          gone += textIn(guard.push(said(piece)))
          if (cutNaively(`${come}\n`) !== `${come}\n`) return
          const held = come.slice(gone.length)
          expect(held).not.toContain('\n')
          expect(held.length).toBeLessThanOrEqual(65)
          expect(held === '' || gone === '' || gone.endsWith('\n')).toBe(true)
        }
      }),
      numberOfRuns(300),
    )
  })
})

test('what is held back goes before anything else that comes', () => {
  const guard = createOtherSpeakerFilter()
  const call: StreamEvent = {
    type: 'item-started',
    index: 1,
    item: { type: 'function_call', call_id: 'a', name: 'f', arguments: '' },
  }
  expect(textIn([STARTED, begun(), said('Hi\nBo')].flatMap((event) => guard.push(event)))).toBe(
    'Hi\n',
  )
  expect(guard.push(call)).toEqual([said('Bo'), call])
  // What has been passed on is no beginning of a line any more.
  expect(guard.push(said('b: Hi'))).toEqual([said('b: Hi')])
  expect(guard.push(ENDED)).toEqual([ENDED])
})

test('a label at the end of what was said ends the answer before its end', () => {
  const guard = createOtherSpeakerFilter()
  for (const event of [STARTED, begun(), said('Hi\nBob:')]) guard.push(event)
  expect(guard.push(ENDED).at(-1)).toEqual({ ...ENDED, finish: 'stop' })
})

test('any lawful answer is lawful behind the guard, and nonsense does not throw', () => {
  fc.assert(
    fc.property(fc.oneof(answer, tangledAnswer), (events) => {
      fc.pre(eventFaults(events).length === 0)
      expect(eventFaults(runStage(createOtherSpeakerFilter(), events))).toEqual([])
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
