import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Item } from '../../../src/core/item.ts'
import { estimateItemTokens } from '../../../src/core/items/item-tokens.ts'
import { findToolCallPairs } from '../../../src/core/items/tool-call-pairs.ts'
import { isUserMessage, findRoundStarts } from '../../../src/core/items/rounds-and-pinned-items.ts'
import { formatHistorySummary } from '../../../src/core/items/summary-message.ts'
import {
  parseSummary,
  buildSummaryChapters,
  findSummaryCut,
  createSummaryPromptBuilder,
} from '../../../src/context/summaries/summary-cut-prompts-and-parser.ts'
import { conversation } from '../../support/conversations.ts'
import { talk } from '../../support/talk.ts'

const rounds = (count: number, words = ''): readonly Item[] =>
  Array.from({ length: count }).flatMap(
    (_, at) => talk`
      user: q${String(at)}
      call c${String(at)} look {"at":"Rome"}
      output c${String(at)} fog
      assistant: a${String(at)} ${words}
    `,
  )

describe('choice of the cut for a summary', () => {
  test('C48: the cut of a summary leaves `keepTurns` complete rounds', () => {
    expect(findSummaryCut(rounds(6), { keepTurns: 2, keepTokens: 0 }, 0)).toEqual({
      endIndex: 16,
      rounds: 4,
    })
    expect(findSummaryCut(rounds(2), { keepTurns: 2, keepTokens: 0 }, 0)).toBeNull()
    expect(findSummaryCut(rounds(1), { keepTurns: 1, keepTokens: 0 }, 0)).toBeNull()
    expect(findSummaryCut([], { keepTurns: 1, keepTokens: 0 }, 0)).toBeNull()
  })

  test('C49: the cut of a summary leaves at least `keepTokens` tokens', () => {
    const items = rounds(6, 'word '.repeat(100))
    const { endIndex = 0 } = findSummaryCut(items, { keepTurns: 1, keepTokens: 300 }, 0) ?? {}
    const weigh = (from: number) =>
      items.slice(from).reduce((sum, item) => sum + estimateItemTokens(item), 0)
    expect(weigh(endIndex)).toBeGreaterThanOrEqual(300)
    expect(weigh(endIndex + 4)).toBeLessThan(300)
    expect(findSummaryCut(items, { keepTurns: 1, keepTokens: 1_000_000 }, 0)).toBeNull()
  })

  test('the cut of a summary comes after the end of the previous summary', () => {
    expect(findSummaryCut(rounds(6), { keepTurns: 2, keepTokens: 0 }, 16)).toBeNull()
    expect(findSummaryCut(rounds(7), { keepTurns: 2, keepTokens: 0 }, 16)).toEqual({
      endIndex: 20,
      rounds: 5,
    })
  })

  test('there is no cut for a summary that could replace no item', () => {
    const items = talk`
      system: be brief
      user: 1
    `
    expect(findSummaryCut([...items, ...rounds(1)], { keepTurns: 1, keepTokens: 0 }, 0)).toBeNull()
  })

  test('C49: the cut of a summary is between rounds, separates no call from its output, and leaves the latest round', () => {
    const kept = { keepTurns: fc.integer({ min: 1, max: 4 }), keepTokens: fc.nat(200) }
    fc.assert(
      fc.property(conversation, fc.record(kept), fc.nat(12), (items, rules, after) => {
        const cut = findSummaryCut(items, rules, after)
        if (cut === null) return
        expect(cut.endIndex).toBeGreaterThan(after)
        expect(findRoundStarts(items)[cut.rounds]).toBe(cut.endIndex)
        expect(findRoundStarts(items).length - cut.rounds).toBeGreaterThanOrEqual(rules.keepTurns)
        const parted = [...findToolCallPairs(items)].some(
          (other, at) => at < cut.endIndex && other >= cut.endIndex,
        )
        expect(parted).toBe(false)
        expect(items.slice(cut.endIndex).filter(isUserMessage)).not.toEqual([])
      }),
    )
  })
})

