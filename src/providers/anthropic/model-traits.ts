/**
 * What a Claude model can do and what it refuses, by family and version. A name that is no Claude's
 * is another service with this wire: for it nothing is invented. An account's quirks have the last
 * word, so that a new model needs a setting and not a release.
 *
 * https://platform.claude.com/docs/en/about-claude/models/overview
 */
import type { JsonObject } from '../../core/json/json.ts'

export interface ModelTraits {
  /** How it is asked to think: not at all, with a budget of tokens, or with an effort. */
  readonly thinking: 'none' | 'budget' | 'adaptive'
  /** Whether it thinks when the request does not mention thinking. */
  readonly thinksUnasked: boolean
  /** The word that turns thinking off; `null` if nothing does. */
  readonly off: 'disabled' | 'between_tools' | null
  /** Whether thinking blocks of earlier turns may be sent. */
  readonly readsThinking: boolean
  /**
   * Whether a thinking block holds only behind the prefix that it was made on.
   * https://platform.claude.com/docs/en/build-with-claude/preserved-thinking
   */
  readonly bindsThinking: boolean
  /** When a request may insist on a tool call. */
  readonly forcedTools: 'always' | 'without-thinking' | 'never'
  readonly efforts: readonly string[]
  /** How many of temperature and top_p may be set. */
  readonly sampling: 'both' | 'one' | 'none'
  /** Whether a conversation may end with an assistant message, to be continued. */
  readonly prefill: boolean
  readonly structuredOutput: 'native' | 'tool'
  /** Sent when the client names no limit, because this wire demands one. */
  readonly maxTokens: number
  /** The most that the model can write; `null` if unknown. */
  readonly ceiling: number | null
  readonly strictTools: boolean
  /** Whether the API can compact what it is sent, where it is asked to. */
  readonly compacts: boolean
  readonly cacheControl: JsonObject | null
}

export function describeModel(model: string, quirks: JsonObject): ModelTraits {
  const traits = ofModel(model)
  const { thinking, prefill, structuredOutput, maxTokens, strictTools, cacheControl } = quirks
  return {
    ...traits,
    thinking: oneOf(thinking, ['none', 'budget', 'adaptive'], traits.thinking),
    prefill: typeof prefill === 'boolean' ? prefill : traits.prefill,
    structuredOutput: oneOf(structuredOutput, ['native', 'tool'], traits.structuredOutput),
    maxTokens: typeof maxTokens === 'number' ? maxTokens : traits.maxTokens,
    strictTools: strictTools === true,
    cacheControl: cacheControlOf(cacheControl),
  }
}

/** `false` sends no breakpoints, `'1h'` long-lived ones. */
function cacheControlOf(quirk: JsonObject[string]): JsonObject | null {
  if (quirk === false) return null
  return quirk === '1h' ? { type: 'ephemeral', ttl: '1h' } : { type: 'ephemeral' }
}

function oneOf<Word extends string>(value: unknown, words: readonly Word[], otherwise: Word): Word {
  return words.find((word) => word === value) ?? otherwise
}

const ANOTHER_SERVICE: ModelTraits = {
  thinking: 'none',
  thinksUnasked: false,
  off: 'disabled',
  readsThinking: true,
  bindsThinking: false,
  forcedTools: 'without-thinking',
  efforts: ['low', 'medium', 'high'],
  sampling: 'both',
  prefill: true,
  structuredOutput: 'tool',
  maxTokens: 8192,
  ceiling: null,
  strictTools: false,
  compacts: true,
  cacheControl: null,
}

const CLAUDE_2: ModelTraits = {
  ...ANOTHER_SERVICE,
  readsThinking: false,
  sampling: 'one',
  maxTokens: 4096,
  ceiling: 4096,
  compacts: false,
}
const CLAUDE_3_5: ModelTraits = { ...CLAUDE_2, maxTokens: 8192, ceiling: 8192 }
const CLAUDE_3_7: ModelTraits = {
  ...CLAUDE_3_5,
  thinking: 'budget',
  readsThinking: true,
  maxTokens: 32_000,
  ceiling: 64_000,
}
const CLAUDE_4_5: ModelTraits = { ...CLAUDE_3_7, structuredOutput: 'native' }
const CLAUDE_4_6: ModelTraits = {
  ...CLAUDE_4_5,
  thinking: 'adaptive',
  efforts: ['low', 'medium', 'high', 'max'],
  prefill: false,
  ceiling: 128_000,
  compacts: true,
}
const CLAUDE_4_7: ModelTraits = {
  ...CLAUDE_4_6,
  efforts: ['low', 'medium', 'high', 'xhigh', 'max'],
  sampling: 'none',
}
const CLAUDE_5: ModelTraits = { ...CLAUDE_4_7, thinksUnasked: true }
const CLAUDE_5_5: ModelTraits = {
  ...CLAUDE_5,
  bindsThinking: true,
  off: null,
  forcedTools: 'never',
}

/** Newest first; the first whose version is not above the model's is the model's. */
const GENERATIONS: readonly (readonly [version: number, ModelTraits])[] = [
  [505, CLAUDE_5_5],
  [500, CLAUDE_5],
  [407, CLAUDE_4_7],
  [406, CLAUDE_4_6],
  [405, CLAUDE_4_5],
  [307, CLAUDE_3_7],
  [305, CLAUDE_3_5],
  [0, CLAUDE_2],
]

/** A release date of eight digits is no version. */
const FAMILY_FIRST = /claude-(opus|sonnet|haiku|fable|mythos)-(\d+)(?:[-.](\d{1,2}))?(?!\d)/
const VERSION_FIRST = /claude-v?(\d{1,2})(?:[-.](\d))?(?!\d)/

function ofModel(model: string): ModelTraits {
  if (!model.includes('claude')) return ANOTHER_SERVICE
  const [, family = '', major, minor] = FAMILY_FIRST.exec(model) ?? versionFirst(model)
  // A name without a version is a preview or newer than this file.
  const version = major === undefined ? 900 : Number(major) * 100 + Number(minor ?? 0)
  const generation = GENERATIONS.find(([from]) => from <= version)?.[1] ?? CLAUDE_2
  if (family === 'fable' || family === 'mythos') {
    const isPreserved = version > 500
    const forcedTools = isPreserved ? 'never' : 'always'
    return { ...generation, bindsThinking: isPreserved, off: null, forcedTools }
  }
  if (version >= 505 && family === 'sonnet') return { ...generation, off: 'between_tools' }
  if (version >= 505 && family === 'haiku') return { ...generation, off: 'disabled' }
  if (version >= 400 && version < 405 && family === 'opus')
    return { ...generation, ceiling: 32_000 }
  return generation
}

function versionFirst(model: string): readonly (string | undefined)[] {
  if (model.includes('claude-instant')) return ['', '', '2']
  const [, major, minor] = VERSION_FIRST.exec(model) ?? []
  const [, family = ''] = /(opus|sonnet|haiku|fable|mythos)/.exec(model) ?? []
  return ['', family, major, minor]
}
