/** Arbitrary Markdown as models write it and break it off, for tests that insert markers. */
import fc, { type Arbitrary } from 'fast-check'

const WORDS = ['Servus', 'the fox', 'Ölkännchen 🦊', '日本語', 'and so on.', 'a | b', 'x_1 * y_2']

const words = fc.constantFrom(...WORDS)
const paragraph = fc
  .array(words, { minLength: 1, maxLength: 3 })
  .chain((lines) => fc.constantFrom(' ', '\n', '  \n').map((between) => lines.join(between)))

type End = 'same' | 'longer' | 'shorter' | 'mixed' | 'none'

const fenced = fc
  .record({
    fence: fc.constantFrom('```', '````', '~~~', '~~~~~'),
    info: fc.constantFrom('', 'py', ' js x'),
    indent: fc.constantFrom('', ' ', '   '),
    body: fc.constantFrom(
      'x = 1',
      'x\n\nServus',
      '``',
      '```',
      '~~~',
      '# a\n\n- b',
      '    y\n\nz',
      '',
    ),
    end: fc.constantFrom<End>('same', 'same', 'same', 'longer', 'shorter', 'mixed', 'none'),
  })
  .map(({ fence, info, indent, body, end }) => {
    const ends = {
      same: fence,
      longer: fence + fence[0],
      shorter: fence.slice(1),
      mixed: `${fence}~`,
    }
    const last = end === 'none' ? '' : `\n${indent}${ends[end]}`
    return `${indent}${fence}${info}\n${body}${last}`
  })

const item = fc.oneof(
  words,
  words,
  fenced,
  fc.constantFrom('', '[ ] todo', '> said', '<b>bold</b>'),
)
const list = fc
  .record({
    mark: fc.constantFrom('-', '*', '1.', '10)'),
    items: fc.array(item, { minLength: 1, maxLength: 3 }),
    between: fc.constantFrom('\n', '\n\n'),
    deep: fc.constantFrom(0, 1, 2, -1),
  })
  .map(({ mark, items, between, deep }) =>
    items
      .map((text, at) => {
        const lead = ' '.repeat(Math.max(0, deep) * at * 2)
        const inner = lead + ' '.repeat(Math.max(0, mark.length + 1 + Math.min(0, deep)))
        return `${lead}${mark} ${text.replaceAll('\n', `\n${inner}`)}`
      })
      .join(between),
  )

const quote = fc
  .tuple(fc.oneof(paragraph, fenced), fc.boolean())
  .map(([text, isLazy]) => `> ${isLazy ? text : text.replaceAll('\n', '\n> ')}`)

const table = fc
  .array(words, { minLength: 1, maxLength: 3 })
  .map((cells) => ['| h | i |', '|---|:-:|', ...cells.map((cell) => `| ${cell} | 2 |`)].join('\n'))

const html = fc.constantFrom(
  '<details>\n<summary>More</summary>\n\nServus\n\n</details>',
  '<details type="reasoning" done="true">\n<summary>Thought</summary>\n> so\n</details>',
  '<div>\nthe fox\n</div>',
  '<div>\n\n```\nx\n```\n\n</div>',
  '<div>\n```\n</div>',
  '<!-- a\n\nb -->',
  '<!-- a',
  '<pre>\na\n\nb\n</pre>',
  '<pre>\na\n\nb',
  '<think>\nso\n\nand so\n</think>',
  '<br>',
  '<my-tag a="b">\nx',
  '<script>\nlet a = 1\n\n</script>',
)

const other = fc.constantFrom(
  '# Servus',
  'Servus\n===',
  '---',
  '* * *',
  '$$\na\n\nb\n$$',
  '$$ a $$',
  '\\[\na\n\nb\n\\]',
  '\\begin{aligned} a \\\\[2pt] b \\end{aligned}',
  '    code\n\n    more',
  '    ```\n    x',
  '[a link](https://a.b)',
  '[a]: https://a.b\n"title',
  '[^1]: a note\n\n    of two',
  '"Servus"',
  "'Servus'",
  '(Servus)',
  '**Servus** said',
  '1986. A year',
  '\u00a0',
  'an `inline\ncode` span, and `one that is not closed',
  'Servus\n\u00a0\nServus',
)

const block = fc.oneof(
  { weight: 5, arbitrary: paragraph },
  { weight: 2, arbitrary: fenced },
  { weight: 2, arbitrary: list },
  { weight: 1, arbitrary: quote },
  { weight: 1, arbitrary: table },
  { weight: 1, arbitrary: html },
  { weight: 2, arbitrary: other },
)

const between = fc.oneof(
  { weight: 8, arbitrary: fc.constant('\n\n') },
  {
    weight: 1,
    arbitrary: fc.constantFrom('\n', '\n\n\n', '\n \n', '\n\n \n', '\n\t\n', '\r\n\r\n'),
  },
)

/** Several blocks in sequence; sometimes cut off in the middle. */
export const markdown: Arbitrary<string> = fc
  .record({
    lead: fc.oneof({ weight: 6, arbitrary: fc.constant('') }, fc.constantFrom(' ', '\n\n', '   ')),
    blocks: fc.array(fc.tuple(block, between), { minLength: 1, maxLength: 5 }),
    tail: fc.constantFrom('', '', '\n', '\n\n', ' '),
    isCrlf: fc.oneof({ weight: 6, arbitrary: fc.constant(false) }, fc.constant(true)),
    cut: fc.oneof(
      { weight: 3, arbitrary: fc.constant(1) },
      fc.double({ min: 0, max: 1, noNaN: true }),
    ),
  })
  .map(({ lead, blocks, tail, isCrlf, cut }) => {
    const text =
      lead +
      blocks
        .map(([body, after]) => body + after)
        .join('')
        .trimEnd() +
      tail
    const whole = isCrlf ? text.replaceAll(/\r?\n/g, '\r\n') : text
    return whole.slice(0, Math.ceil(whole.length * cut))
  })

/** A text cut into pieces, which may be empty. */
export function cutIntoPieces(text: string): Arbitrary<readonly string[]> {
  return fc
    .oneof(
      fc.array(fc.nat({ max: text.length }), { maxLength: 8 }),
      // Splits a text into words with their preceding spaces, as models stream it.
      fc.constant([...text.matchAll(/(?<=\S)(?=\s)|(?<=\n)(?=\S)/g)].map(({ index }) => index)),
    )
    .map((places) => {
      const borders = [0, ...places.toSorted((a, b) => a - b), text.length]
      return borders.slice(1).map((end, at) => text.slice(borders[at], end))
    })
}
