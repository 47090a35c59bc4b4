/**
 * Describes what a Claude model accepts, by its family and version. A model with another name, e.g.
 * `MiniMax-M2`, belongs to another service and gets cautious defaults. An account's quirks override
 * some of these traits, so an operator can use a model that the gateway does not know.
 *
 * https://platform.claude.com/docs/en/about-claude/models/overview
 */
import type { JsonObject } from '../../core/json/json.ts'

export interface ModelTraits {
  /** The way to turn thinking on: none, a token budget (`budget`), or an effort (`adaptive`). */
  readonly thinkingMode: 'none' | 'budget' | 'adaptive'
  /** True if the model thinks unless a request turns thinking off. */
  readonly thinksByDefault: boolean
  /** The `thinking.type` that turns thinking off; `null` if the model cannot stop thinking. */
  readonly thinkingOffType: 'disabled' | 'between_tools' | null
  /** True if a request may contain the thinking blocks of earlier answers. */
  readonly acceptsThinking: boolean
  /**
   * True if the API accepts a thinking block only after the same items that preceded it when it was
   * generated. https://platform.claude.com/docs/en/build-with-claude/preserved-thinking
   */
  readonly bindsThinkingToPrefix: boolean
  /** The requests that may force the model to call a tool. */
  readonly forcedToolCalls: 'always' | 'without-thinking' | 'never'
  readonly acceptedEfforts: readonly string[]
  /**
   * The sampling parameters that the API accepts: `temperature` and `top_p`, only one of them, or
   * none.
   */
  readonly samplingParameters: 'both' | 'one' | 'none'
  /**
   * True if a request may end with an assistant message (prefill), which the model then continues.
   */
  readonly supportsPrefill: boolean
  readonly structuredOutput: 'native' | 'tool'
  /** The `max_tokens` of a request whose client sets no limit. The API requires this field. */
  readonly defaultMaxTokens: number
  /** The maximum number of output tokens of the model; `null` if unknown. */
  readonly outputLimit: number | null
  readonly enforcesToolSchemas: boolean
  /** True if the API can replace the beginning of a long conversation by a compaction block. */
  readonly supportsCompaction: boolean
  readonly cacheControl: JsonObject | null
}

export function getModelTraits(model: string, quirks: JsonObject): ModelTraits {
  const traits = findTraits(model)
  const { thinking, prefill, structuredOutput, maxTokens, strictTools, cacheControl } = quirks
  return {
    ...traits,
    thinkingMode: choose(thinking, ['none', 'budget', 'adaptive'], traits.thinkingMode),
    supportsPrefill: typeof prefill === 'boolean' ? prefill : traits.supportsPrefill,
    structuredOutput: choose(structuredOutput, ['native', 'tool'], traits.structuredOutput),
    defaultMaxTokens: typeof maxTokens === 'number' ? maxTokens : traits.defaultMaxTokens,
    enforcesToolSchemas: strictTools === true,
    cacheControl: readCacheControl(cacheControl),
  }
}

/**
 * Reads the quirk `cacheControl`. `false` turns cache breakpoints off; `'1h'` makes cached content
 * expire after an hour instead of five minutes.
 */
function readCacheControl(quirk: JsonObject[string]): JsonObject | null {
  if (quirk === false) return null
  return quirk === '1h' ? { type: 'ephemeral', ttl: '1h' } : { type: 'ephemeral' }
}

function choose<Name extends string>(value: unknown, names: readonly Name[], fallback: Name): Name {
  return names.find((name) => name === value) ?? fallback
}

const OTHER_SERVICE: ModelTraits = {
  thinkingMode: 'none',
  thinksByDefault: false,
  thinkingOffType: 'disabled',
  acceptsThinking: true,
  bindsThinkingToPrefix: false,
  forcedToolCalls: 'without-thinking',
  acceptedEfforts: ['low', 'medium', 'high'],
  samplingParameters: 'both',
  supportsPrefill: true,
  structuredOutput: 'tool',
  defaultMaxTokens: 8192,
  outputLimit: null,
  enforcesToolSchemas: false,
  supportsCompaction: true,
  cacheControl: null,
}

