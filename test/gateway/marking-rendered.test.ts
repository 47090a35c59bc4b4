/**
 * A marker is invisible and does not change the rendered answer. Checked with the Markdown parsers of clients, for the
 * complete answer and for each of its prefixes that is visible during the stream.
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
  createMessageEvents,
  insertMarker,
  collectOutcome,
  listTextPieces,
  MARKER_TURN_ID,
  type MarkedAnswer,
} from '../support/marked-answers.ts'
import { cutIntoPieces, markdown } from '../support/markdown-answers.ts'
import { numberOfRuns } from '../support/number-of-runs.ts'

const withHtml = markdownIt({ html: true })
const withoutHtml = markdownIt({ html: false, breaks: true })
const [parser, htmlRenderer] = [new Parser(), new HtmlRenderer()]
const gfm = remark().use(remarkGfm).use(remarkHtml, { sanitize: false })

const PARSERS: Readonly<Record<string, (text: string) => string>> = {
  // Open WebUI uses this version.
  'marked 9': (text) => marked9.parse(text, { async: false }),
  'marked 18': (text) => marked18.parse(text, { async: false }),
  'markdown-it with HTML': (text) => withHtml.render(text),
  'markdown-it without HTML': (text) => withoutHtml.render(text),
  commonmark: (text) => htmlRenderer.render(parser.parse(text)),
  'remark with GFM': (text) => String(gfm.processSync(text)),
}

const answers = fc.tuple(
  fc.array(markdown.chain(cutIntoPieces), { minLength: 1, maxLength: 2 }),
  fc.oneof(fc.constant(0), fc.nat({ max: 20 })),
  fc.boolean(),
)

/** Messages that the parsers render differently. */
const AMBIGUOUS_TEXTS: readonly (readonly [string, ...string[]])[] = [
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

describe.each(Object.entries(PARSERS))(
  'answers with a marker in the Markdown parser %s',
  (_, render) => {
    test('a Markdown parser renders an answer with a marker like the answer without it, and shows no marker while it streams', () => {
      fc.assert(
        fc.property(answers, ([texts, readyAt, breaks]) => {
          const events = createMessageEvents(...texts)
          const result = insertMarker(events, readyAt, { beginsWithBreak: breaks })
          const text = joinVisibleText(result.outcome.items)
          if (!text.includes(MARKER_TURN_ID)) return
          expect(renderWithoutSpace(render, text)).toBe(
            renderWithoutSpace(render, joinVisibleText(collectOutcome(events).items)),
          )
          for (const shown of listMarkedPrefixes(result))
            expect(render(shown)).not.toContain(MARKER_TURN_ID)
        }),
        numberOfRuns(35),
      )
    })

    test.each(AMBIGUOUS_TEXTS)(
      'the text %j, which Markdown parsers render differently, looks the same with and without a marker',
      (...texts) => {
        const events = createMessageEvents(...texts.map((text) => text.split(/(?<=\n)/)))
        for (let readyAt = 0; readyAt <= events.length; readyAt += 1) {
          const text = joinVisibleText(insertMarker(events, readyAt).outcome.items)
          expect(renderWithoutSpace(render, text)).toBe(
            renderWithoutSpace(render, joinVisibleText(collectOutcome(events).items)),
          )
          expect(render(text)).not.toContain(MARKER_TURN_ID)
        }
      },
    )

    test('each message of an answer looks the same with and without a marker', () => {
      fc.assert(
        fc.property(answers, ([texts, readyAt]) => {
          const events = createMessageEvents(...texts)
          const items = insertMarker(events, readyAt).outcome.items
          for (const [at, item] of items.entries()) {
            const text = joinVisibleText([item])
            if (!text.includes(MARKER_TURN_ID)) continue
            expect(renderWithoutSpace(render, text)).toBe(
              renderWithoutSpace(
                render,
                joinVisibleText(collectOutcome(events).items.slice(at, at + 1)),
              ),
            )
          }
        }),
        numberOfRuns(25),
      )
    })
  },
)

test('of 500 answers, 400 get a marker if the turn is stored at the start, and 150 if it is stored after four events', () => {
  const sample = fc.sample(markdown.chain(cutIntoPieces), { numRuns: 500, seed: 1 })
  const share = (readyAt: number) =>
    sample.filter((texts) =>
      listTextPieces(insertMarker(createMessageEvents(texts), readyAt))
        .join('')
        .includes(MARKER_TURN_ID),
    ).length
  expect(share(0)).toBeGreaterThan(400)
  expect(share(4)).toBeGreaterThan(150)
})

/** Ignores white space, which is not visible. */
function renderWithoutSpace(render: (text: string) => string, text: string): string {
  return render(text).replaceAll(/\s+/g, '')
}

/** Lists the prefixes of the streamed text that contain the marker. */
function listMarkedPrefixes(result: MarkedAnswer): readonly string[] {
  const shown: string[] = []
  let text = ''
  for (const piece of joinLikeChat(result)) {
    text += piece
    if (text.includes(MARKER_TURN_ID)) shown.push(text)
  }
  return shown
}

/** Joins messages with a blank line, as Chat Completions does. */
function joinLikeChat({ events }: MarkedAnswer): readonly string[] {
  const indexes = new Set<number>()
  return events.flatMap((event) => {
    if (event.type !== 'text-delta' || event.text === '') return []
    const isNext = indexes.size > 0 && !indexes.has(event.index)
    indexes.add(event.index)
    return [isNext ? `\n\n${event.text}` : event.text]
  })
}
