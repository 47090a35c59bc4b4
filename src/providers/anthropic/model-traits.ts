/**
 * Describes what a Claude model accepts, by family and version. A model with another name belongs
 * to another service with this wire and gets cautious defaults. An account's quirks override all of
 * these traits, so an operator can use a new model before the gateway knows it.
 *
 * https://platform.claude.com/docs/en/about-claude/models/overview
 */
import type { JsonObject } from '../../core/json/json.ts'

export interface ModelTraits {
  /** How thinking is requested: not at all, with a token budget, or with an effort. */
  readonly thinking: 'none' | 'budget' | 'adaptive'
  /** True if the model thinks although the request does not mention thinking. */
  readonly thinksByDefault: boolean
  /** The `thinking.type` that turns thinking off; `null` if the model cannot stop thinking. */
  readonly thinkingOffType: 'disabled' | 'between_tools' | null
  /** True if thinking blocks of earlier turns may be sent. */
  readonly acceptsThinking: boolean
  /**
   * True if a thinking block is valid only after the same items that preceded it when it was
   * generated. https://platform.claude.com/docs/en/build-with-claude/preserved-thinking
   */
  readonly bindsThinkingToPrefix: boolean
  /** States when a request may force a tool call. */
  readonly forcedTools: 'always' | 'without-thinking' | 'never'
  readonly efforts: readonly string[]
  /**
   * The sampling parameters that a request may set: temperature and top_p, one of them, or none.
   */
  readonly sampling: 'both' | 'one' | 'none'
  /** True if a conversation may end with an assistant message, which the model continues. */
  readonly supportsPrefill: boolean
  readonly structuredOutput: 'native' | 'tool'
  /** The output limit that is sent if the client sets none, because this wire requires one. */
  readonly defaultMaxTokens: number
  /** The maximum output tokens of the model; `null` if unknown. */
  readonly outputLimit: number | null
  readonly strictTools: boolean
  /** True if the API can compact its input on request. */
  readonly supportsCompaction: boolean
  readonly cacheControl: JsonObject | null
}

export function describeModel(model: string, quirks: JsonObject): ModelTraits {
  const traits = findTraits(model)
  const { thinking, prefill, structuredOutput, maxTokens, strictTools, cacheControl } = quirks
  return {
    ...traits,
    thinking: choose(thinking, ['none', 'budget', 'adaptive'], traits.thinking),
    supportsPrefill: typeof prefill === 'boolean' ? prefill : traits.supportsPrefill,
    structuredOutput: choose(structuredOutput, ['native', 'tool'], traits.structuredOutput),
    defaultMaxTokens: typeof maxTokens === 'number' ? maxTokens : traits.defaultMaxTokens,
    strictTools: strictTools === true,
    cacheControl: readCacheControl(cacheControl),
  }
}

/**
 * Reads the quirk: `false` sends no cache breakpoints; `'1h'` sends breakpoints that live an hour
 * instead of five minutes.
 */
function readCacheControl(quirk: JsonObject[string]): JsonObject | null {
  if (quirk === false) return null
  return quirk === '1h' ? { type: 'ephemeral', ttl: '1h' } : { type: 'ephemeral' }
}

function choose<Name extends string>(value: unknown, names: readonly Name[], fallback: Name): Name {
  return names.find((name) => name === value) ?? fallback
}

const OTHER_SERVICE: ModelTraits = {
  thinking: 'none',
  thinksByDefault: false,
  thinkingOffType: 'disabled',
  acceptsThinking: true,
  bindsThinkingToPrefix: false,
  forcedTools: 'without-thinking',
  efforts: ['low', 'medium', 'high'],
  sampling: 'both',
  supportsPrefill: true,
  structuredOutput: 'tool',
  defaultMaxTokens: 8192,
  outputLimit: null,
  strictTools: false,
  supportsCompaction: true,
  cacheControl: null,
}

const CLAUDE_2: ModelTraits = {
  ...OTHER_SERVICE,
  acceptsThinking: false,
  sampling: 'one',
  defaultMaxTokens: 4096,
  outputLimit: 4096,
  supportsCompaction: false,
}
const CLAUDE_3_5: ModelTraits = { ...CLAUDE_2, defaultMaxTokens: 8192, outputLimit: 8192 }
const CLAUDE_3_7: ModelTraits = {
  ...CLAUDE_3_5,
  thinking: 'budget',
  acceptsThinking: true,
  defaultMaxTokens: 32_000,
  outputLimit: 64_000,
}
const CLAUDE_4_5: ModelTraits = { ...CLAUDE_3_7, structuredOutput: 'native' }
const CLAUDE_4_6: ModelTraits = {
  ...CLAUDE_4_5,
  thinking: 'adaptive',
  efforts: ['low', 'medium', 'high', 'max'],
  supportsPrefill: false,
  outputLimit: 128_000,
  supportsCompaction: true,
}
const CLAUDE_4_7: ModelTraits = {
  ...CLAUDE_4_6,
  efforts: ['low', 'medium', 'high', 'xhigh', 'max'],
  sampling: 'none',
}
const CLAUDE_5: ModelTraits = { ...CLAUDE_4_7, thinksByDefault: true }
const CLAUDE_5_5: ModelTraits = {
  ...CLAUDE_5,
  bindsThinkingToPrefix: true,
  thinkingOffType: null,
  forcedTools: 'never',
}

/**
 * Traits by version, latest first; 407 stands for version 4.7. A model has the first traits in the
 * list whose version is not higher than its own.
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
 * Matches a family and a version, e.g. `claude-opus-4-7`; the release date in
 * `claude-opus-4-20250514` is no version.
 */
const FAMILY_FIRST = /claude-(opus|sonnet|haiku|fable|mythos)-(\d+)(?:[-.](\d{1,2}))?(?!\d)/
const VERSION_FIRST = /claude-v?(\d{1,2})(?:[-.](\d))?(?!\d)/

function findTraits(model: string): ModelTraits {
  if (!model.includes('claude')) return OTHER_SERVICE
  const [, family = '', major, minor] = FAMILY_FIRST.exec(model) ?? parseVersionFirstName(model)
  // A name without a version gets the latest traits: it belongs to a preview, or to a model that is
  // newer than this table.
  const version = major === undefined ? 900 : Number(major) * 100 + Number(minor ?? 0)
  const generation = TRAITS_BY_VERSION.find(([from]) => from <= version)?.[1] ?? CLAUDE_2
  if (family === 'fable' || family === 'mythos') {
    const isPreserved = version > 500
    const forcedTools = isPreserved ? 'never' : 'always'
    return { ...generation, bindsThinkingToPrefix: isPreserved, thinkingOffType: null, forcedTools }
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
