/**
 * The policy of a request: what the operator says of all contexts, of this model, of this key, what
 * is said of the conversation, and what the request says itself, each going before those in front.
 */
import { policyWith, type ContextPolicy, type Wishes } from '../conversation/policy.ts'
import type { Inbound } from '../dialect/dialect.ts'
import type { History } from '../history/load-history.ts'
import type { Settings } from '../settings.ts'
import { matches } from './accounts.ts'

export function policyFor(
  model: string,
  { wishes }: Pick<Inbound, 'wishes'>,
  history: Pick<History, 'wishes'>,
  settings: Settings,
): ContextPolicy {
  const { all, models } = settings.CONTEXT
  const ofModel = Object.keys(models).find((pattern) => matches(pattern, model))
  return policyWith([
    all,
    inSettingsOfTheirOwn(settings),
    ofModel === undefined ? null : (models[ofModel] ?? null),
    ...history.wishes,
    wishes,
  ])
}

/** Three wishes have settings of their own, by the names that they have had elsewhere. */
function inSettingsOfTheirOwn(settings: Settings): Wishes {
  const {
    HISTORY_MAX_ITEMS: items,
    TOOL_OUTPUT_RETENTION_TURNS: turns,
    PERSIST_REASONING: keep,
  } = settings
  return {
    ...(items === null ? {} : { window: { items } }),
    ...(turns === null ? {} : { outputs: { keepTurns: turns === 'off' ? null : turns } }),
    ...(keep === 'next_reply' ? { reasoning: { keep } } : {}),
  }
}
