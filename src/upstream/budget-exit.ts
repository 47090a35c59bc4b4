/**
 * The way out of a conversation that has nearly filled its model's window while tools are at work: the
 * model is told to finish (`rebuild/warn-of-budget.ts`), and some steps later it is asked without
 * tools, so that it has to say what it has. Off unless the policy wants it.
 */
import type { Item } from '../conversation/item.ts'
import type { Note } from '../conversation/note.ts'
import type { ContextPolicy } from '../conversation/policy.ts'
import type { Params } from '../conversation/prompt.ts'
import type { History } from '../history/load-history.ts'
import type { Account } from '../provider/provider.ts'
import { stepsSinceWarning, warnOfBudget, type BudgetExit } from '../rebuild/warn-of-budget.ts'
import type { Transform } from '../rebuild/transform.ts'
import { windowFor } from './budget.ts'

export interface WayOut {
  readonly params: Params
  readonly steps: readonly Transform[]
  readonly notes: readonly Note[]
}

export function wayOutOf(
  items: readonly Item[],
  params: Params,
  policy: ContextPolicy,
  account: Account,
  { counted }: History,
): WayOut {
  const { warnAt, wrapUp } = policy.budget
  const window = warnAt === null ? null : windowFor(account, params.model, policy)
  if (warnAt === null || window === null || counted === null) return { ...NO_WAY_OUT, params }
  const exit: BudgetExit = { window, warnAt, counted }
  const steps = [warnOfBudget(exit)]
  const since = stepsSinceWarning(items, exit)
  if (since === null || since < wrapUp || params.tools.length === 0)
    return { params, steps, notes: [] }
  return { params: { ...params, toolChoice: { type: 'none' } }, steps, notes: [SPENT] }
}

const NO_WAY_OUT = { steps: [], notes: [] }

const SPENT: Note = {
  did: 'changed',
  field: 'tool_choice',
  why: 'budget-spent',
  by: 'warn-of-budget',
}

/** What has become of it, in a word for a header; `null` where nothing has. */
export function nearlyFull({ notes }: { readonly notes: readonly Note[] }): string | null {
  if (notes.some(({ why }) => why === SPENT.why)) return 'spent'
  return notes.some(({ why }) => why === 'budget-warned') ? 'warned' : null
}
