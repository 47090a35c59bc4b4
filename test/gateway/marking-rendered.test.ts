/**
 * Nobody sees a marker, and it changes nothing of what is seen: held against the Markdown readers
 * that clients use, for the whole answer and for all that is shown of it while it comes.
 */
import { HtmlRenderer, Parser } from 'commonmark'
import fc from 'fast-check'
import markdownIt from 'markdown-it'
import { marked as marked18 } from 'marked'
import { marked as marked9 } from 'marked-9'
import { remark } from 'remark'
import remarkGfm from 'remark-gfm'
import remarkHtml from 'remark-html'
import { describe, expect, test } from 'vitest'
import { joinVisibleText } from '../../src/dialects/chat/render/join-visible-text.ts'
import {
  answerOf,
  insertMarker,
  outcomeOf,
  pieces,
  TURN,
  type MarkedAnswer,
} from '../support/marked-answers.ts'
import { cutUp, markdown } from '../support/markdown-answers.ts'
import { numberOfRuns } from '../support/number-of-runs.ts'

const withHtml = markdownIt({ html: true })
const withoutHtml = markdownIt({ html: false, breaks: true })
const [parser, htmlRenderer] = [new Parser(), new HtmlRenderer()]
const gfm = remark().use(remarkGfm).use(remarkHtml, { sanitize: false })

const READERS: Readonly<Record<string, (text: string) => string>> = {
  // The one of Open WebUI.
  'marked 9': (text) => marked9.parse(text, { async: false }),
  'marked 18': (text) => marked18.parse(text, { async: false }),
  'markdown-it with HTML': (text) => withHtml.render(text),
  'markdown-it without HTML': (text) => withoutHtml.render(text),
  commonmark: (text) => htmlRenderer.render(parser.parse(text)),
  'remark with GFM': (text) => String(gfm.processSync(text)),
}

const answers = fc.tuple(
  fc.array(markdown.chain(cutUp), { minLength: 1, maxLength: 2 }),
  fc.oneof(fc.constant(0), fc.nat({ max: 20 })),
  fc.boolean(),
)

/** Messages over which one reader or another has its own opinion. */
const ODD: readonly (readonly [string, ...string[]])[] = [
  ['    code\n\n    more', '    ```\n    x'],
  ['    code', '2) Servus'],
  ['    code', '- \r`'],
  ['</pre>\n<!--`'],
  ['| a |\n|---|\n<?\n\n<?> `', 'Servus'],
  ['| a |\n|---|\n| b |\n\t\nServus'],
  ['* <details>\n<?</details>\n\nServus'],
  ['- ```\nServus\n\nServus\n```\n\nServus'],
  ['Servus\n\u00a0\nServus'],
]

describe.each(Object.entries(READERS))('%s', (_, render) => {
  test('shows the answer as if it had no marker, and never the marker', () => {
    fc.assert(
      fc.property(answers, ([said, readyAt, breaks]) => {
        const events = answerOf(...said)
        const told = insertMarker(events, readyAt, { beginsWithBreak: breaks })
        const text = joinVisibleText(told.outcome.items)
        if (!text.includes(TURN)) return
        expect(seen(render, text)).toBe(seen(render, joinVisibleText(outcomeOf(events).items)))
        for (const shown of prefixes(told)) expect(render(shown)).not.toContain(TURN)
      }),
      numberOfRuns(35),
    )
  })

  test.each(ODD)('is not misled by %j', (...texts) => {
    const events = answerOf(...texts.map((text) => text.split(/(?<=\n)/)))
    for (let readyAt = 0; readyAt <= events.length; readyAt += 1) {
      const text = joinVisibleText(insertMarker(events, readyAt).outcome.items)
      expect(seen(render, text)).toBe(seen(render, joinVisibleText(outcomeOf(events).items)))
      expect(render(text)).not.toContain(TURN)
    }
  })

  test('shows a message of several as if it had no marker, by itself', () => {
    fc.assert(
      fc.property(answers, ([said, readyAt]) => {
        const events = answerOf(...said)
        const items = insertMarker(events, readyAt).outcome.items
        for (const [at, item] of items.entries()) {
          const text = joinVisibleText([item])
          if (!text.includes(TURN)) continue
          expect(seen(render, text)).toBe(
            seen(render, joinVisibleText(outcomeOf(events).items.slice(at, at + 1))),
          )
        }
      }),
      numberOfRuns(25),
    )
  })
})

test('most answers have a marker, if it can be written from the beginning or in the middle', () => {
  const sample = fc.sample(markdown.chain(cutUp), { numRuns: 500, seed: 1 })
  const share = (readyAt: number) =>
    sample.filter((said) =>
      pieces(insertMarker(answerOf(said), readyAt))
        .join('')
        .includes(TURN),
    ).length
  expect(share(0)).toBeGreaterThan(400)
  expect(share(4)).toBeGreaterThan(150)
})

/** Without blanks, which nobody sees. */
function seen(render: (text: string) => string, text: string): string {
  return render(text).replaceAll(/\s+/g, '')
}

/** What is shown while the answer comes, from the marker on. */
function prefixes(told: MarkedAnswer): readonly string[] {
  const shown: string[] = []
  let text = ''
  for (const piece of piecesWithBreaks(told)) {
    text += piece
    if (text.includes(TURN)) shown.push(text)
  }
  return shown
}

/** As Chat joins them. */
function piecesWithBreaks({ events }: MarkedAnswer): readonly string[] {
  const spoken = new Set<number>()
  return events.flatMap((event) => {
    if (event.type !== 'text-delta' || event.text === '') return []
    const isNext = spoken.size > 0 && !spoken.has(event.index)
    spoken.add(event.index)
    return [isNext ? `\n\n${event.text}` : event.text]
  })
}
