/**
 * `reasoning.effort` in Gemini's words: a budget of tokens for 2.5, a level from 3 on. Where a
 * model does not know what is asked for, it gets the nearest and says so. Thoughts are always
 * asked to be shown, unless they are switched off.
 */
import type { JsonObject } from '../../../core/json/json.ts'
import type { ModelTraits } from '../model-traits.ts'

export interface ThinkingPlan {
  readonly config: JsonObject | null
  /** What was asked for instead, when the model does not know the effort itself. */
  readonly instead: string | null
  /** The effort is no word that anybody knows. */
  readonly unknown: boolean
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

const SHOWN: JsonObject = { includeThoughts: true }

export function planThinking(effort: string | null, model: ModelTraits): ThinkingPlan {
  if (effort !== null && !(effort in BUDGETS))
    return { ...planThinking(null, model), unknown: true }
  if (model.thinking === 'none') {
    const lost = effort !== null && effort !== 'none'
    return { config: null, instead: lost ? 'no thinking' : null, unknown: false }
  }
  if (effort === null) return { config: SHOWN, instead: null, unknown: false }
  if (model.thinking === 'shown') {
    return { config: SHOWN, instead: 'the default of the model', unknown: false }
  }
  return model.thinking === 'budget'
    ? budget(effort as Effort, model)
    : level(effort as Effort, model)
}

function budget(effort: Effort, model: ModelTraits): ThinkingPlan {
  const wanted = BUDGETS[effort]
  if (wanted === 0 && model.tier !== 'pro') {
    return { config: { thinkingBudget: 0 }, instead: null, unknown: false }
  }
  const thinkingBudget = model.tier === 'pro' ? Math.max(wanted, 128) : wanted
  const instead = thinkingBudget === wanted ? null : `${thinkingBudget} tokens`
  return { config: { includeThoughts: true, thinkingBudget }, instead, unknown: false }
}

function level(effort: Effort, model: ModelTraits): ThinkingPlan {
  const thinkingLevel = levelOf(effort, model)
  const instead = thinkingLevel === effort.toUpperCase() ? null : thinkingLevel
  return { config: { includeThoughts: true, thinkingLevel }, instead, unknown: false }
}

function levelOf(effort: Effort, model: ModelTraits): 'MINIMAL' | 'LOW' | 'MEDIUM' | 'HIGH' {
  switch (effort) {
    case 'none':
    case 'minimal':
      return hasMinimal(model) ? 'MINIMAL' : 'LOW'
    case 'low':
      return 'LOW'
    case 'medium':
      // The first Pro of the third generation knows only low and high.
      return model.generation === 3 && model.tier === 'pro' ? 'HIGH' : 'MEDIUM'
    case 'high':
    case 'xhigh':
    case 'max':
      return 'HIGH'
  }
}

/** Flash lost it with 3.7; Pro never had it. */
function hasMinimal({ tier, generation }: ModelTraits): boolean {
  if (tier === 'flash-lite') return true
  return tier === 'flash' && generation !== null && generation < 3.7
}
