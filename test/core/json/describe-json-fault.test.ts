import fc from 'fast-check'
import { expect, test } from 'vitest'
import { describeJsonFault } from '../../../src/core/json/describe-json-fault.ts'

test.each([
  ['[}', 'it is broken at line 1, column 2'],
  ['{"a": 1,\n  b: 2}', 'it is broken at line 2, column 3'],
  ['{"a": 01}', 'it is broken at line 1, column 8'],
  ['{"a": 1} x', 'it is broken at line 1, column 10'],
  ['{"a": "b\nc"}', 'it is broken at line 1, column 9'],
  ['{"a": "\\x"}', 'it is broken at line 1, column 9'],
  ['[1,]', 'it is broken at line 1, column 4'],
  ["{'a': 1}", 'it is broken at line 1, column 2'],
  ['undefined', 'it is broken at line 1, column 1'],
  ['{"a"', 'it ends before it is complete'],
  ['{"a": "b\\u00', 'it ends before it is complete'],
  ['[tru', 'it ends before it is complete'],
  ['[-', 'it ends before it is complete'],
  [' \n', 'it is empty'],
])('the fault of %j: %s', (text, fault) => {
  expect(describeJsonFault(text)).toBe(fault)
})

const damagedJson = fc
  .tuple(
    fc.json(),
    fc.nat(),
    fc.constantFrom('', '}', ']', ',', '"', '\\', '\n', 'x', '0', '-', ':'),
  )
  .map(([json, at, inserted]) => {
    const position = at % (json.length + 1)
    const rest = inserted === '' ? '' : json.slice(position)
    return json.slice(0, position) + inserted + rest
  })

test('a text is JSON up to the position of its fault, and can be completed there', () => {
  fc.assert(
    fc.property(damagedJson, (text) => {
      if (isJson(text)) return
      const fault = describeJsonFault(text)
      const [, line, column] = /line (\d+), column (\d+)$/.exec(fault) ?? []
      if (line === undefined) {
        expect(canBeCompleted(text)).toBe(true)
        return
      }
      const lines = text.split('\n').slice(0, Number(line))
      const before = [...lines.slice(0, -1), lines.at(-1)?.slice(0, Number(column) - 1)].join('\n')
      expect(canBeCompleted(before)).toBe(true)
      expect(canBeCompleted(text.slice(0, before.length + 1))).toBe(false)
    }),
  )
})

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** True if V8 complains only about the end of the text. */
function canBeCompleted(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch (error) {
    const { message } = error as Error
    const [, position] = /at position (\d+)/.exec(message) ?? []
    return (
      message.startsWith('Unexpected end') ||
      message.startsWith('Unterminated string') ||
      (position !== undefined && Number(position) >= text.length)
    )
  }
}
