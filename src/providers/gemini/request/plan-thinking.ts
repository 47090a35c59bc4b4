/**
 * Maps `reasoning.effort` to Gemini's thinking parameters: a token budget for Gemini 2.5, a level
 * for later models, e.g. `low` → `LOW`. If the model does not support an effort, the nearest
 * supported one replaces it. Requests thought summaries, unless thinking is off.
 */
import type { JsonObject } from '../../../core/json/json.ts'
import type { ModelTraits } from '../model-traits.ts'

export interface ThinkingPlan {
  readonly thinkingConfig: JsonObject | null
  /**
   * A description of the setting that replaces an unsupported effort, e.g. `HIGH` or `128 tokens`;
   * `null` if the effort is supported.
   */
  readonly replacementSetting: string | null
  /** True if the client sent an effort that the gateway does not know. */
  readonly isUnknownEffort: boolean
}

type Effort = keyof typeof BUDGETS

const BUDGETS = {
  none: 0,
  minimal: 512,
  low: 1024,
  medium: 4096,
  high: 8192,
  xhigh: 24_576,
  max: 24_576,
} as const

const SHOW_THOUGHTS: JsonObject = { includeThoughts: true }

export function planThinking(effort: string | null, model: ModelTraits): ThinkingPlan {
  if (effort !== null && !(effort in BUDGETS))
    return { ...planThinking(null, model), isUnknownEffort: true }
  if (model.thinkingMode === 'none') {
    const isIgnored = effort !== null && effort !== 'none'
    return createPlan(null, isIgnored ? 'no thinking' : null)
  }
  if (effort === null) return createPlan(SHOW_THOUGHTS)
  if (model.thinkingMode === 'shown') return createPlan(SHOW_THOUGHTS, 'the default of the model')
  return model.thinkingMode === 'budget'
    ? planBudget(effort as Effort, model)
    : planLevel(effort as Effort, model)
}

function createPlan(config: JsonObject | null, replacement: string | null = null): ThinkingPlan {
  return { thinkingConfig: config, replacementSetting: replacement, isUnknownEffort: false }
}

function planBudget(effort: Effort, model: ModelTraits): ThinkingPlan {
  const requested = BUDGETS[effort]
  if (requested === 0 && model.tier !== 'pro') return createPlan({ thinkingBudget: 0 })
  const thinkingBudget = model.tier === 'pro' ? Math.max(requested, 128) : requested
  const replacement = thinkingBudget === requested ? null : `${thinkingBudget} tokens`
  return createPlan({ includeThoughts: true, thinkingBudget }, replacement)
}

function planLevel(effort: Effort, model: ModelTraits): ThinkingPlan {
  const thinkingLevel = chooseLevel(effort, model)
  const replacement = thinkingLevel === effort.toUpperCase() ? null : thinkingLevel
  return createPlan({ includeThoughts: true, thinkingLevel }, replacement)
}

function chooseLevel(effort: Effort, model: ModelTraits): 'MINIMAL' | 'LOW' | 'MEDIUM' | 'HIGH' {
  switch (effort) {
    case 'none':
    case 'minimal':
      return supportsMinimal(model) ? 'MINIMAL' : 'LOW'
    case 'low':
      return 'LOW'
    case 'medium':
      // Gemini 3 Pro supports only `LOW` and `HIGH`.
      return model.generation === 3 && model.tier === 'pro' ? 'HIGH' : 'MEDIUM'
    case 'high':
    case 'xhigh':
    case 'max':
      return 'HIGH'
  }
}

/**
 * True if the model supports the level `MINIMAL`: all Flash-Lite models, Flash before version 3.7,
 * no Pro model.
 */
function supportsMinimal({ tier, generation }: ModelTraits): boolean {
  if (tier === 'flash-lite') return true
  return tier === 'flash' && generation !== null && generation < 3.7
}
