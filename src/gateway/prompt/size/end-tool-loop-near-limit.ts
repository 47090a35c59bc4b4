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
import { resolveModelWindow } from './estimate-tokens-and-window.ts'

export interface ToolLoopEndPlan {
  readonly transforms: readonly Transform[]
  /** True if the model has taken all tool steps that it may take after the warning. */
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

/** Returns the window and the share of it at which to warn; null if the warning is off or the window unknown. */
function resolveWarningThreshold(
  account: Account,
  model: string,
  policy: ContextPolicy,
): Pick<BudgetWarningOptions, 'contextWindow' | 'warnAt'> | null {
  const { warnAt } = policy.budget
  if (warnAt === null || warnAt === 0) return null
  const window = resolveModelWindow(account, model, policy)
  return window === null ? null : { contextWindow: window, warnAt }
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
 * True if the prompt has the warning already, or if a tool round has reached the limit for it. The next tool
 * round must then be planned again. `roundTokens`: the tokens that the provider reported for each tool round.
 */
export function isBudgetWarningDue(
  prepared: PreparedRequest,
  roundTokens: readonly (number | null)[],
): boolean {
  const { account, prompt, policy } = prepared
  const threshold = resolveWarningThreshold(account, prompt.params.model, policy)
  if (threshold === null) return false
  const limit = threshold.contextWindow * threshold.warnAt
  return readBudgetStatus(prepared) !== null || roundTokens.some((tokens) => (tokens ?? 0) >= limit)
}

const BUDGET_SPENT: Note = {
  did: 'changed',
  field: 'tool_choice',
  why: 'budget-spent',
  by: 'warn-of-budget',
}

/** Returns the value for the header `x-backstory-context`: `warned`, `spent` (tools are forbidden), or null. */
export function readBudgetStatus({ notes }: { readonly notes: readonly Note[] }): string | null {
  if (notes.some(({ why }) => why === BUDGET_SPENT.why)) return 'spent'
  return notes.some(({ why }) => why === 'budget-warned') ? 'warned' : null
}