describe('contents of the prompt for a summary', () => {
  const chapters = (items: readonly Item[], after = 0, most = 60_000, hidden: string[] = []) =>
    buildSummaryChapters(
      { items, hiddenAuthors: hidden },
      after,
      { endIndex: items.length, rounds: 9 },
      most,
    )

  test('the prompt for a summary contains the items since the previous summary, without instructions', () => {
    const items = [...talk`system: be brief`, ...rounds(3)]
    const [chapter, ...others] = chapters(items, 5)
    expect(others).toEqual([])
    expect(chapter).not.toContain('be brief')
    expect(chapter).not.toContain('q0')
    expect(chapter).toContain('[user]\n  q1')
    expect(chapter).toContain('[assistant calls look]\n  {"at":"Rome"}')
    expect(chapter).toContain('[tool answers]\n  fog')
  })

  test('C50: the prompt for a summary contains beginning and end of long items, and splits no character', () => {
    const items = talk`user: ${'🦊'.repeat(30_000)}end`
    for (const most of [60_000, 1_001, 1_000, 777]) {
      const [chapter = ''] = chapters(items, 0, most)
      expect(chapter.isWellFormed()).toBe(true)
      expect(chapter).not.toContain('\ufffd')
      expect(chapter).toMatch(/^\[user\]\n {2}🦊[^]*characters left out[^]*🦊end$/u)
      expect(chapter.length).toBeLessThan(Math.min(21_000, most + 100))
    }
  })

  test('the transcript for a summary is split into parts of at most the given number of tokens', () => {
    const pieces = chapters(rounds(40, 'word '.repeat(50)), 0, 1_000)
    expect(pieces.length).toBeGreaterThan(2)
    expect(
      pieces.every((piece) => estimateItemTokens(talk`user: ${piece}`[0] as Item) < 1_200),
    ).toBe(true)
  })

  test('the prompt for a summary contains no markers and no details blocks', () => {
    const items = talk`
      user: hi
      assistant: hello⏎⏎[01HZX3M8Q0ABCDEFGHJK]: #⏎⏎you
    `
    expect(chapters(items).join()).not.toContain('01HZX3M8Q0')
  })

  test('the prompt for a summary contains no messages of hidden authors', () => {
    const items = talk`
      user: a secret
      assistant: well
    `
    const native = { backstory: { author: { id: 'u1', name: 'Ann' } } }
    const said = items.with(0, { ...(items[0] as Item), native })
    expect(chapters(said).join()).toContain('a secret')
    expect(chapters(said, 0, 60_000, ['Ann']).join()).not.toContain('a secret')
  })

  test('C51: the prompt for a summary contains the focus and the previous summary', () => {
    const question = createSummaryPromptBuilder('prices')('So far.', 'What was said.')
    const [{ content } = { content: [] }] = question.input
    expect(content[0]?.text).toMatch(/^<summary_so_far>\nSo far\.\n<\/summary_so_far>/)
    expect(content[0]?.text).toContain('<focus>\nprices\n</focus>')
    expect(JSON.stringify(createSummaryPromptBuilder(null)(null, 'x'))).not.toMatch(
      /<focus>|<summary_so_far>/,
    )
  })
})

describe('parsing of a written summary', () => {
  test('a written summary is parsed into a list of facts and a text', () => {
    const written = '## Facts\n- port 8080\n* /etc/x\nname: Ada\n- port 8080\n\n## Open\nNothing.\n'
    expect(parseSummary(written)).toEqual({
      facts: ['port 8080', '/etc/x', 'name: Ada'],
      text: '## Open\nNothing.',
    })
  })

  test('a written summary without a list of facts is parsed into a text alone', () => {
    expect(parseSummary(' They met. \n')).toEqual({ facts: [], text: 'They met.' })
    expect(parseSummary('## Open\nx\n## Facts')).toEqual({ facts: [], text: '## Open\nx' })
  })

  test('a parsed summary stays the same when it is rendered and parsed again', () => {
    for (const facts of [[], ['port: 1'], ['a', '№ 7']]) {
      const words = { text: '## Open\n- x\n\n## Done\ny', facts }
      expect(parseSummary(formatHistorySummary(words))).toEqual(words)
    }
  })
})
