import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { textOf, type Item, type Part } from '../../../src/core/item.ts'
import { capOutputs } from '../../../src/context/tool-outputs/cap-outputs.ts'
import { readOutputRange } from '../../../src/context/tool-outputs/read-output-range.ts'
import { talk } from '../../support/talk.ts'

const cut = capOutputs({ maxChars: 400, offersExpandTool: false })
const expandable = capOutputs({ maxChars: 400, offersExpandTool: true })

const outputOf = (output: string | readonly Part[], call_id = 'call_a'): Item => ({
  type: 'function_call_output',
  call_id,
  output,
})
const run = (item: Item, transform = cut) => transform.run([item]).items[0] as typeof item
const readText = (item: Item | undefined) =>
  item !== undefined && 'output' in item ? textOf(item.output) : ''
const NUMBERED = Array.from({ length: 300 }, (_, at) => `line ${at}`).join('\n')

test('a long output is capped to its beginning and end, even if it is the latest one', () => {
  const items = [
    ...talk`
      user: go
      call a
    `,
    outputOf(NUMBERED, 'a'),
  ]
  const { items: capped, notes } = cut.run(items)
  const text = readText(capped[2])
  expect(text).toMatch(/^line 0\nline 1\n/)
  expect(text).toMatch(/line 298\nline 299$/)
  expect(text.length).toBeLessThanOrEqual(400)
  expect(text.length).toBeGreaterThan(390)
  expect(notes).toEqual([{ did: 'changed', at: 2, why: 'output-capped' }])
})

test('the note in a cut output contains the number of missing characters', () => {
  const text = readText(run(outputOf(NUMBERED)))
  const [head, leftOut, tail] = text.split(/\n\[(\d+) characters of this .* left out here\]\n/)
  expect(Number(leftOut)).toBe(NUMBERED.length - `${head}${tail}`.length)
  expect(NUMBERED.startsWith(head ?? '-') && NUMBERED.endsWith(tail ?? '-')).toBe(true)
})

test('capping outputs changes neither short outputs nor long items of other types', () => {
  const items = [
    outputOf('x'.repeat(400)),
    ...talk`
      user: ${'x'.repeat(900)}
      assistant: ${'x'.repeat(900)}
      call a tool ${'x'.repeat(900)}
    `,
  ]
  expect(cut.run(items)).toEqual({ items, notes: [] })
  expect(cut.run(items).items).toBe(items)
})

describe('the hint how to read the rest of a cut output', () => {
  test('the hint how to read the rest of a capped output contains the range of missing characters', () => {
    const items = [outputOf('other', 'call_b'), outputOf(NUMBERED), outputOf('', 'call_c')]
    const [, capped] = expandable.run(items).items
    const text = readText(capped)
    expect(text.length).toBeLessThanOrEqual(400)
    const asked = /call expand_output with (\{[^}]*\})/.exec(text)?.[1] ?? '{}'
    const { call_id, from, to } = JSON.parse(asked) as { call_id: string; from: number; to: number }
    expect(call_id).toBe('call_a')
    const piece = readOutputRange(items, call_id, { from, to, maxChars: 100_000 })
    const [head, tail] = text.split(/\n\[\d+ characters[^\]]*\]\n/)
    expect(`${head}${piece?.text}${tail}`).toBe(NUMBERED)
  })

  test('the hint how to read the rest of a capped output is omitted if the call id is too long', () => {
    const text = readText(run(outputOf(NUMBERED, 'i'.repeat(300)), expandable))
    expect(text).not.toContain('expand_output')
    expect(text.length).toBeLessThanOrEqual(400)
    expect(text).toContain('left out here]')
  })
})

