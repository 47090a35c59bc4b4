/**
 * Ends a tool loop before the conversation fills the model's window. A notice in the prompt asks the model
 * to finish (`context/windows/insert-token-budget-warning.ts`); after `budget.wrapUp` more tool steps the tools
 * are forbidden, so that the model has to write its answer. Off unless the policy sets `budget.warnAt`.
 */
import type { Transform } from '../../../context/transform-interface.ts'
import {
  countStepsSinceWarning,
  addBudgetWarning,
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
  /** True if the model has used up the tool steps that it had after the warning. */
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
  const steps = countStepsSinceWarning(items, warning)
  return {
    transforms: [addBudgetWarning(warning)],
    forbidsTools: steps !== null && steps >= wrapUp,
  }
}

/** Returns null if the warning is off (`warnAt` null or 0) or the window is unknown. */
function resolveWarningThreshold(
  account: Account,
  model: string,
  policy: ContextPolicy,
): Pick<BudgetWarningOptions, 'window' | 'warnAt'> | null {
  const { warnAt } = policy.budget
  if (warnAt === null || warnAt === 0) return null
  const window = resolveModelWindow(account, model, policy)
  return window === null ? null : { window, warnAt }
}

const NO_LOOP_END: ToolLoopEndPlan = { transforms: [], forbidsTools: false }

/** Forbids all tools, the client's and the gateway's. Returns the same parameters if there are none. */
export function forbidToolsAfterWarning(
  params: PromptParameters,
  { forbidsTools }: ToolLoopEndPlan,
): { readonly params: PromptParameters; readonly notes: readonly Note[] } {
  if (!forbidsTools || params.tools.length === 0) return { params, notes: [] }
  return { params: { ...params, toolChoice: { type: 'none' } }, notes: [BUDGET_SPENT] }
}

/**
 * True if the next tool round has to be planned anew because of the warning: it was given before, or one of
 * the rounds has reached the limit. `roundTokens`: the reported tokens of each round.
 */
export function isBudgetWarningDue(
  prepared: PreparedRequest,
  roundTokens: readonly (number | null)[],
): boolean {
  const { account, prompt, policy } = prepared
  const threshold = resolveWarningThreshold(account, prompt.params.model, policy)
  if (threshold === null) return false
  const limit = threshold.window * threshold.warnAt
  return readBudgetStatus(prepared) !== null || roundTokens.some((tokens) => (tokens ?? 0) >= limit)
}

const BUDGET_SPENT: Note = {
  did: 'changed',
  field: 'tool_choice',
  why: 'budget-spent',
  by: 'warn-of-budget',
}

/** Returns `warned` or `spent` for the header `x-backstory-context`, or null before the warning. */
export function readBudgetStatus({ notes }: { readonly notes: readonly Note[] }): string | null {
  if (notes.some(({ why }) => why === BUDGET_SPENT.why)) return 'spent'
  return notes.some(({ why }) => why === 'budget-warned') ? 'warned' : null
}
