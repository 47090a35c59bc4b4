/**
 * What each policy costs, for the README: plays all twenty made conversations, for models that hold
 * their reasoning to its prefix and for those that do not, and writes the figures and the chart.
 * `npm run docs:policies` takes about a minute; of the first conversations the figures are kept one by
 * one, for a test to compare.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { chart } from '../src/simulate/chart.ts'
import { compare } from '../src/simulate/compare.ts'
import { contestantsFor } from '../src/simulate/contestants.ts'
import { figuresOf, type Figures } from '../src/simulate/figures.ts'
import { makeConversation } from '../src/simulate/make-conversation.ts'

export interface PolicyFigures {
  readonly bound: Figures
  readonly unbound: Figures
}

const FIGURES = new URL('../.github/policies.json', import.meta.url)
export const CHART = new URL('../.github/policies.svg', import.meta.url)

export function figuresFor(seeds: readonly number[], binds: boolean): Figures {
  const contestants = contestantsFor(binds)
  const scripts = seeds.map((seed) => makeConversation(seed))
  return figuresOf(compare({ scripts, contestants, replay: contestants[0], binds }), binds)
}

export function storedFigures(): PolicyFigures {
  return JSON.parse(readFileSync(FIGURES, 'utf8')) as PolicyFigures
}

/** The table of the README. */
export function policiesTable(): string {
  const { bound, unbound } = storedFigures()
  const rows = POLICIES.map(([name, keeps, when]) => {
    const [figures, free] = [bound, unbound].map(({ policies }) =>
      policies.find(({ policy }) => policy === name),
    )
    if (figures === undefined || free === undefined) throw new Error(`No figures for ${name}.`)
    const cost = `**${figures.of_replay.toFixed(2)}** (${free.of_replay.toFixed(2)})`
    const kept = `${percent(figures.reasoning_kept)} (${percent(free.reasoning_kept)})`
    const largest = `${Math.round(figures.largest / 1000)} KB`
    return `| \`${name}\` | ${keeps} | ${cost} | ${kept} | ${largest} | ${when} |`
  })
  return [
    '| policy | what it keeps | cost | reasoning sent | largest request | choose it when |',
    '|---|---|--:|--:|--:|---|',
    ...rows,
  ].join('\n')
}

const POLICIES = [
  ['replay', 'everything, always', 'chats are short, or nothing may ever be missing'],
  [
    'retain',
    'everything of the last five to fourteen turns; of what is older, long tool outputs by their beginning and end',
    'you do not know: it is what you get',
  ],
  [
    'lean',
    'the running turn whole; of closed turns the words, the calls, and short outputs; no reasoning of closed turns',
    'agents use many tools, and what a tool said matters only while its turn runs',
  ],
  [
    'capped',
    'all turns and all reasoning, with every long output cut to 4,000 characters from the first; the model can ask for the rest',
    'reasoning should last through the whole conversation, and outputs can be looked up again',
  ],
] as const

function percent(share: number): string {
  return `${Math.round(share * 100)} %`
}

/** How many conversations a test compares. */
export const COMPARED = 3

function withSome(figures: Figures): Figures {
  const policies = figures.policies.map(({ by_conversation: all, ...figures }) => ({
    ...figures,
    by_conversation: all.slice(0, COMPARED),
  }))
  return { ...figures, policies }
}

if (import.meta.main) {
  const seeds = Array.from({ length: 20 }, (_, seed) => seed)
  const figures: PolicyFigures = {
    bound: withSome(figuresFor(seeds, true)),
    unbound: withSome(figuresFor(seeds, false)),
  }
  writeFileSync(FIGURES, `${JSON.stringify(figures, null, 1)}\n`)
  writeFileSync(CHART, chart(figures.bound))
}
