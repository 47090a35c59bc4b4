/**
 * Ends a tool loop before the conversation fills the model's context window, if the policy sets
 * `budget.warnAt`. First a notice in the prompt asks the model to finish
 * (`context/windows/insert-token-budget-warning.ts`). After `budget.wrapUp` more tool steps, the request
 * forbids all tools, so that the model has to write its answer.
 */
import type { Transform } from '../../../context/transform-interface.ts'
import {
  countAnswersSinceWarning,
  insertTokenBudgetWarning,
  type BudgetWarningOptions,
} from '../../../context/windows/insert-token-budget-warning.ts'
import type { ContextPolicy } from '../../../core/context-policy.ts'
import type { Note } from '../../../core/note.ts'
import type { PromptParameters } from '../../../core/prompt.ts'
import type { Account } from '../../../providers/provider-interface.ts'
import type { UpstreamTarget } from '../../../upstream/accounts-and-model-routing.ts'
import type { PreparedRequest, PlannedRequest } from '../planned-request.ts'
import { resolveInputLimit } from './estimate-tokens-and-window.ts'

export interface ToolLoopEndPlan {
  readonly transforms: readonly Transform[]
  /** True if the model has used up the tool steps that it may take after the warning. */
  readonly forbidsTools: boolean
}

export function planToolLoopEnd(
  { account, model }: Pick<UpstreamTarget, 'account' | 'model'>,
  { items, policy, history }: Pick<PlannedRequest, 'items' | 'policy' | 'history'>,
): ToolLoopEndPlan {
  const { countReportedTokens } = history
  const { wrapUp } = policy.budget
  const threshold = resolveWarningThreshold(account, model, policy)
  if (threshold === null || countReportedTokens === null) return NO_LOOP_END
  const warning: BudgetWarningOptions = { ...threshold, countTokens: countReportedTokens }
  const steps = countAnswersSinceWarning(items, warning)
  return {
    transforms: [insertTokenBudgetWarning(warning)],
    forbidsTools: steps !== null && steps >= wrapUp,
  }
}

/**
 * Returns the window and the share of it at which the model is warned; null if warnings are off or the window is
 * unknown.
 */
function resolveWarningThreshold(
  account: Account,
  model: string,
  policy: ContextPolicy,
): Pick<BudgetWarningOptions, 'contextWindow' | 'warnAt'> | null {
  const { warnAt } = policy.budget
  if (warnAt === null || warnAt === 0) return null
  const limit = resolveInputLimit(account, model, policy)
  return limit === null ? null : { contextWindow: limit.tokens, warnAt }
}

const NO_LOOP_END: ToolLoopEndPlan = { transforms: [], forbidsTools: false }

/** Forbids tool calls with `tool_choice: "none"`, if the plan says so and the request has tools. */
export function forbidToolsAfterWarning(
  params: PromptParameters,
  { forbidsTools }: ToolLoopEndPlan,
): { readonly params: PromptParameters; readonly notes: readonly Note[] } {
  if (!forbidsTools || params.tools.length === 0) return { params, notes: [] }
  return { params: { ...params, toolChoice: { type: 'none' } }, notes: [BUDGET_SPENT] }
}

/**
 * True if the next tool round must be planned again for the warning: a round has reached the limit, or the prompt
 * has the warning already, and planning must count the steps since then, to forbid tools in time.
 * `roundTokens`: the tokens that the provider reported for each tool round.
 */
export function isBudgetWarningDue(
  prepared: PreparedRequest,
  roundTokens: readonly (number | null)[],
): boolean {
  const { account, prompt, policy } = prepared
  const threshold = resolveWarningThreshold(account, prompt.params.model, policy)
  if (threshold === null) return false
  const limit = threshold.contextWindow * threshold.warnAt
  return (
    readBudgetWarningStatus(prepared) !== null ||
    roundTokens.some((tokens) => (tokens ?? 0) >= limit)
  )
}

const BUDGET_SPENT: Note = {
  did: 'weakened',
  field: 'tool_choice',
  why: 'budget-spent',
  by: 'warn-of-budget',
}

/**
 * Returns the value of the header `x-backstory-budget`: `warned`, `spent` (tools are forbidden), or null for no
 * header.
 */
export function readBudgetWarningStatus({ notes }: PlannedRequest): 'warned' | 'spent' | null {
  if (notes.some(({ why }) => why === BUDGET_SPENT.why)) return 'spent'
  return notes.some(({ why }) => why === 'budget-warned') ? 'warned' : null
}
