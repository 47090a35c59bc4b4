/**
 * The way out of a conversation that has nearly filled its model's window while tools are at work: the
 * model is told to finish (`context/windows/insert-token-budget-warning.ts`), and some steps later it is asked without
 * tools, so that it has to say what it has. Off unless the policy wants it.
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
import type { UpstreamTarget } from '../../../upstream/accounts-and-model-routing.ts'
import type { PreparedRequest, PlannedRequest } from '../planned-request.ts'
import { resolveModelWindow, resolveContextWindow } from './estimate-tokens-and-window.ts'

export interface ToolLoopEndPlan {
  readonly steps: readonly Transform[]
  /** Whether all steps are made that were left. */
  readonly isSpent: boolean
}

export function planToolLoopEnd(
  { account, model }: Pick<UpstreamTarget, 'account' | 'model'>,
  { items, policy, history }: Pick<PlannedRequest, 'items' | 'policy' | 'history'>,
): ToolLoopEndPlan {
  const { countReportedTokens } = history
  const { wrapUp } = policy.budget
  const warnAt = warnedFrom(policy)
  const window = warnAt === null ? null : resolveModelWindow(account, model, policy)
  if (warnAt === null || window === null || countReportedTokens === null) return NO_WAY_OUT
  const exit: BudgetWarningOptions = { window, warnAt, counted: countReportedTokens }
  const since = countStepsSinceWarning(items, exit)
  return { steps: [addBudgetWarning(exit)], isSpent: since !== null && since >= wrapUp }
}

/** Nobody has nothing left from the beginning: none of a window is no share to warn from. */
function warnedFrom({ budget: { warnAt } }: ContextPolicy): number | null {
  return warnAt === 0 ? null : warnAt
}

const NO_WAY_OUT: ToolLoopEndPlan = { steps: [], isSpent: false }

/** Whosever tools there are, none may be called any more. What has none to forbid stays as it is. */
export function forbidToolsAfterWarning(
  params: PromptParameters,
  { isSpent }: ToolLoopEndPlan,
): { readonly params: PromptParameters; readonly notes: readonly Note[] } {
  if (!isSpent || params.tools.length === 0) return { params, notes: [] }
  return { params: { ...params, toolChoice: { type: 'none' } }, notes: [SPENT] }
}

/** Whether a model that is asked again in the middle of its answer has to be told, or was told before. */
export function isBudgetWarningDue(
  prepared: PreparedRequest,
  counted: readonly (number | null)[],
): boolean {
  const warnAt = warnedFrom(prepared.policy)
  const window = warnAt === null ? null : resolveContextWindow(prepared)
  if (warnAt === null || window === null) return false
  return (
    readBudgetStatus(prepared) !== null ||
    counted.some((tokens) => (tokens ?? 0) >= window * warnAt)
  )
}

const SPENT: Note = {
  did: 'changed',
  field: 'tool_choice',
  why: 'budget-spent',
  by: 'warn-of-budget',
}

/** What has become of it, in a word for a header; `null` where nothing has. */
export function readBudgetStatus({ notes }: { readonly notes: readonly Note[] }): string | null {
  if (notes.some(({ why }) => why === SPENT.why)) return 'spent'
  return notes.some(({ why }) => why === 'budget-warned') ? 'warned' : null
}
