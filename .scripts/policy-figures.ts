/**
 * What each policy costs, for the README: plays all twenty made conversations, for models that hold
 * their reasoning to its prefix and for those that do not, and writes the figures and the chart.
 * `npm run docs:policies` takes some minutes; of the first conversations the figures are kept one by
 * one, for a test to compare.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { PRESETS, resolvePolicy } from '../src/core/context-policy.ts'
import { computeCostByLength } from '../src/simulate/cost-by-length.ts'
import { renderLengthChart } from '../src/simulate/svg-length-chart.ts'
import { renderSvgChart } from '../src/simulate/svg-chart.ts'
import { comparePolicies } from '../src/simulate/compare-policies.ts'
import {
  createPolicyCandidate,
  listPolicyCandidates,
  type PolicyCandidate,
} from '../src/simulate/policy-candidates.ts'
import {
  convertResultsToNumbers,
  type SimulationNumbers,
} from '../src/simulate/convert-results-to-numbers.ts'
import {
  generateConversation,
  type ConversationOptions,
} from '../src/simulate/generate-conversation.ts'

export interface PolicyFigures {
  readonly bound: SimulationNumbers
  readonly unbound: SimulationNumbers
  /** Of conversations with images, by what they are like. */
  readonly images: Readonly<Record<string, ImageFigures>>
  /** What the default policy costs after each turn, by the size of tool outputs. */
  readonly lengths: Readonly<Record<string, readonly number[]>>
}

/** What each policy costs, with full replay at 1. */
export interface ImageFigures {
  readonly bound: Readonly<Record<string, number>>
  readonly unbound: Readonly<Record<string, number>>
}

export const WITH_IMAGES: Readonly<Record<string, ConversationOptions>> = {
  'an agent with tools, as above': {},
  'questions and answers of 1,500 characters together': { isChat: true },
  'questions and answers of 6,000 characters together': { isChat: true, textLengthFactor: 4 },
  'questions and answers of 30,000 characters together': { isChat: true, textLengthFactor: 20 },
}

/** The sizes of tool outputs for the chart over the length of a conversation, in characters. */
export const OUTPUT_SIZES: Readonly<Record<string, number>> = {
  '1.2 KB': 1200,
  '2.5 KB': 2500,
  '9 KB': 9000,
}

const LENGTH_PRICES = { written: 1.25, cached: 0.1 }

/** The cost of the default policy relative to full replay after each of 200 turns with one tool call each. */
export function costsByLength(outputChars: number, rounds = 200): readonly number[] {
  const making = { rounds, outputChars, callsPerRound: 1, reasoningChars: 0 }
  const costs = computeCostByLength({
    script: generateConversation(0, making),
    candidate: createPolicyCandidate('default', resolvePolicy([]), false),
    baseline: createPolicyCandidate('replay', PRESETS.replay, false),
    bindsReasoning: false,
    prices: LENGTH_PRICES,
  })
  return costs.map((cost) => Math.round(cost * 1000) / 1000)
}

export function lengthChart({ lengths }: PolicyFigures): string {
  return renderLengthChart(
    'What the default policy costs, with full replay at 1',
    Object.entries(lengths).map(([label, costs]) => ({ label, costs })),
  )
}

/** The table of what the default policy costs at some lengths. */
export function lengthsTable(): string {
  const rows = Object.entries(storedFigures().lengths).map(([size, costs]) => {
    const cells = TABLE_LENGTHS.map((turns) => formatCost(costs[turns - 1]))
    return `| ${[size, ...cells, formatCost(Math.max(...costs))].join(' | ')} |`
  })
  const heads = TABLE_LENGTHS.map((turns) => `${turns} turns`)
  return [
    `| ${['tool outputs of', ...heads, 'highest at any length'].join(' | ')} |`,
    `|---|${[...heads, ''].map(() => '--:|').join('')}`,
    ...rows,
  ].join('\n')
}