const CLAUDE_2: ModelTraits = {
  ...OTHER_SERVICE,
  acceptsThinking: false,
  samplingParameters: 'one',
  defaultMaxTokens: 4096,
  outputLimit: 4096,
  supportsCompaction: false,
}
const CLAUDE_3_5: ModelTraits = {
  ...CLAUDE_2,
  defaultMaxTokens: 8192,
  outputLimit: 8192,
}
const CLAUDE_3_7: ModelTraits = {
  ...CLAUDE_3_5,
  thinkingMode: 'budget',
  acceptsThinking: true,
  defaultMaxTokens: 32_000,
  outputLimit: 64_000,
}
const CLAUDE_4_5: ModelTraits = { ...CLAUDE_3_7, structuredOutput: 'native' }
const CLAUDE_4_6: ModelTraits = {
  ...CLAUDE_4_5,
  thinkingMode: 'adaptive',
  acceptedEfforts: ['low', 'medium', 'high', 'max'],
  supportsPrefill: false,
  outputLimit: 128_000,
  supportsCompaction: true,
}
const CLAUDE_4_7: ModelTraits = {
  ...CLAUDE_4_6,
  acceptedEfforts: ['low', 'medium', 'high', 'xhigh', 'max'],
  samplingParameters: 'none',
}
const CLAUDE_5: ModelTraits = { ...CLAUDE_4_7, thinksByDefault: true }
const CLAUDE_5_5: ModelTraits = {
  ...CLAUDE_5,
  bindsThinkingToPrefix: true,
  thinkingOffType: null,
  forcedToolCalls: 'never',
}

/**
 * Traits by version, latest first; 407 means version 4.7. A model gets the traits of the latest
 * version that is not newer than its own, e.g. 4.8 gets those of 4.7.
 */
const TRAITS_BY_VERSION: readonly (readonly [version: number, ModelTraits])[] = [
  [505, CLAUDE_5_5],
  [500, CLAUDE_5],
  [407, CLAUDE_4_7],
  [406, CLAUDE_4_6],
  [405, CLAUDE_4_5],
  [307, CLAUDE_3_7],
  [305, CLAUDE_3_5],
  [0, CLAUDE_2],
]

/**
 * Matches a family and a version, e.g. `claude-opus-4-7`. Does not read the release date in
 * `claude-opus-4-20250514` as a version.
 */
const FAMILY_FIRST = /claude-(opus|sonnet|haiku|fable|mythos)-(\d+)(?:[-.](\d{1,2}))?(?!\d)/
const VERSION_FIRST = /claude-v?(\d{1,2})(?:[-.](\d))?(?!\d)/

function findTraits(model: string): ModelTraits {
  if (!model.includes('claude')) return OTHER_SERVICE
  const [, family = '', major, minor] = FAMILY_FIRST.exec(model) ?? parseVersionFirstName(model)
  // A model whose name has no version gets the latest traits, because it is a preview or newer than
  // this table.
  const version = major === undefined ? 900 : Number(major) * 100 + Number(minor ?? 0)
  const generation = TRAITS_BY_VERSION.find(([from]) => from <= version)?.[1] ?? CLAUDE_2
  if (family === 'fable' || family === 'mythos') {
    const isPreserved = version > 500
    const forcedTools = isPreserved ? 'never' : 'always'
    return {
      ...generation,
      bindsThinkingToPrefix: isPreserved,
      thinkingOffType: null,
      forcedToolCalls: forcedTools,
    }
  }
  if (version >= 505 && family === 'sonnet')
    return { ...generation, thinkingOffType: 'between_tools' }
  if (version >= 505 && family === 'haiku') return { ...generation, thinkingOffType: 'disabled' }
  if (version >= 400 && version < 405 && family === 'opus')
    return { ...generation, outputLimit: 32_000 }
  return generation
}

function parseVersionFirstName(model: string): readonly (string | undefined)[] {
  if (model.includes('claude-instant')) return ['', '', '2']
  const [, major, minor] = VERSION_FIRST.exec(model) ?? []
  const [, family = ''] = /(opus|sonnet|haiku|fable|mythos)/.exec(model) ?? []
  return ['', family, major, minor]
}
