import { describe, expect, test } from 'vitest'
import type { FunctionCallOutput, Item, Part } from '../../../src/core/item.ts'
import {
  shortenOldOutputs,
  type OutputShorteningOptions,
} from '../../../src/context/tool-outputs/shorten-old-outputs.ts'
import { talk } from '../../support/talk.ts'

const LONG = 'a'.repeat(400) + 'b'.repeat(600)

/** `count` rounds, each with one call and its output. */
function rounds(count: number, output: FunctionCallOutput['output'] = LONG): readonly Item[] {
  return Array.from({ length: count }).flatMap((_, round): readonly Item[] => [
    ...talk`
      user: question ${String(round)}
      call c${String(round)}
    `,
    { type: 'function_call_output', call_id: `c${round}`, output },
  ])
}

function shortenedRounds(count: number, shortening: OutputShorteningOptions = { rounds: 10 }) {
  const { notes } = shortenOldOutputs(shortening).run(rounds(count))
  return notes.map(({ at }) => Math.floor((at ?? 0) / 3))
}

function shortened(
  output: FunctionCallOutput['output'],
  more: Partial<OutputShorteningOptions> = {},
) {
  const { items } = shortenOldOutputs({ rounds: 0, ...more }).run(rounds(2, output))
  const [, , first] = items
  return first?.type === 'function_call_output' ? first.output : null
}

test('keeps the beginning and the end, and says how much is missing (C14)', () => {
  expect(shortened(LONG)).toBe(
    `${'a'.repeat(256)}\n[616 characters of this tool output were left out here]\n${'b'.repeat(128)}`,
  )
})

test('leaves shorter outputs alone (C14)', () => {
  expect(shortened('x'.repeat(799))).toBe('x'.repeat(799))
  expect(shortened('x'.repeat(800))).not.toBe('x'.repeat(800))
  expect(shortened('')).toBe('')
})

test('leaves an output alone that would not become shorter', () => {
  const output = 'x'.repeat(60)
  expect(shortened(output, { minChars: 0, headChars: 20, tailChars: 20 })).toBe(output)
})

test('never cuts a character in two', () => {
  const foxes = `x${'🦊'.repeat(1000)}x`
  const short = shortened(foxes)
  expect(String(short).isWellFormed()).toBe(true)
  expect(short).toBe(
    `x${'🦊'.repeat(127)}\n[1620 characters of this tool output were left out here]\n${'🦊'.repeat(63)}x`,
  )
})

test('shortens the texts of a list and keeps its images', () => {
  const image: Part = { type: 'input_image', image_url: `data:image/png;base64,${LONG}` }
  const short = shortened([
    { type: 'input_text', text: LONG },
    image,
    { type: 'input_text', text: 'b' },
  ])
  expect(short).toEqual([
    { type: 'input_text', text: shortened(LONG) },
    image,
    { type: 'input_text', text: 'b' },
  ])
  expect(short?.[1]).toBe(image)
})

describe('an output that is JSON', () => {
  const json = JSON.stringify({ exit: 0, stdout: LONG })

  test('stays JSON, in about the same room (C14)', () => {
    const short = String(shortened(json))
    expect(JSON.parse(short)).toEqual({
      exit: 0,
      stdout: expect.stringMatching(/^a+ … \d+ characters left out … b+$/) as string,
    })
    expect(short.length).toBeGreaterThan(384)
    expect(short.length).toBeLessThanOrEqual(454)
  })

  test('is shortened the same in a list of parts', () => {
    expect(shortened([{ type: 'input_text', text: json }])).toEqual([
      { type: 'input_text', text: shortened(json) },
    ])
  })

  test('is cut like any other text where that is not enough', () => {
    const name = JSON.stringify({ [LONG]: 1 })
    expect(shortened(name)).toContain('characters of this tool output were left out here')
  })

  test('says nothing of its age, and is not shortened again (C14)', () => {
    const { run } = shortenOldOutputs({ rounds: 0, minChars: 1, headChars: 60, tailChars: 60 })
    const [few, many] = [run(rounds(2, json)), run(rounds(9, json))]
    expect(many.items.slice(0, 3)).toEqual(few.items.slice(0, 3))
    expect(run(many.items).items).toBe(many.items)
  })
})

test('half a character that stands alone is carried along', () => {
  const torn = `${'x'.repeat(255)}\ud83e${'x'.repeat(800)}`
  expect(String(shortened(torn)).slice(0, 257)).toBe(`${'x'.repeat(255)}\ud83e\n`)
  const bytes = new TextEncoder().encode(JSON.stringify(shortened(torn)))
  expect(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))).toBe(shortened(torn))
})

test('shortens outputs of custom tools, and leaves every other item alone', () => {
  const items = talk`
    user: ${LONG}
    custom a grep ${LONG}
    custom-output a ${LONG}
    shell b ${LONG}
    shell-output b ${LONG}
    assistant: ${LONG}
    user: thanks
  `
  const step = shortenOldOutputs({ rounds: 0 }).run(items)
  expect(step.notes).toEqual([{ did: 'changed', at: 2, why: 'output-too-old' }])
  expect(step.items.filter((item, at) => item !== items[at])).toHaveLength(1)
})

test('changes nothing more even where the limit is lower than what is left over', () => {
  const { run } = shortenOldOutputs({ rounds: 0, minChars: 1, headChars: 101, tailChars: 101 })
  for (const output of ['x'.repeat(1234), '🦊'.repeat(500), `x${'🦊'.repeat(600)}`]) {
    const once = run(rounds(3, output))
    expect(once.notes).toHaveLength(2)
    expect(run(once.items).items).toBe(once.items)
  }
})

describe('the border', () => {
  test('leaves the newest rounds whole, and moves in steps of five', () => {
    expect(shortenedRounds(11)).toEqual([])
    expect(shortenedRounds(15)).toEqual([])
    expect(shortenedRounds(16)).toEqual([0, 1, 2, 3, 4])
    expect(shortenedRounds(20)).toEqual([0, 1, 2, 3, 4])
    expect(shortenedRounds(21)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  })

  test('leaves only the newest round whole with 0 rounds', () => {
    expect(shortenedRounds(1, { rounds: 0 })).toEqual([])
    expect(shortenedRounds(4, { rounds: 0 })).toEqual([0, 1, 2])
  })

  test('moves once in five rounds, and in between each prompt begins with the one before (C14)', () => {
    const { run } = shortenOldOutputs({ rounds: 10 })
    const moves: number[] = []
    for (let count = 1; count < 60; count += 1) {
      const before = JSON.stringify(run(rounds(count)).items).slice(0, -1)
      const after = JSON.stringify(run(rounds(count + 1)).items)
      if (!after.startsWith(before)) moves.push(count + 1)
    }
    expect(moves).toEqual([16, 21, 26, 31, 36, 41, 46, 51, 56])
  })
})
