import { describe, expect, test } from 'vitest'
import type { FunctionCallOutput, Item, Part } from '../../../src/core/item.ts'
import {
  shortenOldOutputs,
  type OutputShorteningOptions,
} from '../../../src/context/tool-outputs/shorten-old-outputs.ts'
import { talk } from '../../support/talk.ts'

const LONG = 'a'.repeat(400) + 'b'.repeat(600)

/** Returns `count` rounds, each with one call and its output. */
function rounds(count: number, output: FunctionCallOutput['output'] = LONG): readonly Item[] {
  return Array.from({ length: count }).flatMap((_, round): readonly Item[] => [
    ...talk`
      user: question ${String(round)}
      call c${String(round)}
    `,
    { type: 'function_call_output', call_id: `c${round}`, output },
  ])
}

function listShortenedRounds(
  count: number,
  shortening: OutputShorteningOptions = { keepRounds: 10 },
) {
  const { notes } = shortenOldOutputs(shortening).run(rounds(count))
  return notes.map(({ at }) => Math.floor((at ?? 0) / 3))
}

function shorten(
  output: FunctionCallOutput['output'],
  more: Partial<OutputShorteningOptions> = {},
) {
  const { items } = shortenOldOutputs({ keepRounds: 0, ...more }).run(rounds(2, output))
  const [, , first] = items
  return first?.type === 'function_call_output' ? first.output : null
}

test('a long old output keeps its beginning and end, with the number of missing characters in between (C14)', () => {
  expect(shorten(LONG)).toBe(
    `${'a'.repeat(256)}\n[616 characters of this tool output were left out here]\n${'b'.repeat(128)}`,
  )
})

test('an old output of exactly the length that the policy sets stays unchanged (C14)', () => {
  expect(shorten('x'.repeat(800))).toBe('x'.repeat(800))
  expect(shorten('x'.repeat(801))).not.toBe('x'.repeat(801))
  expect(shorten('')).toBe('')
})

test('an old output that would not become shorter stays unchanged', () => {
  const output = 'x'.repeat(60)
  expect(shorten(output, { longerThanChars: 0, headChars: 20, tailChars: 20 })).toBe(output)
})

test('shortening an output splits no surrogate pair', () => {
  const foxes = `x${'🦊'.repeat(1000)}x`
  const short = shorten(foxes)
  expect(String(short).isWellFormed()).toBe(true)
  expect(short).toBe(
    `x${'🦊'.repeat(127)}\n[1620 characters of this tool output were left out here]\n${'🦊'.repeat(63)}x`,
  )
})

test('shortening an old output with several parts shortens the texts and keeps the images', () => {
  const image: Part = { type: 'input_image', image_url: `data:image/png;base64,${LONG}` }
  const short = shorten([
    { type: 'input_text', text: LONG },
    image,
    { type: 'input_text', text: 'b' },
  ])
  expect(short).toEqual([
    { type: 'input_text', text: shorten(LONG) },
    image,
    { type: 'input_text', text: 'b' },
  ])
  expect(short?.[1]).toBe(image)
})

describe('shortening of old JSON outputs', () => {
  const json = JSON.stringify({ exit: 0, stdout: LONG })

  test('a shortened JSON output stays JSON, about as long as a shortened text (C14)', () => {
    const short = String(shorten(json))
    expect(JSON.parse(short)).toEqual({
      exit: 0,
      stdout: expect.stringMatching(/^a+ … \d+ characters left out … b+$/) as string,
    })
    expect(short.length).toBeGreaterThan(384)
    expect(short.length).toBeLessThanOrEqual(454)
  })

  test('a JSON text in a list of parts is shortened like a JSON output', () => {
    expect(shorten([{ type: 'input_text', text: json }])).toEqual([
      { type: 'input_text', text: shorten(json) },
    ])
  })

  test('a JSON output that cannot be shortened as JSON is cut like any other text', () => {
    const name = JSON.stringify({ [LONG]: 1 })
    expect(shorten(name)).toContain('characters of this tool output were left out here')
  })

  test('an old JSON output is shortened to the same text at any age (C14)', () => {
    const { run } = shortenOldOutputs({
      keepRounds: 0,
      longerThanChars: 1,
      headChars: 60,
      tailChars: 60,
    })
    const [few, many] = [run(rounds(2, json)), run(rounds(9, json))]
    expect(many.items.slice(0, 3)).toEqual(few.items.slice(0, 3))
    expect(run(many.items).items).toBe(many.items)
  })
})

test('shortening an output keeps a lone surrogate', () => {
  const torn = `${'x'.repeat(255)}\ud83e${'x'.repeat(800)}`
  expect(String(shorten(torn)).slice(0, 257)).toBe(`${'x'.repeat(255)}\ud83e\n`)
  const bytes = new TextEncoder().encode(JSON.stringify(shorten(torn)))
  expect(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))).toBe(shorten(torn))
})

test('outputs of custom tools are shortened when they are old, but not those of shell tools', () => {
  const items = talk`
    user: ${LONG}
    custom a grep ${LONG}
    custom-output a ${LONG}
    shell b ${LONG}
    shell-output b ${LONG}
    assistant: ${LONG}
    user: thanks
  `
  const step = shortenOldOutputs({ keepRounds: 0 }).run(items)
  expect(step.notes).toEqual([{ did: 'changed', at: 2, why: 'output-too-old' }])
  expect(step.items.filter((item, at) => item !== items[at])).toHaveLength(1)
})

test('shortening outputs twice changes nothing the second time, even if `longerThanChars` is below the shortened length', () => {
  const { run } = shortenOldOutputs({
    keepRounds: 0,
    longerThanChars: 1,
    headChars: 101,
    tailChars: 101,
  })
  for (const output of ['x'.repeat(1234), '🦊'.repeat(500), `x${'🦊'.repeat(600)}`]) {
    const once = run(rounds(3, output))
    expect(once.notes).toHaveLength(2)
    expect(run(once.items).items).toBe(once.items)
  }
})

describe('the cutoff between old and recent outputs', () => {
  test('outputs of the latest rounds stay unchanged, and the cutoff moves five rounds at a time', () => {
    expect(listShortenedRounds(11)).toEqual([])
    expect(listShortenedRounds(15)).toEqual([])
    expect(listShortenedRounds(16)).toEqual([0, 1, 2, 3, 4])
    expect(listShortenedRounds(20)).toEqual([0, 1, 2, 3, 4])
    expect(listShortenedRounds(21)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  })

  test('with `keepRounds: 0`, only outputs of the latest round stay unchanged', () => {
    expect(listShortenedRounds(1, { keepRounds: 0 })).toEqual([])
    expect(listShortenedRounds(4, { keepRounds: 0 })).toEqual([0, 1, 2])
  })

  test('the cutoff of old outputs moves once in five rounds, and in between each prompt begins with the previous one (C14)', () => {
    const { run } = shortenOldOutputs({ keepRounds: 10 })
    const moves: number[] = []
    for (let count = 1; count < 60; count += 1) {
      const before = JSON.stringify(run(rounds(count)).items).slice(0, -1)
      const after = JSON.stringify(run(rounds(count + 1)).items)
      if (!after.startsWith(before)) moves.push(count + 1)
    }
    expect(moves).toEqual([16, 21, 26, 31, 36, 41, 46, 51, 56])
  })
})
