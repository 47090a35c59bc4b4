/** A conversation as it would be sent, were it gone on with: for those who ask about it as a whole. */
import type { Caller } from '../../core/client/caller.ts'
import type { SummaryRules } from '../../core/context-policy.ts'
import { responsesDialect } from '../../dialects/responses/responses-dialect.ts'
import type { GatewayDependencies } from '../../gateway/dependencies-interface.ts'
import { loadRequestHistory } from '../../gateway/history/load-request-history.ts'
import { planRequest } from '../../gateway/prompt/plan-request.ts'
import type { PlannedRequest } from '../../gateway/prompt/planned-request.ts'
import { routeModel } from '../../upstream/accounts-and-model-routing.ts'

interface Wished {
  /** The model that answered last, if nobody says. */
  readonly model: string | null
  readonly summaries: Partial<SummaryRules>
}

/** `null` while nothing has been said in it. */
export async function planStoredConversation(
  conversation: string,
  { model, summaries }: Wished,
  caller: Caller,
  world: GatewayDependencies,
): Promise<PlannedRequest | null> {
  const body = { model: model ?? 'none', input: [], conversation }
  const parsed = responsesDialect.parse(body)
  // Nothing new is asked, and there is nothing to be generated.
  const asked = { ...parsed, generatesAnswer: false, policyOverrides: { summaries } }
  const { clientRequest, history } = await loadRequestHistory(asked, caller, world)
  const { parent } = history
  if (parent === null || history.items.length === 0) return null
  const { model: answered } = parent.request
  const served = model ?? (typeof answered === 'string' ? answered : parent.origin.model)
  const [target] = routeModel(world, served, clientRequest.dialect)
  const params = { ...clientRequest.params, model: served }
  return planRequest(target, { clientRequest: { ...clientRequest, params }, history }, world)
}