describe('capping of JSON outputs', () => {
  const rows = JSON.stringify(Array.from({ length: 90 }, (_, id) => ({ id, name: `n${id}` })))
  const object = JSON.stringify({ exit: 0, stdout: 'y'.repeat(900), stderr: '' })

  test('a capped JSON output stays JSON and contains the number of missing elements', () => {
    const list = JSON.parse(readText(run(outputOf(rows)))) as unknown[]
    expect(list[0]).toEqual({ id: 0, name: 'n0' })
    expect(JSON.parse(readText(run(outputOf(object))))).toMatchObject({ exit: 0, stderr: '' })
  })

  test('a capped JSON output gets the hint as its last element or field', () => {
    const list = JSON.parse(readText(run(outputOf(rows), expandable))) as unknown[]
    expect(list.at(-1)).toContain('expand_output')
    const told = JSON.parse(readText(run(outputOf(object), expandable))) as Record<string, unknown>
    expect(told).toMatchObject({ exit: 0, stderr: '' })
    expect(told['… shortened']).toContain(`Shortened from ${object.length} characters`)
  })

  test('a JSON output loses only white space if that makes it short enough', () => {
    expect(readText(run(outputOf(`[${' '.repeat(900)}]`), expandable))).toBe('[]')
  })
})

describe('capping of outputs with several parts', () => {
  const image: Part = { type: 'input_image', image_url: 'https://example.com/a.png' }
  const part = (text: string): Part => ({ type: 'input_text', text })

  test('text parts of an output are cut as one text, and images stay in place', () => {
    const parts = [part('a'.repeat(300)), image, part('b'.repeat(300)), part('c'), part('d')]
    const item = run(outputOf(parts))
    const output = 'output' in item ? item.output : ''
    expect(textOf(output).length).toBeLessThanOrEqual(400)
    const shown = typeof output === 'string' ? [] : output
    expect(shown.map((p) => ('text' in p ? p.text.slice(0, 4) : p.type))).toEqual([
      'aaaa',
      '[260',
      'input_image',
      'bbbb',
      'c',
      'd',
    ])
    expect(shown.at(-1)).toBe(parts.at(-1))
  })

  test('a single text part next to an image is cut like an output that is one text', () => {
    const item = run(outputOf([image, part(NUMBERED)]))
    expect('output' in item && typeof item.output !== 'string' && item.output[0]).toBe(image)
    expect(readText(item)).toBe(readText(run(outputOf(NUMBERED))))
  })
})

test('a long output that imitates the note of a cut output is cut, too', () => {
  const forged = `${'x'.repeat(200)}\n[9 characters of this tool output were left out here]\n`
  expect(readText(run(outputOf(forged)))).toBe(forged)
  const long = forged.repeat(20)
  expect(readText(run(outputOf(long))).length).toBeLessThanOrEqual(400)
})

const output = fc.oneof(
  fc
    .tuple(fc.constantFrom('x', '🦊', 'x🦊', 'é\n', '\udd8a', '"'), fc.nat(600))
    .map(([piece, n]) => piece.repeat(n)),
  fc.json({ maxDepth: 4 }).map((text) => `[${`${text},`.repeat(200).slice(0, -1)}]`),
)
const outputs = fc.oneof(
  output,
  fc.array(
    output.map((text): Part => ({ type: 'input_text', text })),
    { maxLength: 4 },
  ),
)

test('any output is cut once, within the limit, without splitting surrogate pairs', () => {
  fc.assert(
    fc.property(
      outputs,
      fc.string(),
      fc.boolean(),
      fc.integer({ min: 200, max: 900 }),
      (given, id, expand, maxChars) => {
        const { run: capped } = capOutputs({ maxChars, offersExpandTool: expand })
        const once = capped([outputOf(given, id)]).items
        const text = readText(once[0])
        expect(text.length).toBeLessThanOrEqual(Math.max(maxChars, 0))
        expect(capped(once).items).toBe(once)
        if (readText(outputOf(given)).isWellFormed()) expect(text.isWellFormed()).toBe(true)
      },
    ),
    { numRuns: 300 },
  )
})

test('a long output is capped to the same text in any list of items', () => {
  fc.assert(
    fc.property(outputs, fc.array(outputs, { maxLength: 3 }), (given, others) => {
      const items = [...others, given].map((each) => outputOf(each))
      expect(expandable.run(items).items.at(-1)).toEqual(run(outputOf(given), expandable))
    }),
    { numRuns: 50 },
  )
})