const TABLE_LENGTHS = [4, 16, 60, 200]

/** Of the first conversations of a kind. */
export function imageFigures(
  making: ConversationOptions,
  bindsReasoning: boolean,
): SimulationNumbers {
  const seeds = Array.from({ length: COMPARED }, (_, seed) => seed)
  const candidates = listPolicyCandidates(bindsReasoning).filter(({ name }) => isPolicy(name))
  return figuresFor(seeds, bindsReasoning, { ...making, hasImages: true }, candidates)
}

export function costsOf({ policies }: SimulationNumbers): Readonly<Record<string, number>> {
  return Object.fromEntries(policies.map(({ policy, of_replay: cost }) => [policy, cost]))
}

function isPolicy(name: string): boolean {
  return POLICIES.some(([policy]) => policy === name)
}

const FIGURES = new URL('../.github/policies.json', import.meta.url)
export const CHART = new URL('../.github/policies.svg', import.meta.url)
export const LENGTH_CHART = new URL('../.github/policy-by-length.svg', import.meta.url)

export function figuresFor(
  seeds: readonly number[],
  bindsReasoning: boolean,
  making: ConversationOptions = {},
  candidates: readonly PolicyCandidate[] = listPolicyCandidates(bindsReasoning),
): SimulationNumbers {
  const [replay] = candidates
  if (replay === undefined) throw new Error('There is no policy to compare.')
  const scripts = seeds.map((seed) => generateConversation(seed, making))
  return convertResultsToNumbers(
    comparePolicies({ scripts, candidates, baseline: replay, bindsReasoning }),
    bindsReasoning,
  )
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

/** The table of what conversations with images cost. */
export function imagesTable(): string {
  const names = POLICIES.map(([name]) => name).filter((name) => name !== 'replay')
  const rows = Object.entries(storedFigures().images).map(([kind, { bound, unbound }]) => {
    const costs = names.map((name) => `${formatCost(bound[name])} (${formatCost(unbound[name])})`)
    return `| ${[kind, ...costs].join(' | ')} |`
  })
  const heads = names.map((name) => `\`${name}\``)
  return [
    `| ${['conversation', ...heads].join(' | ')} |`,
    `|---|${names.map(() => '--:|').join('')}`,
    ...rows,
  ].join('\n')
}

function formatCost(cost = 1): string {
  return cost.toFixed(2)
}

const POLICIES = [
  ['replay', 'everything, always', 'chats are short, or nothing may be left out'],
  [
    'retain',
    'the current turn complete; of earlier turns everything, but long tool outputs are cut to their beginning and end where that saves costs',
    'you are not sure: it is the default',
  ],
  [
    'lean',
    'the current turn complete; of earlier turns the text, the tool calls and short outputs, but no reasoning where dropping it saves costs',
    'tool results matter only during their turn',
  ],
  [
    'capped',
    'all turns and all reasoning; long outputs are cut to 4,000 characters from the start, and the model can request the rest',
    'reasoning should be kept, and the model can read outputs again',
  ],
] as const

function percent(share: number): string {
  return `${Math.round(share * 100)} %`
}

/** How many conversations a test compares. */
export const COMPARED = 3

function withSome(figures: SimulationNumbers): SimulationNumbers {
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
    images: Object.fromEntries(
      Object.entries(WITH_IMAGES).map(([kind, making]) => {
        const [bound = {}, unbound = {}] = [true, false].map((bindsReasoning) =>
          costsOf(imageFigures(making, bindsReasoning)),
        )
        return [kind, { bound, unbound }]
      }),
    ),
    lengths: Object.fromEntries(
      Object.entries(OUTPUT_SIZES).map(([size, chars]) => [size, costsByLength(chars)]),
    ),
  }
  writeFileSync(FIGURES, `${JSON.stringify(figures, null, 1)}\n`)
  writeFileSync(CHART, renderSvgChart(figures.bound))
  writeFileSync(LENGTH_CHART, lengthChart(figures))
}
