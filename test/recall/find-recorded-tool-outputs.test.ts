import { expect, test } from 'vitest'
import type { Item } from '../../src/core/item.ts'
import type { RecordedTurn } from '../../src/core/items/recorded-turn.ts'
import { buildTurnAncestry, type TurnAncestry } from '../../src/recall/turn-ancestry.ts'
import {
  readToolCallKey,
  indexRecordedOutputs,
} from '../../src/recall/find-recorded-tool-outputs.ts'
import { talk } from '../support/talk.ts'

function turn(
  id: number,
  parent: number | null,
  input: readonly Item[],
  output: readonly Item[],
): RecordedTurn {
  return {
    id: String(id),
    thread: 't',
    parent: parent === null ? null : String(parent),
    depth: id,
    fingerprint: null,
    reasoningRefusedBy: null,
    createdAtMs: 0,
    usedAtMs: 0,
    input,
    output,
  }
}

function found(attached: readonly RecordedTurn[], all: readonly RecordedTurn[]) {
  const find = indexRecordedOutputs(attached, buildTurnAncestry(all))
  return (of: RecordedTurn, id: string, nth = 0) => {
    const output = find(of, `function ${id}`, nth)?.output
    return output?.type === 'function_call_output' ? output.output : null
  }
}

test("a recorded tool output is assigned to the nearest earlier turn that made a call with the output's call id", () => {
  const first = turn(0, null, [], talk`call a`)
  const second = turn(1, 0, talk`output a 0`, talk`call a`)
  const silent = turn(2, 1, talk`user: and?`, talk`thinks: hm`)
  const last = turn(3, 2, talk`output a 1`, talk`assistant: So.`)
  const outputOf = found([first, last], [last, silent, second, first])
  expect(outputOf(first, 'a')).toBe('0')
  expect(outputOf(second, 'a')).toBe('1')
  expect(outputOf(last, 'a')).toBe(null)
})

test('of two recorded outputs with the same call id, the second is assigned to the earlier turn that made two calls with this id', () => {
  const both = talk`
    call a
    call a
  `
  const outputs = talk`
    output a 0
    output a 1
  `
  const first = turn(0, null, [], both)
  const second = turn(1, 0, [], talk`call a`)
  const last = turn(2, 1, outputs, [])
  const outputOf = found([first, second, last], [first, second, last])
  expect(outputOf(second, 'a')).toBe('0')
  expect(outputOf(first, 'a', 1)).toBe('1')
})

test("a recorded output is found only in the inputs of matched turns and their ancestors; if there are several outputs, that of the turn that comes first in the client's list is taken", () => {
  const first = turn(0, null, [], talk`call a`)
  const sibling = turn(1, 0, talk`output a sibling`, talk`call b`)
  const own = turn(2, 0, talk`output a own`, [])
  const late = turn(3, 2, talk`output b`, [])
  expect(found([first, late], [first, sibling, own, late])(first, 'a')).toBe('own')
  expect(found([first, late], [first, sibling, own, late])(sibling, 'b')).toBe(null)
  expect(found([sibling, own], [first, sibling, own, late])(first, 'a')).toBe('sibling')
})

test('the search for recorded outputs ends even if the parents of stored turns form a circle', () => {
  const one = turn(0, 1, talk`output a`, talk`call a`)
  const two = turn(1, 0, talk`output a`, talk`call a`)
  expect(found([one, two], [one, two])(one, 'a')).toBe(null)
})

test('readToolCallKey returns a key only for the requested side of a tool call', () => {
  const [call, nameless] = talk`
    call a
    thinks: hm
  `
  if (call === undefined || nameless === undefined) throw new Error()
  expect(readToolCallKey(call, 'call')).toBe('function a')
  expect(readToolCallKey(call, 'output')).toBe(null)
  expect(readToolCallKey(nameless, 'call')).toBe(null)
})

/** Counts the steps from a turn to its parent. */
function countSteps(count: number, attach: (turn: RecordedTurn) => boolean): number {
  const chain = Array.from({ length: count }, (_, at) =>
    turn(at, at === 0 ? null : at - 1, talk`output nobody`, at === 0 ? talk`call nobody x` : []),
  )
  // Only another branch has the call, so no ancestor made it.
  const all = [turn(-1, null, [], talk`call other`), ...chain.slice(1)]
  const leaves = all.map((one, at) => turn(count + at, Number(one.id), talk`output other`, []))
  const kin = buildTurnAncestry([...all, ...leaves])
  let steps = 0
  const counted: TurnAncestry = {
    ...kin,
    findParent(of) {
      steps += 1
      return kin.findParent(of)
    },
    *listAncestors(of) {
      for (const ancestor of kin.listAncestors(of)) {
        steps += 1
        yield ancestor
      }
    },
  }
  indexRecordedOutputs([...all, ...leaves].filter(attach), counted)
  return steps
}

test('the work of the search for recorded outputs is proportional to the number of turns, even if the tree of turns has many branches', () => {
  const isLeaf = ({ id }: RecordedTurn) => Number(id) % 2 === 0
  for (const attach of [() => true, isLeaf]) {
    const steps = countSteps(400, attach)
    expect(steps).toBeGreaterThan(400)
    expect(countSteps(800, attach)).toBeLessThan(2.5 * steps)
  }
})
